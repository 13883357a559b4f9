"""Columns as numbers in the order of their values, preserving differences where defined."""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from headgate.columns.casting import cast_to
from headgate.columns.times import microseconds


def ordered_numbers(
    column: pa.ChunkedArray, real: bool = False, digits: int = 0
) -> tuple[np.ndarray, np.ndarray]:
    """A number for each value, and which values are null or NaN and so compare with nothing.

    Whole numbers (int64) are exact: integers, days of dates, microseconds of timestamps and
    intervals, decimals in units of ``10 ** -digits``. With ``real`` they are float64.

    Examples
    --------
    >>> numbers, missing = ordered_numbers(pa.chunked_array([[3, None]]))
    >>> numbers.tolist(), missing.tolist()
    ([3, 0], [False, True])
    >>> from decimal import Decimal
    >>> ordered_numbers(pa.chunked_array([[Decimal("-1.5")]]), digits=2)[0].tolist()
    [-150]
    """
    missing: np.ndarray = np.asarray(column.is_null().to_numpy(), bool)
    if real:
        reals = cast_to(column, pa.float64())
        numbers = np.asarray(pc.fill_null(reals, 0.0).to_numpy(), np.float64)
        missing = missing | np.isnan(numbers)
    elif pa.types.is_timestamp(column.type):
        numbers = microseconds(column)
    elif pa.types.is_decimal(column.type):
        numbers = _unscaled(column, digits)
    else:
        if pa.types.is_date(column.type):
            column = column.cast(pa.date32()).cast(pa.int32())
        elif pa.types.is_duration(column.type):
            column = cast_to(column, pa.duration("us"))
        numbers = np.asarray(pc.fill_null(column.cast(pa.int64()), 0).to_numpy(), np.int64)
    return np.where(missing, numbers.dtype.type(0), numbers), missing


def ordered_reals(column: pa.ChunkedArray) -> tuple[np.ndarray, np.ndarray]:
    """Real numbers as whole ones in Spark's order, and which of them are null.

    NaN equals NaN and is above all others; 0.0 equals -0.0.

    Examples
    --------
    >>> low, high, nan = ordered_reals(pa.chunked_array([[-1.5, 2.0, float("nan")]]))[0].tolist()
    >>> low < 0 < high < nan
    True
    """
    missing: np.ndarray = np.asarray(column.is_null().to_numpy(), bool)
    reals = pc.fill_null(cast_to(column, pa.float64()), 0.0).to_numpy() + 0.0
    reals[np.isnan(reals)] = np.nan
    bits = reals.view(np.int64)
    # For negative numbers, the bits below the sign grow with the distance from zero.
    return np.where(bits < 0, np.iinfo(np.int64).min - bits, bits), missing


def ranks_together(columns: Sequence[pa.ChunkedArray]) -> list[tuple[np.ndarray, np.ndarray]]:
    """For each value of several columns its rank among them all, and whether it is null.

    Columns are of one type. Texts and bytes rank byte by byte, as in Spark; false ranks before
    true.

    Examples
    --------
    >>> left, right = pa.chunked_array([["b", None]]), pa.chunked_array([["a", "ä", "b"]])
    >>> [(ranks.tolist(), missing.tolist()) for ranks, missing in ranks_together([left, right])]
    [([1, 0], [False, True]), ([0, 2, 1], [False, False, False])]
    """
    kind = columns[0].type
    chunks = [chunk for column in columns for chunk in column.chunks]
    encoded = pa.chunked_array(chunks, type=kind).combine_chunks().dictionary_encode()
    if isinstance(encoded, pa.ChunkedArray):
        encoded = encoded.combine_chunks()
    rank = np.empty(len(encoded.dictionary) + 1, np.int64)
    rank[pc.array_sort_indices(encoded.dictionary).to_numpy()] = np.arange(len(rank) - 1)
    rank[-1] = 0  # where the index of a null, -1, points
    index = np.asarray(pc.fill_null(encoded.indices, -1).to_numpy(zero_copy_only=False), np.int64)
    cuts = np.cumsum([len(column) for column in columns])[:-1]
    return [(rank[part], part < 0) for part in np.split(index, cuts)]


def _unscaled(column: pa.ChunkedArray, digits: int) -> np.ndarray:
    """Decimals of at most 18 digits as whole numbers of their last place."""
    wide = column.cast(pa.decimal128(38, digits)).combine_chunks()
    chunks = wide.chunks if isinstance(wide, pa.ChunkedArray) else [wide]
    # A decimal is 16 bytes, the low ones first: the first 8 hold all of a number this short.
    numbers = [
        np.frombuffer(chunk.buffers()[1], np.int64)[2 * chunk.offset :][: 2 * len(chunk) : 2]
        for chunk in chunks
        if len(chunk)
    ]
    return np.concatenate(numbers) if numbers else np.empty(0, np.int64)
