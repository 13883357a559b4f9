"""Benchmarks against a baseline in the same run: ratios with their spread, never bare numbers."""
