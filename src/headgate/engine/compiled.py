"""How kernel functions are compiled.

They allocate nothing and own nothing, so reference counting is switched off: counting references to
the dozen arrays of a `Desk` at every call made the kernel twenty times slower. Helpers are inlined
for the same reason: a `Desk` is large to pass.
"""

from numba import njit

compiled = njit(cache=True, error_model="numpy", nogil=True, _nrt=False)
inlined = njit(cache=True, error_model="numpy", nogil=True, _nrt=False, forceinline=True)
