"""How loops become machine code: from a library in the package, or by a compiler when needed."""

from headgate.compiling.compiled import Compiled, compiled, generated
from headgate.compiling.instructions import leading_zeros, prefetch, trailing_zeros
from headgate.compiling.score import Score, call_score

__all__ = [
    "Compiled",
    "Score",
    "call_score",
    "compiled",
    "generated",
    "leading_zeros",
    "prefetch",
    "trailing_zeros",
]
