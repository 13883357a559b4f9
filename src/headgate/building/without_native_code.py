"""Keeps Numba from optimising, and making machine code of, what it compiles, in this process.

The library is made from LLVM modules that are optimised as a whole (`optimise`), once nothing but
the function to call can be reached from outside: LLVM then puts a helper that is called once into
its caller, however long it is, and drops it. Optimising every function along the way, and making
its machine code, would take half of the time; and making machine code changes the modules, so that
they can no longer be read.
"""

from typing import Any

import llvmlite.binding as untyped_llvm
from numba.core import codegen
from numba.core.registry import cpu_target

llvm: Any = untyped_llvm


INLINED = 600
"""How long, as LLVM counts, a helper may be that is put into several callers: twice its default. An
arrival goes through some ten of them, and four times as much gained nothing."""


def keep_modules_only() -> None:
    """From now on, nothing that is compiled in this process can be run."""
    library: Any = codegen.JITCodeLibrary
    library._optimize_final_module = lambda self: None
    library._finalize_specific = lambda self: None
    library.get_pointer_to_function = lambda self, name: self._ensure_finalized() or 0
    engine: Any = type(cpu_target.target_context.codegen())
    engine._add_module = lambda self, module: None
    engine.set_env = lambda self, name, environment: None


def optimise(library: Any, module: Any) -> None:
    """Optimise a module of which others see one function; what it calls is inside."""
    options = llvm.create_pipeline_tuning_options(speed_level=3)
    options.slp_vectorization = False  # as Numba has it
    options.inlining_threshold = INLINED
    builder = llvm.create_pass_builder(library._codegen._tm, options)
    builder.getModulePassManager().run(module, builder)
