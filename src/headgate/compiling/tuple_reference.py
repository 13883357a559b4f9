"""Tuples of arrays, as compiled functions hand them to each other: by reference.

By value the kernel's arrays are hundreds of numbers. To copy them at every call is most of what a
compiler would have to go through, although next to nothing of it is left in the end. So compiled
functions get the address of a table of words, the one in which arguments come from Python
(`argument_types`), and read from it what they need: fields as usual, items by a constant index.

The words of a table never change while compiled functions run, and they are told to the compiler
as such (``!invariant.load``): it need not read them again after a write to an array.
"""

from collections.abc import Iterator
from hashlib import sha256
from itertools import accumulate
from typing import Any

from llvmlite import ir
from numba import extending as untyped_extending
from numba import types as untyped_types
from numba.core import cgutils as untyped_cgutils
from numba.core.typing import templates as untyped_templates
from numba.np import arrayobj as untyped_arrayobj

extending: Any = untyped_extending
types: Any = untyped_types
cgutils: Any = untyped_cgutils
templates: Any = untyped_templates
arrayobj: Any = untyped_arrayobj
WORD = ir.IntType(64)


class TupleReference(types.Type):  # type: ignore[misc]
    """The address of the words of a tuple."""

    def __init__(self, whole: Any) -> None:
        self.whole = whole
        # Not the tuple's own name: with all its arrays it has thousands of letters.
        super().__init__(f"reference_{sha256(whole.name.encode()).hexdigest()[:16]}")

    def place_of(self, name: str) -> int | None:
        """The place of a field."""
        fields = getattr(self.whole, "fields", ())
        return fields.index(name) if name in fields else None


@extending.register_model(TupleReference)
class _ReferenceModel(extending.models.PrimitiveModel):  # type: ignore[misc]
    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, WORD.as_pointer())


def is_referenced(kind: Any) -> bool:
    """Whether values of a type are handed over by reference: tuples with arrays in them.

    Words tell an array's address and shape, so its items must be side by side.
    """
    if not isinstance(kind, types.BaseTuple):
        return False
    arrays = [*_arrays_in(kind)]
    return bool(arrays) and all(array.layout == "C" for array in arrays)


def _arrays_in(kind: Any) -> Iterator[Any]:
    if isinstance(kind, types.Array):
        yield kind
    elif isinstance(kind, types.BaseTuple):
        for part in kind.types:
            yield from _arrays_in(part)


def handed_over(kind: Any) -> Any:
    """The type as which compiled functions get values of a type."""
    return TupleReference(kind) if is_referenced(kind) else kind


def words_of(kind: Any) -> int:
    """How many words a value takes."""
    if isinstance(kind, types.Array):
        return 1 + int(kind.ndim)
    if isinstance(kind, types.BaseTuple):
        return sum(words_of(part) for part in kind.types)
    return 0 if isinstance(kind, types.Dispatcher) else 1


def places_of(kinds: Any) -> list[int]:
    """Where the words of each of several values begin."""
    return [0, *accumulate(words_of(kind) for kind in kinds)][:-1]


def read(context: Any, builder: Any, kind: Any, table: Any, at: int) -> Any:
    """What compiled functions get for the value whose words begin at ``at``."""

    def word(place: int) -> Any:
        loaded = builder.load(builder.gep(table, [ir.Constant(WORD, at + place)]))
        loaded.set_metadata("invariant.load", builder.module.add_metadata([]))
        return loaded

    if is_referenced(kind):
        return builder.gep(table, [ir.Constant(WORD, at)])
    if isinstance(kind, types.BaseTuple):
        places = places_of(kind.types)
        parts = [
            read(context, builder, part, table, at + place)
            for place, part in zip(places, kind.types, strict=True)
        ]
        return context.make_tuple(builder, kind, parts)
    if isinstance(kind, types.Array):
        return _read_array(context, builder, kind, [word(n) for n in range(words_of(kind))])
    if isinstance(kind, types.Dispatcher):
        return context.get_dummy_value()
    if kind == types.float64:
        return builder.bitcast(word(0), ir.DoubleType())
    return builder.trunc(word(0), ir.IntType(1)) if kind == types.boolean else word(0)


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


@templates.infer_getattr
class _FieldTypes(templates.AttributeTemplate):  # type: ignore[misc]
    key = TupleReference

    def generic_resolve(self, reference: TupleReference, name: str) -> Any:
        place = reference.place_of(name)
        return None if place is None else handed_over(reference.whole.types[place])


@templates.infer
class _ItemTypes(templates.AbstractTemplate):  # type: ignore[misc]
    key = "static_getitem"

    def generic(self, given: Any, named: Any) -> Any:
        reference, index = given
        if not isinstance(reference, TupleReference) or not isinstance(index, int):
            return None
        return templates.signature(handed_over(reference.whole.types[index]), *given)


@extending.lower_getattr_generic(TupleReference)
def _field(context: Any, builder: Any, kind: TupleReference, table: Any, name: str) -> Any:
    return _part(context, builder, kind, table, kind.place_of(name))


@extending.lower_builtin("static_getitem", TupleReference, types.IntegerLiteral)
def _item(context: Any, builder: Any, signature: Any, given: Any) -> Any:
    return _part(context, builder, signature.args[0], *given)


def _part(context: Any, builder: Any, kind: TupleReference, table: Any, place: Any) -> Any:
    parts = kind.whole.types
    return read(context, builder, parts[place], table, places_of(parts)[place])


@extending.intrinsic
def by_reference(typing_context: Any, arguments: Any) -> Any:
    """Arguments as they come from Python, as compiled functions take them."""
    kinds = arguments.types
    taken = types.Tuple([handed_over(kind) for kind in kinds])

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        parts = [
            _written(builder, kind, builder.extract_value(values[0], place))
            for place, kind in enumerate(kinds)
        ]
        return context.make_tuple(builder, taken, parts)

    return taken(arguments), generate


def _written(builder: Any, kind: Any, value: Any) -> Any:
    if not is_referenced(kind):
        return value
    words = [*_words(builder, kind, value)]
    table = cgutils.alloca_once(builder, WORD, size=max(len(words), 1))
    for place, word in enumerate(words):
        builder.store(word, builder.gep(table, [ir.Constant(WORD, place)]))
    # From here on the compiler takes the table for memory that was always there.
    address = table.type
    barrier = ir.InlineAsm(ir.FunctionType(address, [address]), "", "=r,0,~{memory}", True)
    return builder.call(barrier, [table])


def _words(builder: Any, kind: Any, value: Any) -> Iterator[Any]:
    """The words of a value, as `argument_types` packs them."""
    if isinstance(kind, types.BaseTuple):
        for place, part in enumerate(kind.types):
            yield from _words(builder, part, builder.extract_value(value, place))
    elif isinstance(kind, types.Array):
        data, shape = builder.extract_value(value, 4), builder.extract_value(value, 5)
        yield builder.ptrtoint(data, WORD)
        for dimension in range(kind.ndim):
            yield builder.extract_value(shape, dimension)
    elif not isinstance(kind, types.Dispatcher):
        yield as_word(builder, kind, value)


def as_word(builder: Any, kind: Any, value: Any) -> Any:
    """A number's word."""
    if kind == types.float64:
        return builder.bitcast(value, WORD)
    return builder.zext(value, WORD) if kind == types.boolean else value
