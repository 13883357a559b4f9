"""How the inner loops become machine code."""

from headgate.compiling.bits import leading_zeros, trailing_zeros
from headgate.compiling.compiled import callback, compiled, inlined
from headgate.compiling.prefetch import prefetch

__all__ = ["callback", "compiled", "inlined", "leading_zeros", "prefetch", "trailing_zeros"]
