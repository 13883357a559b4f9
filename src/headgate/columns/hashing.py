"""A stable 64-bit hash of keys: the same for equal keys, in every process and on every machine.

Made for choosing keys, never for comparing them: keys that `codes` counts as equal hash alike, and
each key falls below a threshold with the chance that the threshold says.
"""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from headgate.columns.key_codes import comparable
from headgate.compiling import compiled

HASHES = float(1 << 64)
"""How many different hashes there are."""


def hash_keys(columns: Sequence[pa.ChunkedArray]) -> tuple[np.ndarray, np.ndarray]:
    """The hash (uint64) of each row's key, and whether the row has a key at all.

    A row lacks a key where any of its key columns is null; its hash then means nothing.

    Examples
    --------
    >>> narrow, has_key = hash_keys([pa.chunked_array([pa.array([7, None], pa.int8())])])
    >>> wide, _ = hash_keys([pa.chunked_array([pa.array([7, 8], pa.int64())])])
    >>> bool(narrow[0] == wide[0]), has_key.tolist()
    (True, [True, False])
    """
    hashes = np.zeros(len(columns[0]), np.uint64)
    has_key = np.ones(len(columns[0]), np.bool_)
    for column in columns:
        start = 0
        for chunk in comparable(column).chunks:
            own = hashes[start : start + len(chunk)]
            if chunk.null_count:
                has_key[start : start + len(chunk)] &= chunk.is_valid().to_numpy(False)
            _hash_chunk(chunk, own)
            start += len(chunk)
    return hashes, has_key


def share_of(hashes: np.ndarray, share: float) -> np.ndarray:
    """Which keys belong to a sample of this share of all keys; of a smaller share, fewer of them.

    Examples
    --------
    >>> share_of(np.array([0, 1 << 63], np.uint64), 0.5).tolist()
    [True, False]
    """
    if share >= 1.0:
        return np.ones(len(hashes), np.bool_)
    chosen: np.ndarray = hashes < np.uint64(share * HASHES)
    return chosen


def _hash_chunk(chunk: pa.Array, hashes: np.ndarray) -> None:
    kind = chunk.type
    if pa.types.is_boolean(kind):
        chunk = chunk.cast(pa.int64())
    elif pa.types.is_fixed_size_binary(kind) and not pa.types.is_decimal(kind):
        chunk = chunk.cast(pa.binary())
    elif pa.types.is_null(kind):
        return
    kind = chunk.type
    if pa.types.is_primitive(kind) and kind.bit_width == 64:
        _add_numbers(_filled(chunk.view(pa.int64())), hashes)
        return
    if not (pa.types.is_large_binary(kind) or pa.types.is_large_string(kind)):
        if not pa.types.is_binary(kind):
            chunk = chunk.cast(pa.string())  # decimals, times: their text is exact
        chunk = chunk.cast(pa.large_binary())
    _, offsets, data = chunk.buffers()
    ends = np.frombuffer(offsets, np.int64)[chunk.offset : chunk.offset + len(chunk) + 1]
    letters = np.empty(0, np.uint8) if data is None else np.frombuffer(data, np.uint8)
    _add_texts(letters, ends, hashes)


def _filled(chunk: pa.Array) -> np.ndarray:
    numbers: np.ndarray = pc.fill_null(chunk, 0).to_numpy(zero_copy_only=False)
    return numbers


@compiled
def _mixed(word: np.uint64) -> np.uint64:
    """Every bit of the word reaches every bit of the result (SplitMix64's finisher)."""
    word += np.uint64(0x9E3779B97F4A7C15)
    word = (word ^ (word >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    word = (word ^ (word >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return word ^ (word >> np.uint64(31))


@compiled
def _add_numbers(numbers: np.ndarray, hashes: np.ndarray) -> None:
    for row in range(numbers.size):
        hashes[row] = _mixed(hashes[row] ^ np.uint64(numbers[row]))


@compiled
def _add_texts(letters: np.ndarray, ends: np.ndarray, hashes: np.ndarray) -> None:
    """Eight letters at a time, the length last, so that trailing zeros count."""
    for row in range(hashes.size):
        hashed = hashes[row]
        word, held = np.uint64(0), 0
        for at in range(ends[row], ends[row + 1]):
            word = (word << np.uint64(8)) | np.uint64(letters[at])
            held += 1
            if held == 8:
                hashed = _mixed(hashed ^ word)
                word, held = np.uint64(0), 0
        hashed = _mixed(hashed ^ word)
        hashes[row] = _mixed(hashed ^ np.uint64(ends[row + 1] - ends[row]))
