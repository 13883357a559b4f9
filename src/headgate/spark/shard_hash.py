"""The shard of each row, computed from its Arrow columns as Spark's ``xxhash64`` would.

Spark can add it as a column, but then writes one value more for every row that goes to Python.
"""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

SEED = 42
"""Spark's own."""
_FIRST, _SECOND, _THIRD, _FOURTH, _FIFTH = (
    np.uint64(prime)
    for prime in (
        0x9E3779B185EBCA87,
        0xC2B2AE3D27D4EB4F,
        0x165667B19E3779F9,
        0x85EBCA77C2B2AE63,
        0x27D4EB2F165667C5,
    )
)


def is_hashed_here(kind: pa.DataType) -> bool:
    """Whether keys of a type are numbers to Spark, whole ones, of which it hashes the bits."""
    whole: bool = pa.types.is_signed_integer(kind) or pa.types.is_date32(kind)
    return whole or (pa.types.is_timestamp(kind) and kind.unit == "us")


def shards_of(columns: Sequence["pa.Array | pa.ChunkedArray"], shards: int) -> np.ndarray:
    """The number of each row's shard; key columns of types that `is_hashed_here`.

    Examples
    --------
    >>> shards_of([pa.array([0, 1, None]), pa.array([7, 7, 7], pa.int32())], 5).tolist()
    [1, 2, 0]
    """
    hashes = np.full(len(columns[0]), SEED, np.uint64)
    for column in columns:
        wide = column.type.bit_width == 64
        numbers = _numbers(column, wide)
        hashed = (_of_longs if wide else _of_integers)(numbers, hashes)
        if column.null_count:  # a null leaves the hash as it is
            valid = column.is_valid().to_numpy(zero_copy_only=False)
            hashed = np.where(valid, hashed, hashes)
        hashes = hashed
    shard: np.ndarray = hashes.view(np.int64) % shards
    return shard


def _numbers(column: "pa.Array | pa.ChunkedArray", wide: bool) -> np.ndarray:
    """The column's bits as Spark hashes them: those of a long, or of an integer."""
    whole = column.cast(pa.int64() if wide else pa.int32())
    if whole.null_count:
        whole = pc.fill_null(whole, 0)
    numbers: np.ndarray = whole.to_numpy()
    return numbers.view(np.uint64) if wide else numbers.view(np.uint32).astype(np.uint64)


def _of_longs(numbers: np.ndarray, seeds: np.ndarray) -> np.ndarray:
    hashes = (seeds + _FIFTH + np.uint64(8)) ^ (_turned(numbers * _SECOND, 31) * _FIRST)
    return _mixed(_turned(hashes, 27) * _FIRST + _FOURTH)


def _of_integers(numbers: np.ndarray, seeds: np.ndarray) -> np.ndarray:
    hashes = (seeds + _FIFTH + np.uint64(4)) ^ (numbers * _FIRST)
    return _mixed(_turned(hashes, 23) * _SECOND + _THIRD)


def _turned(words: np.ndarray, bits: int) -> np.ndarray:
    """The words with their bits rotated to the left."""
    turned: np.ndarray = (words << np.uint64(bits)) | (words >> np.uint64(64 - bits))
    return turned


def _mixed(words: np.ndarray) -> np.ndarray:
    """Every bit of a word reaches every bit of the result."""
    words ^= words >> np.uint64(33)
    words *= _SECOND
    words ^= words >> np.uint64(29)
    words *= _THIRD
    words ^= words >> np.uint64(32)
    return words
