"""Single machine instructions that Python and Numba do not offer."""

from collections.abc import Callable
from typing import Any


class Instruction:
    """A machine instruction for compiled functions.

    ``define`` gets the types of the arguments and returns the signature and a function that writes
    the instruction, as Numba's `intrinsic` asks; Numba is loaded only when something is compiled.
    """

    def __init__(self, define: Callable[..., Any]) -> None:
        self.define = define
        self.name = define.__name__

    def __repr__(self) -> str:
        return f"<instruction {self.name}>"


def instruction(define: Callable[..., Any]) -> Any:
    """An `Instruction`, which compiled functions call."""
    return Instruction(define)


@instruction
def trailing_zeros(typing_context: Any, word: Any) -> Any:
    """``trailing_zeros(word)`` is the place of the lowest set bit; the word must have one."""
    from numba.core import types

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        word_is_never_zero = context.get_constant(types.boolean, True)
        return builder.cttz(arguments[0], word_is_never_zero)

    return types.int64(types.int64), generate


@instruction
def leading_zeros(typing_context: Any, word: Any) -> Any:
    """``leading_zeros(word)`` is how many bits are above the highest set one; there must be one."""
    from numba.core import types

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        word_is_never_zero = context.get_constant(types.boolean, True)
        return builder.ctlz(arguments[0], word_is_never_zero)

    return types.int64(types.int64), generate


@instruction
def prefetch(typing_context: Any, array: Any, index: Any) -> Any:
    """``prefetch(array, index)`` starts loading the cache line of ``array[index]``.

    Keys arrive in random order, so each arrival would wait for its key's chain to load from memory.
    The codes of the next arrivals are known, so their chains are prefetched.
    """
    from llvmlite import ir
    from numba.core import cgutils as untyped_cgutils
    from numba.core import types

    cgutils: Any = untyped_cgutils

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        array_type, _ = signature.args
        view = context.make_array(array_type)(context, builder, arguments[0])
        place = cgutils.get_item_pointer(
            context, builder, array_type, view, [arguments[1]], wraparound=False
        )
        word, address = ir.IntType(32), ir.IntType(8).as_pointer()
        function_type = ir.FunctionType(ir.VoidType(), [address, word, word, word])
        function = cgutils.get_or_insert_function(builder.module, function_type, "llvm.prefetch.p0")
        flags = [ir.Constant(word, flag) for flag in (0, 3, 1)]  # to read, keep, data
        builder.call(function, [builder.bitcast(place, address), *flags])
        return context.get_dummy_value()

    return types.void(array, types.intp), generate
