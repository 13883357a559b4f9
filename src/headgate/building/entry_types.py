"""How machine code reads its arguments from a table of words, and writes its results to it.

The other end is `headgate.compiling.argument_types`, which fills the table.
"""

from typing import Any

from llvmlite import ir
from numba import typeof as untyped_typeof
from numba import types as untyped_types
from numba.core import cgutils as untyped_cgutils
from numba.extending import intrinsic
from numba.np import arrayobj as untyped_arrayobj
from numba.np.numpy_support import as_dtype

from headgate.compiling.argument_types import describe_dtype

typeof: Any = untyped_typeof
types: Any = untyped_types
cgutils: Any = untyped_cgutils
arrayobj: Any = untyped_arrayobj
WORD = ir.IntType(64)
TABLE = types.CPointer(types.int64)
NUMBERS = {types.int64: "i", types.uint64: "u", types.boolean: "b", types.float64: "d"}


def types_of(examples: tuple[Any, ...]) -> Any:
    """The types of arguments like these."""
    return types.Tuple([typeof(example) for example in examples])


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


def words_of(kind: Any) -> int:
    """How many words a value takes."""
    if isinstance(kind, types.Array):
        return 1 + int(kind.ndim)
    if isinstance(kind, types.BaseTuple):
        return sum(words_of(part) for part in kind.types)
    return 0 if isinstance(kind, types.Dispatcher) else 1


def reader(arguments: Any) -> Any:
    """A compiled function that reads all arguments from a table."""

    def read(typing_context: Any, table: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
            return _read(context, builder, arguments, values[0], 0)

        return arguments(table), generate

    return intrinsic(read)


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
                    builder.store(_as_word(builder, kind, part), builder.gep(values[0], [word]))
            return context.get_dummy_value()

        return types.void(table, result), generate

    return intrinsic(write)


def _as_word(builder: Any, kind: Any, value: Any) -> Any:
    if kind == types.float64:
        return builder.bitcast(value, WORD)
    return builder.zext(value, WORD) if kind == types.boolean else value


def _read(context: Any, builder: Any, kind: Any, table: Any, at: int) -> Any:
    def word(place: int) -> Any:
        return builder.load(builder.gep(table, [ir.Constant(WORD, place)]))

    if isinstance(kind, types.BaseTuple):
        parts = []
        for part in kind.types:
            parts.append(_read(context, builder, part, table, at))
            at += words_of(part)
        return context.make_tuple(builder, kind, parts)
    if isinstance(kind, types.Array):
        return _read_array(context, builder, kind, [word(at + n) for n in range(words_of(kind))])
    if isinstance(kind, types.Dispatcher):
        return context.get_dummy_value()
    if kind == types.float64:
        return builder.bitcast(word(at), ir.DoubleType())
    return builder.trunc(word(at), ir.IntType(1)) if kind == types.boolean else word(at)


def _read_array(context: Any, builder: Any, kind: Any, words: list[Any]) -> Any:
    array = context.make_array(kind)(context, builder)
    item = context.get_data_type(kind.dtype)
    size = ir.Constant(WORD, context.get_abi_sizeof(item))
    address, *shape = words
    strides, step = [], size
    for length in reversed(shape):
        strides.append(step)
        step = builder.mul(step, length)
    arrayobj.populate_array(
        array,
        data=builder.inttoptr(address, item.as_pointer()),
        shape=shape,
        strides=strides[::-1],
        itemsize=size,
        meminfo=None,
    )
    return array._getvalue()
