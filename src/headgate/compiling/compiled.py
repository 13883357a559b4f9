"""Decorators that compile kernel functions and cache the machine code.

Kernel functions allocate and own nothing, so reference counting is switched off: counting
references to a dozen arrays at every call made the kernel twenty times slower. Helpers are inlined
because the kernel's `Arrays` are expensive to pass.

Machine code is cached on disk. Numba's own cache checks only the file of the function called, and
would use stale code after a change to a function in another file; here the cache key covers all
that the code was made from (`fingerprint`).
"""

from collections.abc import Callable
from typing import Any

from numba import njit
from numba.core import caching, ccallback

from headgate.compiling.fingerprint import fingerprint

FunctionCache: Any = caching.FunctionCache
CFunc: Any = ccallback.CFunc
_OPTIONS: dict[str, Any] = {"error_model": "numpy", "nogil": True, "_nrt": False}


class _Cache(FunctionCache):  # type: ignore[misc]
    """Machine code on disk, valid as long as nothing it was made from has changed."""

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        self._note_stamp()
        try:
            return super().load_overload(sig, target_context)
        except (AttributeError, ImportError):
            # What was kept names types of an earlier version, which are elsewhere or gone.
            self._cache_file.flush()
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        self._note_stamp()
        super().save_overload(sig, data)

    def _note_stamp(self) -> None:
        # Not before the first call: only then are all modules loaded.
        self._cache_file._source_stamp = fingerprint(self._py_func)


class _Callback(CFunc):  # type: ignore[misc]
    def enable_caching(self) -> None:
        self._cache = _Cache(self._pyfunc)


def compiled(function: Callable[..., Any]) -> Any:
    """Compile a function when it is first called."""
    return _cached(function, _OPTIONS)


def inlined(function: Callable[..., Any]) -> Any:
    """Compile a helper inline, as part of every function that calls it."""
    return _cached(function, {**_OPTIONS, "forceinline": True})


def generated(function: Callable[..., Any]) -> Any:
    """Compile a generated helper inline, where another function makes one for each case.

    It has no cache entry of its own, since all cases share one name; its callers have one, which
    covers the case too.
    """
    return njit(**_OPTIONS, forceinline=True)(function)


def callback(signature: Any) -> Callable[[Callable[..., float]], Any]:
    """Compile a function of one signature to be called by its address."""

    def compile_now(function: Callable[..., float]) -> Any:
        made = _Callback(function, (signature.args, signature.return_type), locals={}, options={})
        made.enable_caching()
        made.compile()
        return made

    return compile_now


def _cached(function: Callable[..., Any], options: dict[str, Any]) -> Any:
    dispatcher = njit(**options)(function)
    dispatcher._cache = _Cache(function)
    return dispatcher
