"""Public names of a package, loaded when they are first used.

A package that imports all it offers makes everybody wait for what few need: solvers, compilers,
plotting. Here it states only where its names are (PEP 562).
"""

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def lazy_names(
    package: str, modules: Mapping[str, str]
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """A package's ``__getattr__`` and ``__dir__``, from the module each of its names is in.

    A name that its module does not have is the module itself.
    """

    def load(name: str) -> Any:
        if name not in modules:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        module = import_module(modules[name])
        value = getattr(module, name, module)
        # The next look finds it at once.
        setattr(sys.modules[package], name, value)
        return value

    def listed() -> list[str]:
        # Without what the package itself imports, which is nobody's business.
        own = {name for name in vars(sys.modules[package]) if name.startswith("__")}
        return sorted({*own, *modules})

    return load, listed
