"""Bit counting as single machine instructions, which Numba does not offer."""

from typing import Any

from numba.core import types
from numba.extending import intrinsic


def _trailing_zeros(typing_context: Any, word: Any) -> Any:

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        word_is_never_zero = context.get_constant(types.boolean, True)
        return builder.cttz(arguments[0], word_is_never_zero)

    return types.int64(types.int64), generate


def _leading_zeros(typing_context: Any, word: Any) -> Any:

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        word_is_never_zero = context.get_constant(types.boolean, True)
        return builder.ctlz(arguments[0], word_is_never_zero)

    return types.int64(types.int64), generate


trailing_zeros: Any = intrinsic(_trailing_zeros)
"""``trailing_zeros(word)`` is the place of the lowest set bit; the word must have one."""
leading_zeros: Any = intrinsic(_leading_zeros)
"""``leading_zeros(word)`` is how many bits are above the highest set one; there must be one."""
