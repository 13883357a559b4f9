"""Columns as traits: a number for each named column of a row, which trees are grown on.

Numbers, times and truth values are taken as numbers, in single precision; text and bytes as 24 bits
of their hash. A null is a number that is none, or a category of its own.
"""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from headgate.columns.hashing import hash_keys
from headgate.engine.shape import Feature, Shape
from headgate.spec import SpecError

NO_CATEGORY = np.float32(-1.0)
"""In place of a null among categories."""
HASH_BITS = np.uint64(40)
"""Of a hash, how many are left out."""


def named_columns(
    features: Sequence[str], schemas: tuple[pa.Schema, pa.Schema]
) -> tuple[tuple[Feature, ...], tuple[Feature, ...]]:
    """Of each side, those of the named columns that it has; raises where neither has one, or where
    its type tells nothing.

    Examples
    --------
    >>> sides = (pa.schema({"status": pa.string()}), pa.schema({"tags": pa.list_(pa.string())}))
    >>> named_columns(["status"], sides)
    ((Feature(name='status', is_number=False),), ())
    >>> named_columns(["tags"], sides)
    Traceback (most recent call last):
    ...
    headgate.spec.errors.SpecError: features=: column "tags" of the right side is list<item: \
string>, which is neither a number, a time, a truth value, text nor bytes: name another column, or \
take one out of it before the join
    """
    for name in features:
        if not any(name in schema.names for schema in schemas):
            names = [", ".join(schema.names) for schema in schemas]
            raise SpecError(
                f'features=: neither side has a column "{name}": the left side has {names[0]}; '
                f"the right side has {names[1]}"
            )
    for side, schema in enumerate(schemas):
        for name in features:
            if name in schema.names:
                _check_type(name, schema.field(name).type, side)
    left, right = (
        tuple(
            Feature(name, is_number(schema.field(name).type))
            for name in features
            if name in schema.names
        )
        for schema in schemas
    )
    return left, right


def is_number(kind: pa.DataType) -> bool:
    """Whether a column of this type is taken as numbers."""
    if pa.types.is_dictionary(kind):
        return is_number(kind.value_type)
    return bool(
        pa.types.is_integer(kind)
        or pa.types.is_floating(kind)
        or pa.types.is_decimal(kind)
        or pa.types.is_boolean(kind)
        or pa.types.is_temporal(kind)
    )


def _is_category(kind: pa.DataType) -> bool:
    if pa.types.is_dictionary(kind):
        return _is_category(kind.value_type)
    return bool(
        pa.types.is_string(kind)
        or pa.types.is_large_string(kind)
        or pa.types.is_binary(kind)
        or pa.types.is_large_binary(kind)
        or pa.types.is_fixed_size_binary(kind)
    )


def _check_type(name: str, kind: pa.DataType, side: int) -> None:
    if (is_number(kind) and not pa.types.is_interval(kind)) or _is_category(kind):
        return
    raise SpecError(
        f'features=: column "{name}" of the {("left", "right")[side]} side is {kind}, which is '
        f"neither a number, a time, a truth value, text nor bytes: name another column, or take "
        f"one out of it before the join"
    )


def traits_of(shape: Shape, table: pa.Table, side: int) -> np.ndarray | None:
    """The traits of a side's rows, float32 by row and named column; None where none is named.

    Examples
    --------
    >>> import headgate as hg
    >>> at = hg.Side(time="at", window="1 minute")
    >>> join = hg.WindowJoin(
    ...     on="k", left=at, right=at, budget=hg.Budget(rows=9), features=["price", "status"]
    ... )
    >>> kinds = {"k": pa.int64(), "at": pa.timestamp("us"), "price": pa.float64()}
    >>> schema = pa.schema(kinds | {"status": pa.string()})
    >>> rows = pa.table([[1, 2], [0, 0], [9.5, None], ["new", None]], schema=schema)
    >>> traits_of(join.bind((schema, schema)).shape, rows, 0).tolist()
    [[9.5, 1776390.0], [nan, -1.0]]
    """
    if not any(shape.features):
        return None
    features = shape.features[side]
    found = np.empty((table.num_rows, len(features)), np.float32)
    for at, feature in enumerate(features):
        column = table.column(feature.name)
        if pa.types.is_dictionary(column.type):
            column = column.cast(column.type.value_type)
        found[:, at] = _numbers(column) if feature.is_number else _categories(column)
    return found


def _numbers(column: pa.ChunkedArray) -> np.ndarray:
    kind = column.type
    if pa.types.is_temporal(kind):
        column = column.cast(pa.int64() if kind.bit_width == 64 else pa.int32())
    values = pc.fill_null(column.cast(pa.float64(), safe=False), np.nan)
    numbers: np.ndarray = values.to_numpy().astype(np.float32)
    return numbers


def _categories(column: pa.ChunkedArray) -> np.ndarray:
    hashes, known = hash_keys([column])
    return np.where(known, (hashes >> HASH_BITS).astype(np.float32), NO_CATEGORY)
