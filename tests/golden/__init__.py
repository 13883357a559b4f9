"""Results kept to the last digit: a change of behaviour shows as a diff of these files."""
