"""The structures a side's window may be kept in, one a file, beside the kernel's own chains.

Each knows rows as *entries*: a group (the key's code, or the place by key and value under a band or
comparison) and the row's position. A probe asks for all rows of the groups from one to before
another; what of them is stored, and whose time fits, is the kernel's to say.
"""
