"""Checkpoints of queries that do not run: looked into, resharded, taken over and given back."""
