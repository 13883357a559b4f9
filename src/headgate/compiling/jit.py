"""Compiles functions with Numba when they are called, and caches the machine code on disk.

Compiled functions allocate and own nothing, so reference counting is switched off: counting
references to a dozen arrays at every call made the kernel twenty times slower.

Numba's own cache checks only the file of the function called, and would use stale code after a
change to a function in another file; here the cache key covers all that the code was made from
(`fingerprint`).
"""

import sys
from functools import cache
from typing import Any

from numba import njit as untyped_njit
from numba import types
from numba.core import caching, ccallback
from numba.core.typing import templates as untyped_templates
from numba.extending import typeof_impl

from headgate.compiling import machine_library
from headgate.compiling.compiled import Compiled
from headgate.compiling.fingerprint import fingerprint
from headgate.compiling.instructions import Instruction
from headgate.compiling.score import Score
from headgate.compiling.tuple_reference import by_reference

FunctionCache: Any = caching.FunctionCache
CFunc: Any = ccallback.CFunc
njit: Any = untyped_njit
templates: Any = untyped_templates
OPTIONS: dict[str, Any] = {"error_model": "numpy", "nogil": True, "_nrt": False}
WITHIN: dict[str, Any] = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
"""For functions that only compiled code calls: wrappers for Python would take half the time."""
SCORE = types.float64(types.int64, types.int64, types.int64, types.float64)
_announced: list[str] = []


class _Cache(FunctionCache):  # type: ignore[misc]
    """Machine code on disk, valid as long as nothing it was made from has changed."""

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        self._note_stamp()
        try:
            found = super().load_overload(sig, target_context)
        except (AttributeError, ImportError):
            # What was kept names types of an earlier version, which are elsewhere or gone.
            self._cache_file.flush()
            found = None
        if found is None:
            _announce(self._py_func)
        return found

    def save_overload(self, sig: Any, data: Any) -> None:
        self._note_stamp()
        super().save_overload(sig, data)

    def _note_stamp(self) -> None:
        # Not before the first call: only then are all modules loaded.
        self._cache_file._source_stamp = fingerprint(self._py_func)


class _Callback(CFunc):  # type: ignore[misc]
    def enable_caching(self) -> None:
        self._cache = _Cache(self._pyfunc)


@cache
def to_call(function: Compiled) -> Any:
    """The function for Python to call."""
    within = to_compile_into(function)

    def called(*arguments: Any) -> Any:
        return within(*by_reference(arguments))

    dispatcher = njit(**OPTIONS)(called)
    if function.cached:
        dispatcher._cache = _Cache(function.function)
    return dispatcher


@cache
def to_compile_into(function: Compiled) -> Any:
    """The function for other compiled functions to call."""
    return njit(**OPTIONS, **WITHIN)(function.function)


def compiled_score(function: Score) -> Any:
    """A function with an address."""
    made = _Callback(function.function, (SCORE.args, SCORE.return_type), locals={}, options={})
    made.enable_caching()
    made.compile()
    return made


@typeof_impl.register(Compiled)
def _type_of_compiled(value: Compiled, context: Any) -> Any:
    return types.Dispatcher(to_compile_into(value))


@typeof_impl.register(Instruction)
def _type_of_instruction(value: Instruction, context: Any) -> Any:
    return _instruction_type(value)


@cache
def _instruction_type(value: Instruction) -> Any:
    template = templates.make_intrinsic_template(value, value.define, value.name)
    templates.infer(template)
    return types.Function(template)


def _announce(function: Any) -> None:
    """Say, once a process, that somebody waits for a compiler, and why."""
    if not _announced and function.__module__.startswith("headgate."):
        _announced.append(function.__qualname__)
        sys.stderr.write(
            f"headgate: compiling for this machine, which may take a minute "
            f"({machine_library.why_not()}); kept on disk for the next time\n"
        )
        sys.stderr.flush()
