"""Puts the library of machine code into wheels, where it has been built.

A wheel with a library is for its kind of machine; one without is for all, and compiles when it is
first used, with Numba (``headgate[jit]``).
"""

import os
import platform
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

MACHINE = "HEADGATE_WHEEL_MACHINE"
"""Names the kind of machine a wheel is for, if not this one."""
LIBRARIES = Path("src/headgate/compiling/libraries")


class LibraryHook(BuildHookInterface):
    """Called by hatchling for every wheel and sdist."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Add the library and the tag of its platform."""
        if self.target_name != "wheel" or version == "editable":
            return
        machine = os.environ.get(MACHINE, platform.machine()).lower()
        library = LIBRARIES / f"linux-{machine}.so"
        if (Path(self.root) / library).exists():
            build_data["force_include"][str(library)] = str(Path(*library.parts[1:]))
            build_data["pure_python"] = False
            build_data["tag"] = f"py3-none-manylinux_2_17_{machine}"
