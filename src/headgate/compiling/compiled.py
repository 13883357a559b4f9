"""Decorators for functions that run as machine code.

Numba compiles them, most often before the package is installed: a shared library of machine code
comes with it (`machine_library`), and neither Numba nor a compiler is loaded. What the library does
not have is compiled when first called (`jit`).
"""

from collections.abc import Callable
from functools import cached_property, update_wrapper
from importlib import import_module
from typing import Any

from headgate.compiling import machine_library
from headgate.compiling.argument_types import SharedTuple
from headgate.compiling.kernel_mode import JIT, LIBRARY, MODE, PYTHON


class Compiled:
    """A function that runs as machine code; other compiled functions can call it too."""

    def __init__(self, function: Callable[..., Any], cached: bool = True) -> None:
        self.function = function
        self.cached = cached
        self.name = f"{function.__module__}.{function.__qualname__}"
        update_wrapper(self, function)

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        """Run from the library, or compile."""
        if named:
            names = self.function.__code__.co_varnames[len(arguments) :]
            arguments += tuple(named[name] for name in names[: len(named)])
        for entry in self._entries:
            words = entry.packed(arguments)
            if words is not None:
                return entry.run(words)
        if MODE == LIBRARY:
            given = machine_library.described(arguments)
            raise TypeError(f"{self.name} is not in the library for {given}")
        return self._jitted(
            *(given.value if isinstance(given, SharedTuple) else given for given in arguments)
        )

    @cached_property
    def _entries(self) -> tuple[machine_library.LibraryEntry, ...]:
        library = None if MODE == JIT else machine_library.loaded()
        return () if library is None else library.entries(self.name)

    @cached_property
    def _jitted(self) -> Any:
        return loaded_jit().to_call(self)

    def __reduce__(self) -> Any:
        return Compiled, (self.function, self.cached)

    def __repr__(self) -> str:
        return f"<compiled {self.name}>"


def loaded_jit() -> Any:
    """The module that compiles; raises if Numba is not installed."""
    try:
        return import_module("headgate.compiling.jit")
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            f"{machine_library.why_not()}, and {error.name} is not installed to compile it: "
            "pip install headgate[jit]",
            name=error.name,
        ) from error


def shared(value: tuple[Any, ...]) -> Any:
    """A tuple of arrays to call several compiled functions with, as one of their arguments."""
    return value if MODE == PYTHON else SharedTuple(value)


def compiled(function: Callable[..., Any]) -> Any:
    """Run a function as machine code."""
    return function if MODE == PYTHON else Compiled(function)


def generated(function: Callable[..., Any]) -> Any:
    """Run a generated function as machine code, where another function makes one for each case.

    All cases share one name, so its machine code is not kept under it; that of its callers is.
    """
    return function if MODE == PYTHON else Compiled(function, cached=False)
