"""How machine code reads its arguments from a table of words, and writes its results to it.

The other end is `headgate.compiling.argument_types`, which fills the table.
"""

from typing import Any

from llvmlite import ir
from numba import typeof as untyped_typeof
from numba import types as untyped_types
from numba.core import cgutils as untyped_cgutils
from numba.extending import intrinsic
from numba.np.numpy_support import as_dtype

from headgate.compiling.argument_types import describe_dtype
from headgate.compiling.tuple_reference import WORD, as_word, handed_over, places_of, read

typeof: Any = untyped_typeof
types: Any = untyped_types
cgutils: Any = untyped_cgutils
TABLE = types.CPointer(types.int64)
NUMBERS = {types.int64: "i", types.uint64: "u", types.boolean: "b", types.float64: "d"}


def types_of(examples: tuple[Any, ...]) -> Any:
    """The types of arguments like these, as Python has them."""
    return types.Tuple([typeof(example) for example in examples])


def types_handed_over(arguments: Any) -> Any:
    """The types as which compiled functions get them."""
    return types.Tuple([handed_over(kind) for kind in arguments.types])


def described(kind: Any) -> Any:
    """A type for the table of contents."""
    if isinstance(kind, types.Array):
        if kind.layout != "C" or not kind.aligned:
            raise TypeError(f"{kind}: declare arrays whose items are side by side")
        return ["array", describe_dtype(as_dtype(kind.dtype)), kind.ndim]
    if isinstance(kind, types.BaseTuple):
        return ["tuple", [described(part) for part in kind.types]]
    if isinstance(kind, types.Dispatcher):
        function = kind.dispatcher.py_func
        return ["function", f"{function.__module__}.{function.__qualname__}"]
    return NUMBERS[kind]


def reader(arguments: Any) -> Any:
    """A compiled function that reads all arguments from a table."""
    taken = types_handed_over(arguments)

    def read_all(typing_context: Any, table: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
            parts = [
                read(context, builder, kind, values[0], at)
                for kind, at in zip(arguments.types, places_of(arguments.types), strict=True)
            ]
            return context.make_tuple(builder, taken, parts)

        return taken(table), generate

    return intrinsic(read_all)


def writer(at: int) -> Any:
    """A compiled function that writes a result, number by number, from word ``at`` on."""

    def write(typing_context: Any, table: Any, result: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
            if result != types.none:
                is_tuple = isinstance(result, types.BaseTuple)
                parts = cgutils.unpack_tuple(builder, values[1]) if is_tuple else [values[1]]
                kinds = result.types if is_tuple else [result]
                for place, (part, kind) in enumerate(zip(parts, kinds, strict=True)):
                    word = ir.Constant(WORD, at + place)
                    builder.store(as_word(builder, kind, part), builder.gep(values[0], [word]))
            return context.get_dummy_value()

        return types.void(table, result), generate

    return intrinsic(write)
