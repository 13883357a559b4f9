"""`headgate reproduce`: reruns the papers' experiments and checks their claims."""
