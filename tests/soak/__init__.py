"""Soaks: long streams at a small budget, and curves of everything that could grow."""
