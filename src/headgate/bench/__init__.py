"""Measurements against a peer in the same run: ratios and their spread, never a bare number."""
