"""Structures that find the stored row of lowest score: heap, lists, rows by value, mature rows.

Each works on the kernel's arrays, or on the part it needs. They live here and not in the kernel,
which is a layer above the policies, so that the kinds of score (`policies/kinds`) can import them.
"""
