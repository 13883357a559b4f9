"""The structures that find the stored row worth least: heap, lists, rows by value, ripe rows.

Each works on the kernel's arrays, or on the part of them that it is about. They lie here and not in
the kernel, which is above the policies, so that a kind of score has all that it is made of in reach
(`policies/kinds`).
"""
