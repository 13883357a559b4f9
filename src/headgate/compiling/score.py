"""Scoring functions that the kernel calls by their address.

A policy may bring its own, so the kernel cannot be compiled with all of them.
"""

from collections.abc import Callable
from functools import cached_property, update_wrapper
from typing import Any

from headgate.compiling import machine_library
from headgate.compiling.compiled import loaded_jit
from headgate.compiling.instructions import instruction
from headgate.compiling.kernel_mode import JIT, MODE, PYTHON


class Score:
    """A function of three whole numbers and a real one, as machine code with an address."""

    def __init__(self, function: Callable[[int, int, int, float], float]) -> None:
        self.function = function
        self.name = f"{function.__module__}.{function.__qualname__}"
        update_wrapper(self, function)

    def __call__(self, one: int, two: int, three: int, parameter: float) -> float:
        """Compute a score, in plain Python."""
        return self.function(one, two, three, parameter)

    @cached_property
    def address(self) -> Any:
        """Where the machine code is: what `call_score` takes."""
        if MODE == PYTHON:
            return self.function
        library = None if MODE == JIT else machine_library.loaded()
        shipped = None if library is None else library.score_address(self.name)
        if shipped is not None:
            return shipped
        return self._jitted.address

    @cached_property
    def _jitted(self) -> Any:
        return loaded_jit().compiled_score(self)

    def __reduce__(self) -> Any:
        return Score, (self.function,)


@instruction
def call_score(
    typing_context: Any, address: Any, one: Any, two: Any, three: Any, parameter: Any
) -> Any:
    """``call_score(address, one, two, three, parameter)`` calls a `Score` by its address."""
    from llvmlite import ir
    from numba.core import types

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        whole, real = ir.IntType(64), ir.DoubleType()
        kind = ir.FunctionType(real, [whole, whole, whole, real])
        return builder.call(builder.inttoptr(arguments[0], kind.as_pointer()), arguments[1:])

    whole = types.int64
    return types.float64(whole, whole, whole, whole, types.float64), generate
