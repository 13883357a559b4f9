"""Types of arguments of machine code, and how values of them are handed over.

Machine code gets its arguments as a table of 64-bit words: for an array its address and shape, for
a number itself, for a tuple its parts one after the other.
"""

import ctypes
import json
import struct
from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np


def _in_object(array: np.ndarray) -> int:
    """An array's address, read where NumPy's C interface has it: first in the array object.

    Twenty times as quick as ``array.ctypes.data``, which makes two Python objects on the way; a
    step of a join hands over some two hundred arrays.
    """
    address: int = _MEMORY[(id(array) + _HEAD_BYTES - _WORD) // _WORD]
    return address


def _by_numpy(array: np.ndarray) -> int:
    """An array's address, as NumPy tells it."""
    return int(array.ctypes.data)


_HEAD_BYTES, _WORD = object.__basicsize__, 8
_MEMORY = ctypes.cast(_WORD, ctypes.POINTER(ctypes.c_uint64))
"""All of memory, as words from the second on: a pointer to the first is no pointer in C."""
_TRIED = (np.zeros(3), np.zeros((2, 5), np.int32)[1:], np.empty(0), np.zeros(2, "i8,f4"))
address_of: Callable[[np.ndarray], int] = (
    _in_object if all(_in_object(each) == _by_numpy(each) for each in _TRIED) else _by_numpy
)
"""Where the items of an array are."""


class ArgumentType(Protocol):
    """A type of argument."""

    def pack(self, value: Any, words: list[int]) -> bool:
        """Append a value's words; False if it is of another type."""


MOST = (1 << 63) - 1
"""In a signed word."""


class WholeNumber:
    """A whole number or a truth value."""

    def pack(self, value: Any, words: list[int]) -> bool:
        """One word."""
        if not isinstance(value, int | np.integer | np.bool_):
            return False
        whole = int(value)
        # Words are signed; of what is not, the bits stay the same.
        words.append(whole if whole <= MOST else whole - (1 << 64))
        return True


class RealNumber:
    """A real number."""

    def pack(self, value: Any, words: list[int]) -> bool:
        """One word: its bits."""
        if not isinstance(value, float | int | np.floating | np.integer):
            return False
        words.append(struct.unpack("<q", struct.pack("<d", value))[0])
        return True


class Array:
    """An array with its items side by side."""

    def __init__(self, dtype: np.dtype[Any], dimensions: int) -> None:
        self._dtype, self._dimensions = dtype, dimensions

    def pack(self, value: Any, words: list[int]) -> bool:
        """The address, and the length in each dimension."""
        if not isinstance(value, np.ndarray) or value.ndim != self._dimensions:
            return False
        dtype = value.dtype
        if dtype is not self._dtype:
            if dtype != self._dtype:
                return False
            # Records are compared field by field: the next array is most often of this very object.
            self._dtype = dtype
        if not value.flags.c_contiguous:
            return False
        words.append(address_of(value))
        words += value.shape
        return True


_LASTING: dict[int, tuple[Any, ...]] = {}
"""Tuples that never change, by their identity; kept, so that no other object ever has it."""


def lasting(value: tuple[Any, ...]) -> tuple[Any, ...]:
    """A tuple of arrays that many calls get: its words are found once for each type.

    Its arrays may never be exchanged for others.
    """
    return _LASTING.setdefault(id(value), value)


class Tuple:
    """A tuple of known length and types."""

    def __init__(self, parts: Sequence[ArgumentType]) -> None:
        self._parts = parts
        self._lasting: dict[int, list[int]] = {}
        """Words of tuples that never change, by their identity."""

    def pack(self, value: Any, words: list[int]) -> bool:
        """The words of its parts."""
        known = self._lasting.get(id(value))
        if known is not None:
            words += known
            return True
        if not isinstance(value, tuple) or len(value) != len(self._parts):
            return False
        before = len(words)
        for kind, part in zip(self._parts, value, strict=True):
            if not kind.pack(part, words):
                return False
        if id(value) in _LASTING:
            self._lasting[id(value)] = words[before:]
        return True


class Function:
    """A compiled function, which is part of the machine code: nothing is handed over."""

    def __init__(self, name: str) -> None:
        self._name = name

    def pack(self, value: Any, words: list[int]) -> bool:
        """No word."""
        return getattr(value, "name", None) == self._name


class SharedTuple:
    """A tuple that several functions get, one after the other: its words are found once.

    They stay true as long as the tuple lives, because NumPy's arrays do not move.
    """

    __slots__ = ("_words", "value")

    def __init__(self, value: tuple[Any, ...]) -> None:
        self.value = value
        self._words: dict[int, list[int]] = {}
        """By the type as which they were found, of which there is one object each."""

    def pack(self, kind: ArgumentType, words: list[int]) -> bool:
        """Append the words of the tuple; False if it is of another type."""
        known = self._words.get(id(kind))
        if known is None:
            known = []
            if not kind.pack(self.value, known):
                return False
            self._words[id(kind)] = known
        words += known
        return True


_types: dict[str, ArgumentType] = {}


def argument_type(text: Any) -> ArgumentType:
    """The type of an argument that a table of contents names: the same object for the same text."""
    name = json.dumps(text)
    if name not in _types:
        _types[name] = read_type(text)
    return _types[name]


def read_type(text: Any) -> ArgumentType:
    """The type that a library's table of contents names."""
    if text in ("i", "u", "b"):
        return WholeNumber()
    if text == "d":
        return RealNumber()
    form, *rest = text
    if form == "array":
        return Array(_dtype(rest[0]), rest[1])
    if form == "tuple":
        return Tuple([read_type(part) for part in rest[0]])
    return Function(rest[0])


def read_number(kind: str, word: int) -> Any:
    """A result in a word, as Python has it."""
    if kind == "d":
        return struct.unpack("<d", struct.pack("<q", word))[0]
    return bool(word) if kind == "b" else word


def describe_dtype(dtype: np.dtype[Any]) -> Any:
    """A dtype for a table of contents."""
    if dtype.fields is None:
        return dtype.str
    fields = [(name, dtype.fields[name]) for name in dtype.names or ()]
    return [[name, field[0].str, field[1]] for name, field in fields] + [dtype.itemsize]


def _dtype(text: Any) -> np.dtype[Any]:
    if isinstance(text, str):
        return np.dtype(text)
    *fields, size = text
    names, formats, offsets = zip(*fields, strict=True)
    return np.dtype(
        {
            "names": list(names),
            "formats": list(formats),
            "offsets": list(offsets),
            "itemsize": size,
        }
    )
