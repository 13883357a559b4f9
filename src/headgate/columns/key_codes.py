"""Exact integer codes for keys: equal codes for equal values, and for nothing else.

Both ways of coding (a table of our own for 64-bit values, Arrow's dictionary for the rest) compare
by value, so no hash collision can join two rows. Equality is Spark's: null equals nothing (code
-1), NaN equals NaN, and -0.0 equals 0.0.
"""

from collections.abc import Sequence
from functools import reduce

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from headgate.columns.casting import cast_to, list_like, struct_like
from headgate.columns.common_type import common_type, plain_type
from headgate.columns.numbering import number

NULL = -1


def encode_together(tables: Sequence[Sequence[pa.ChunkedArray]]) -> tuple[list[np.ndarray], int]:
    """Codes of several tables' key columns on one scale, and how many codes there are.

    Parameters
    ----------
    tables
        For each table its key columns, in the same order. Those of different types are compared
        as Spark would; raises `Unlike` where it could not.

    Examples
    --------
    >>> left = [pa.chunked_array([["a", "b", None]])]
    >>> right = [pa.chunked_array([["b", "c"]])]
    >>> codes, count = encode_together([left, right])
    >>> [c.tolist() for c in codes], count
    ([[0, 1, -1], [1, 2]], 3)
    """
    lengths = [len(columns[0]) for columns in tables]
    codes, count = _encode(_stack([columns[0] for columns in tables]))
    for place in range(1, len(tables[0])):
        more, more_count = _encode(_stack([columns[place] for columns in tables]))
        missing = (codes == NULL) | (more == NULL)
        joint = codes.astype(np.int64) * more_count + more
        codes, count = _encode(pa.chunked_array([pa.array(joint, mask=missing)]))
    return np.split(codes, np.cumsum(lengths)[:-1]), count


def _stack(columns: Sequence[pa.ChunkedArray]) -> pa.ChunkedArray:
    kind = columns[0].type
    if any(column.type != kind for column in columns):
        kind = reduce(common_type, (column.type for column in columns))
    chunks = [chunk for column in columns for chunk in cast_to(column, kind).chunks]
    return pa.chunked_array(chunks, type=kind)


def _encode(column: pa.ChunkedArray) -> tuple[np.ndarray, int]:
    column = comparable(column)
    if pa.types.is_primitive(column.type) and column.type.bit_width == 64:
        return _number(column)
    encoded = column.combine_chunks().dictionary_encode()
    if isinstance(encoded, pa.ChunkedArray):
        encoded = encoded.combine_chunks()
    codes = pc.fill_null(encoded.indices, NULL).to_numpy(zero_copy_only=False)
    return codes.astype(np.int32, copy=False), len(encoded.dictionary)


def _number(column: pa.ChunkedArray) -> tuple[np.ndarray, int]:
    """Codes of 64-bit values, several times faster than Arrow's."""
    values = column.drop_null().combine_chunks().view(pa.int64())
    valid_codes, count = number(values.to_numpy())
    if not column.null_count:
        return valid_codes, count
    codes = np.full(len(column), NULL, np.int32)
    codes[column.is_valid().to_numpy()] = valid_codes
    return codes, count


def comparable(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """The column in a form whose encoding follows Spark's equality, bit for bit.

    Within structs and lists null equals null, as it does in Spark.
    """
    if pa.types.is_dictionary(column.type):
        return comparable(cast_to(column, column.type.value_type))
    if pa.types.is_nested(column.type):
        column = cast_to(column, plain_type(column.type))
        # Arrow cannot encode nested values; their text is exact, and slow.
        texts = [
            None if value is None else repr(value)
            for chunk in column.chunks
            for value in _comparable(chunk).to_pylist()
        ]
        return pa.chunked_array([pa.array(texts, pa.string())])
    return pa.chunked_array(
        [_comparable(chunk) for chunk in column.chunks], type=_comparable_type(column.type)
    )


def _comparable_type(kind: pa.DataType) -> pa.DataType:
    """The type in which values that are not nested are encoded; wide types stay as they are."""
    if pa.types.is_date32(kind) or (pa.types.is_integer(kind) and kind.bit_width < 64):
        return pa.int64()
    return pa.float64() if pa.types.is_floating(kind) else kind


def _comparable(array: pa.Array) -> pa.Array:
    kind = array.type
    if pa.types.is_struct(kind):
        # By place: names are the same on both sides, and may occur twice.
        names = [str(place) for place in range(kind.num_fields)]
        return struct_like(array, [_in_nested(field) for field in array.flatten()], names)
    if pa.types.is_list(kind):
        return list_like(array, _in_nested(array.flatten()))
    if pa.types.is_date32(kind):
        return array.cast(pa.int32()).cast(pa.int64())
    if pa.types.is_floating(kind):
        wide = array.cast(pa.float64())
        return pc.if_else(pc.is_nan(wide), pa.scalar(float("nan")), pc.add(wide, pa.scalar(0.0)))
    return array.cast(_comparable_type(kind))


def _in_nested(array: pa.Array) -> pa.Array:
    """The same for nested values, with times as numbers: Python cannot represent all times."""
    kind = array.type
    if pa.types.is_temporal(kind) and kind.bit_width == 64:
        return array.view(pa.int64())
    return _comparable(array)
