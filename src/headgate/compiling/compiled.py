"""How kernel functions are compiled.

They allocate nothing and own nothing, so reference counting is switched off: counting references to
the dozen arrays of a `Desk` at every call made the kernel twenty times slower. Helpers are inlined
for the same reason: a `Desk` is large to pass.
"""

from typing import Any

from numba import njit

_OPTIONS: dict[str, Any] = {"cache": True, "error_model": "numpy", "nogil": True, "_nrt": False}
compiled = njit(**_OPTIONS)
inlined = njit(**_OPTIONS, forceinline=True)
