"""Signs of life from work that takes long: one line in a terminal or notebook, gone when done."""

import sys
import threading
from collections.abc import Callable
from time import monotonic
from typing import Any

Report = Callable[[int, int], None]
Asked = Report | bool | None
"""A function to call, True or False to show or hide a line, None to decide by where it would go."""
QUICK_S = 2.0
"""Work that takes no longer than this stays silent."""
EVERY_S = 0.25


class LongWork:
    """Shows what is being done, how far it is and for how long, while the context is open.

    Parameters
    ----------
    what
        What is done first, in a few words.
    asked
        As the user gave it; see `Asked`.
    out
        Where the line goes; the standard error by default.

    Examples
    --------
    >>> with LongWork("Trying policies", asked=False) as work:
    ...     work.report(1, 2)
    """

    def __init__(self, what: str, asked: Asked = None, out: Any = None) -> None:
        self._out = sys.stderr if out is None else out
        self._shown = is_watched(self._out) if asked is None else asked is True
        self._called = asked if callable(asked) else None
        self._what, self._done, self._width = what, "", 0
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._tick, daemon=True)

    def __enter__(self) -> "LongWork":
        if self._shown:
            self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        if self._shown:
            self._thread.join()
            self._write("")

    def say(self, what: str) -> None:
        """Say what is done from here on."""
        self._what, self._done = what, ""

    def report(self, done: int, of: int) -> None:
        """Say how much of it is done."""
        self._done = f": {done:,} of {of:,}"
        if self._called is not None:
            self._called(done, of)

    def _tick(self) -> None:
        began = monotonic()
        wait = QUICK_S
        while not self._over.wait(wait):
            wait = EVERY_S
            self._write(f"{self._what}{self._done} ({monotonic() - began:.0f} s)")

    def _write(self, line: str) -> None:
        if not line and not self._width:
            return
        # Blanks cover what is left of the line before; notebooks know no other way to clear one.
        self._out.write(f"\r{line.ljust(self._width)}" + ("" if line else "\r"))
        self._out.flush()
        self._width = len(line)


def is_watched(out: Any) -> bool:
    """Whether somebody sees a line written here: in a terminal, or in a notebook.

    Examples
    --------
    >>> import io
    >>> is_watched(io.StringIO())
    False
    """
    if type(out).__module__.startswith("ipykernel."):
        return True
    return bool(getattr(out, "isatty", lambda: False)())
