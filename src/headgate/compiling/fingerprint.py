"""Fingerprints of compiled functions: their bytecode, that of all they call, and constants."""

import hashlib
from collections.abc import Callable, Iterator
from types import CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np

from headgate.compiling.compiled import Compiled
from headgate.compiling.instructions import Instruction
from headgate.compiling.score import Score

_OURS = __name__.partition(".")[0]


def fingerprint(function: Callable[..., Any]) -> str:
    """A hash that changes whenever the machine code of a function may change.

    It covers the bytecode of every function that can be reached from this one, in whatever file it
    stands, with the values of all globals they use. Comments and docstrings are not part of it.

    Examples
    --------
    >>> from math import pi
    >>> def area(radius):
    ...     return pi * radius * radius
    >>> before = fingerprint(area)
    >>> pi = 3
    >>> fingerprint(area) == before
    False
    """
    digest = hashlib.sha256()
    seen: set[int] = set()
    waiting: list[Any] = [function]
    while waiting:
        part = waiting.pop()
        if isinstance(part, Compiled | Score):
            part = part.function
        elif isinstance(part, Instruction):
            part = part.define
        if not isinstance(part, FunctionType):
            digest.update(_described(part).encode())
        elif id(part) not in seen:
            seen.add(id(part))
            digest.update("\n".join(_bytecode(part.__code__, part.__doc__)).encode())
            waiting += _used(part)
    return digest.hexdigest()


def _bytecode(code: CodeType, doc: str | None = None) -> Iterator[str]:
    yield f"{code.co_name} {code.co_code.hex()} {code.co_names} {code.co_varnames}"
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _bytecode(constant)
        elif constant != doc or doc is None:
            yield _described(constant)


def _used(function: FunctionType) -> Iterator[Any]:
    """The values of the globals and enclosing variables that a function uses."""
    for cell in function.__closure__ or ():
        yield cell.cell_contents
    names = list(_names(function.__code__))
    for name in names:
        if name not in function.__globals__:
            continue
        value = function.__globals__[name]
        if isinstance(value, ModuleType) and value.__name__.partition(".")[0] == _OURS:
            yield from (getattr(value, other) for other in names if hasattr(value, other))
        else:
            yield value


def _names(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names(constant)


def _described(value: Any) -> str:
    """A constant as text that is the same in every process."""
    if isinstance(value, np.ndarray):
        return f"{value.dtype} {value.shape} {hashlib.sha256(value.tobytes()).hexdigest()}"
    if isinstance(value, tuple):
        return f"({', '.join(map(_described, value))})"
    if isinstance(value, frozenset):
        return f"{{{', '.join(sorted(map(_described, value)))}}}"
    if value is None or isinstance(value, int | float | complex | str | bytes | np.generic):
        return f"{type(value).__name__} {value!r}"
    if isinstance(value, np.dtype):
        return f"dtype {value.descr!r}"
    named = value if hasattr(value, "__qualname__") else type(value)
    return f"{named.__module__}.{named.__qualname__} {getattr(named, '_fields', '')}"
