"""Which form of the compiled functions runs, as the environment asks."""

import os

VARIABLE = "HEADGATE_KERNEL"
LIBRARY, JIT, PYTHON = "library", "jit", "python"
MODES = (LIBRARY, JIT, PYTHON)


def asked_mode() -> str | None:
    """The form asked for by ``HEADGATE_KERNEL``; None to take the library and else the compiler.

    ``library`` refuses what the library does not have, ``jit`` leaves the library aside, and
    ``python`` runs the functions as they are written, to debug them.
    """
    given = os.environ.get(VARIABLE) or None
    if given is not None and given not in MODES:
        raise ValueError(f"{VARIABLE}={given!r}: give one of {', '.join(MODES)}, or leave it out")
    return given


MODE = asked_mode()
"""The form asked for when this process started."""
