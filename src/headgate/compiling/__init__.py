"""Compilation of the inner loops to machine code, and its cache on disk."""

from headgate.compiling.bits import leading_zeros, trailing_zeros
from headgate.compiling.compiled import callback, compiled, generated, inlined
from headgate.compiling.prefetch import prefetch

__all__ = [
    "callback",
    "compiled",
    "generated",
    "inlined",
    "leading_zeros",
    "prefetch",
    "trailing_zeros",
]
