"""Builds the library of machine code that comes with the package; see `headgate.compiling`."""
