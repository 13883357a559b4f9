"""Keeps Numba from making machine code of what it compiles, in this process.

The library is made from LLVM modules as Numba has optimised them. Machine code of every function
along the way would take a third of the time, and making it changes the modules, so that they can
no longer be read.
"""

from typing import Any

from numba.core import codegen
from numba.core.registry import cpu_target


def keep_modules_only() -> None:
    """From now on, nothing that is compiled in this process can be run."""
    library: Any = codegen.JITCodeLibrary
    library._finalize_specific = lambda self: None
    library.get_pointer_to_function = lambda self, name: self._ensure_finalized() or 0
    engine: Any = type(cpu_target.target_context.codegen())
    engine._add_module = lambda self, module: None
    engine.set_env = lambda self, name, environment: None
