"""The kernel in plain Python: the reference that defines correct results."""
