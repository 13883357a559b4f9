"""Indexes over a side's window, one per file.

An index holds *entries*: a group (the key's code, or the rank by key and value under a band or
comparison) and the row's position. A probe asks for all rows of a half-open range of groups; the
kernel then checks which of them are stored and within the window.
"""
