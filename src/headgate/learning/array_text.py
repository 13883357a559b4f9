"""Arrays as text, for what is kept as JSON."""

import base64
import zlib
from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np


def as_text(values: np.ndarray, kind: Any) -> str:
    """An array's bytes as text."""
    plain = np.ascontiguousarray(values, kind).tobytes()
    return base64.b64encode(zlib.compress(plain, 1)).decode()


def from_text(text: str, kind: Any, shape: Sequence[int]) -> np.ndarray:
    """The array that `as_text` wrote; raises ValueError for any other text.

    Examples
    --------
    >>> from_text(as_text(np.arange(3), np.int64), np.int64, (3,)).tolist()
    [0, 1, 2]
    >>> from_text("AAAA", np.int64, (3,))
    Traceback (most recent call last):
    ...
    ValueError: an array of (3,) is damaged
    """
    # What fills memory when unpacked is noticed after one byte too many; 0 sets no limit.
    most = 0 if -1 in shape else prod(shape) * np.dtype(kind).itemsize + 1
    unpacking = zlib.decompressobj()
    try:
        plain = unpacking.decompress(base64.b64decode(text), most)
    except zlib.error as error:
        raise ValueError(f"an array of {tuple(shape)} is damaged") from error
    if not unpacking.eof:
        raise ValueError(f"an array of {tuple(shape)} is cut short or too long")
    return np.frombuffer(plain, kind).reshape(shape).copy()


def nibbles(cells: np.ndarray) -> np.ndarray:
    """Pairs of numbers below 16 as bytes; of cells there is an even number."""
    packed: np.ndarray = cells[::2] << 4 | cells[1::2]
    return packed


def from_nibbles(packed: np.ndarray) -> np.ndarray:
    """The numbers that `nibbles` packed.

    Examples
    --------
    >>> from_nibbles(nibbles(np.array([3, 15, 0, 7], np.uint8))).tolist()
    [3, 15, 0, 7]
    """
    return np.stack([packed >> 4, packed & 15], axis=1).ravel()
