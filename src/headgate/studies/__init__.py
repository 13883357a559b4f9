"""`headgate reproduce`: the papers' experiments again, and what became of their claims."""
