"""Cached lookups as Spark queries."""
