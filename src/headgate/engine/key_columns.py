"""Join columns as numbers: codes for keys, and values for a predicate."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from headgate.columns.hashing import hash_keys
from headgate.columns.key_codes import NULL, encode_together
from headgate.columns.row_sizes import BOOKKEEPING_BYTES, fixed_bytes, row_bytes
from headgate.engine.shape import Shape


class Coded(NamedTuple):
    """Codes of the keys, and numbers for the values that a predicate compares."""

    codes: list[np.ndarray]
    values: list[np.ndarray]
    """Empty arrays where there is no predicate."""
    distinct: int
    """How many different codes there are."""


def code_tables(shape: Shape, tables: Sequence[pa.Table]) -> Coded:
    """Code tables of the left and the right side in turn."""
    count = 1
    codes = [np.zeros(table.num_rows, np.int32) for table in tables]
    if shape.keys.left:
        keys = [shape.key_columns(table, place % 2) for place, table in enumerate(tables)]
        codes, count = encode_together(keys)
    if shape.condition is None:
        return Coded(codes, [np.empty(0) for _ in tables], count)
    names = shape.condition.columns
    numbers = shape.condition.numbers_together(
        [table.column(names[place % 2]) for place, table in enumerate(tables)]
    )
    for place, (_, missing) in enumerate(numbers):
        codes[place] = np.where(missing, np.int32(NULL), codes[place])
    return Coded(codes, [value for value, _ in numbers], count)


def matched(shape: Shape, table: pa.Table, side: int) -> pa.Table:
    """The join columns of a side: keys, and the column of a predicate."""
    names = list((shape.keys.left, shape.keys.right)[side])
    if shape.condition is not None and shape.condition.columns[side] not in names:
        names.append(shape.condition.columns[side])
    return table.select(names)


def key_bytes(shape: Shape, tables: Sequence[pa.Table]) -> int:
    """The most bytes that a row's join columns take; tables as for `code_tables`.

    Where keys differ in length, rounded up to a power of two, so that it seldom changes.
    """
    deciding = [matched(shape, table, place % 2) for place, table in enumerate(tables)]
    sizes = [int(row_bytes(table).max(initial=0)) for table in deciding]
    most = max(max(sizes) - BOOKKEEPING_BYTES, 0)
    if all(fixed_bytes(column.type) for table in deciding for column in table.columns):
        return most
    return 1 << max(most - 1, 0).bit_length()


def hashes_by_code(
    shape: Shape, tables: Sequence[pa.Table], codes: Sequence[np.ndarray], distinct: int
) -> np.ndarray | None:
    """The hash of every key by its code, from tables of the left and the right side in turn.

    None where there are no keys.
    """
    if not shape.keys.left:
        return None
    hashes = np.zeros(distinct + 1, np.uint64)
    for place, (table, code) in enumerate(zip(tables, codes, strict=True)):
        hashes[code], _ = hash_keys(shape.key_columns(table, place % 2))
    return hashes
