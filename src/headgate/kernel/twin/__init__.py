"""The kernel in plain Python: the definition of right."""
