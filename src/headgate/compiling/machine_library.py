"""The shared library of machine code that comes with the package.

`headgate.building` makes it. It carries its own table of contents: which functions it has, for
which types, and the sources it was made from. If a source has changed since then, as in a checkout
after an edit, the library is not used.
"""

import ctypes
import hashlib
import json
import platform
import struct
import sys
import tempfile
import zipimport
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from headgate.compiling.argument_types import SharedTuple, argument_type, read_number

PACKAGE = Path(__file__).parents[1]
CONTENTS = "headgate_contents"
FORMAT = 1
"""How arguments are handed over and contents written; a library of another format is not used."""
_IS_DONE = (0, -2)
"""What machine code reports: done, or done without a result."""


def library_path(machine: str | None = None) -> Path:
    """Where the library for a machine is, by default this one."""
    name = f"{sys.platform}-{(machine or platform.machine()).lower()}.so"
    return PACKAGE / "compiling" / "libraries" / name


class LibraryEntry:
    """A function of the library, for arguments of certain types."""

    def __init__(self, function: Any, contents: dict[str, Any]) -> None:
        function.restype, function.argtypes = ctypes.c_int32, [ctypes.c_void_p] * 3
        self._function = function
        self._types = [argument_type(text) for text in contents["takes"]]
        self._returns: list[str] = contents["returns"]
        self._is_tuple: bool = contents["returns_tuple"]
        self._name: str = contents["name"]
        self._words: tuple[struct.Struct, type[ctypes.Array[ctypes.c_int64]]] | None = None
        """How words are written, a third of the time of ctypes; known after the first call."""

    def packed(self, arguments: tuple[Any, ...]) -> list[int] | None:
        """The arguments as words; None if they are of other types."""
        words: list[int] = []
        if len(arguments) != len(self._types):
            return None
        for kind, value in zip(self._types, arguments, strict=True):
            if value.__class__ is SharedTuple:
                fits = value.pack(kind, words)
            else:
                fits = kind.pack(value, words)
            if not fits:
                return None
        return words

    def run(self, words: list[int]) -> Any:
        """Run it; what the words point to must live until it returns."""
        results = len(self._returns)
        if self._words is None:
            # The types of the arguments say how many.
            self._words = struct.Struct(f"{len(words)}q"), ctypes.c_int64 * (len(words) + results)
        form, of_table = self._words
        table = of_table()
        form.pack_into(table, 0, *words)
        unused, failure = ctypes.c_int64(), ctypes.c_void_p()
        status = self._function(
            ctypes.addressof(unused), ctypes.addressof(failure), ctypes.addressof(table)
        )
        if status not in _IS_DONE:
            raise RuntimeError(f"{self._name}: machine code reports status {status}")
        if not results:
            return None
        found = [
            read_number(kind, word)
            for kind, word in zip(self._returns, table[len(words) :], strict=True)
        ]
        return tuple(found) if self._is_tuple else found[0]


class Library:
    """A library that has been loaded."""

    def __init__(self, path: Path) -> None:
        if path.exists():
            self._code = ctypes.CDLL(str(path))
        else:  # in a zip file, which the operating system cannot load from
            with tempfile.NamedTemporaryFile(suffix=path.suffix) as copy:
                copy.write(package_bytes(path))
                copy.flush()
                self._code = ctypes.CDLL(copy.name)
        self.contents = read_contents(self._code)

    def entries(self, name: str) -> tuple[LibraryEntry, ...]:
        """The entries of a function, one for each set of types."""
        own = self.contents["entries"].get(name, ())
        return tuple(
            LibraryEntry(self._code[entry["symbol"]], entry | {"name": name}) for entry in own
        )

    def score_address(self, name: str) -> int | None:
        """Where the machine code of a `Score` is; None if the library does not have it."""
        symbol = self.contents["scores"].get(name)
        if symbol is None:
            return None
        return ctypes.cast(self._code[symbol], ctypes.c_void_p).value


def read_contents(code: ctypes.CDLL) -> dict[str, Any]:
    """The table of contents in a library."""
    start = ctypes.addressof(ctypes.c_char.in_dll(code, CONTENTS))
    contents: dict[str, Any] = json.loads(ctypes.string_at(start))
    return contents


@cache
def _looked_for() -> tuple[Library | None, str]:
    """The library of this machine, or why there is none."""
    path = library_path()
    try:
        library = Library(path)
    except FileNotFoundError:
        return None, f"no library of machine code for {path.stem}"
    except (OSError, ValueError) as error:  # another C library, or a damaged file
        return None, f"the library of machine code cannot be loaded ({error})"
    if library.contents.get("format") != FORMAT:
        return None, "the library of machine code was built by another version"
    for source, known in library.contents["sources"].items():
        if source_hash(PACKAGE / source) != known:
            return None, f"{source} has changed since the library of machine code was built"
    return library, ""


def loaded() -> Library | None:
    """The library of this machine, if there is one made from these sources."""
    return _looked_for()[0]


def why_not() -> str:
    """Why a function is not run from the library."""
    return _looked_for()[1] or "not in the library of machine code"


def source_hash(path: Path) -> str:
    """A hash of a source file, as in a table of contents."""
    try:
        return hashlib.sha256(package_bytes(path)).hexdigest()[:16]
    except OSError:
        return "unreadable"


def package_bytes(path: Path) -> bytes:
    """A file of the package, which may be in a zip file, as Spark's ``--py-files`` are."""
    loader = globals().get("__loader__")
    if isinstance(loader, zipimport.zipimporter):
        try:
            return loader.get_data(str(path))
        except OSError:
            raise FileNotFoundError(path) from None
    return path.read_bytes()


def described(arguments: tuple[Any, ...]) -> str:
    """The types of arguments, for an error message."""
    return ", ".join(_described(value) for value in arguments)


def _described(value: Any) -> str:
    if isinstance(value, SharedTuple):
        return _described(value.value)
    if isinstance(value, np.ndarray):
        layout = "" if value.flags.c_contiguous else " with gaps"
        return f"{value.ndim}-dimensional array of {value.dtype}{layout}"
    if isinstance(value, tuple):
        return f"{type(value).__name__}({described(value)})"
    return type(value).__name__
