"""What a stored row takes in memory: its payload, and what is kept beside it."""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

BOOKKEEPING_BYTES = 64
"""Per stored row: time, sequence, weight and history as kept in state (36 bytes), and the key
chain, expiry and ranking entries of a running step (28 bytes or less). Under a band or
comparison an ordered index stands in for the chain; its 12 bytes more are not counted here."""


def row_bytes(table: pa.Table) -> np.ndarray:
    """Bytes each row of a table takes when stored.

    Examples
    --------
    >>> row_bytes(pa.table({"k": pa.array([1, 2]), "s": ["", "abc"]})).tolist()
    [76, 79]
    """
    total = np.full(table.num_rows, BOOKKEEPING_BYTES, np.int64)
    for column in table.columns:
        total += _column_bytes(column)
    return total


def _column_bytes(column: pa.ChunkedArray) -> "np.ndarray | int":
    kind = column.type
    if pa.types.is_boolean(kind):
        return 1
    if pa.types.is_primitive(kind) or pa.types.is_decimal(kind):
        return int(kind.bit_width) // 8
    if _is_text(kind):
        offset = 8 if pa.types.is_large_string(kind) or pa.types.is_large_binary(kind) else 4
        lengths = pc.fill_null(pc.binary_length(column), 0)
        sizes: np.ndarray = np.asarray(lengths.to_numpy(), np.int64) + offset
        return sizes
    # Nested values: the column's bytes shared out evenly, which is exact in the sum.
    return -(-int(column.nbytes) // max(len(column), 1))


def _is_text(kind: pa.DataType) -> bool:
    return bool(
        pa.types.is_string(kind)
        or pa.types.is_binary(kind)
        or pa.types.is_large_string(kind)
        or pa.types.is_large_binary(kind)
    )
