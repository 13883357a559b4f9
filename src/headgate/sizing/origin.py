"""Where a what-if answer comes from: its inputs, when and by what it was made."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from importlib.metadata import PackageNotFoundError, version
from typing import Any


@dataclass(frozen=True)
class Origin:
    """The inputs, the time and the version; the command line too, if it was one."""

    inputs: tuple[str, ...]
    made_at: datetime
    command: str | None = None

    @classmethod
    def now(cls, *inputs: Any, command: str | None = None) -> "Origin":
        """Of these inputs, at this moment."""
        moment = datetime.now().astimezone()
        return cls(tuple(map(described, inputs)), moment, command)

    @property
    def lines(self) -> tuple[str, ...]:
        """The same in words."""
        inputs = " and ".join(self.inputs)
        made = f"Made of {inputs} on {self.made_at:%Y-%m-%d at %H:%M %Z} by headgate {_version()}."
        return (made,) if self.command is None else (made, self.command)


def described(given: Any) -> str:
    """An input in a few words: its path, or what kind of table it is.

    Examples
    --------
    >>> import pyarrow as pa
    >>> described("logs/clicks"), described(pa.table({"a": [1, 2]}))
    ('logs/clicks', 'a Table of 2 rows')
    """
    if isinstance(given, str) or hasattr(given, "__fspath__"):
        return str(given)
    shape = getattr(given, "shape", None)
    counted = f" of {shape[0]:,} rows" if isinstance(shape, Sequence) and shape else ""
    return f"a {type(given).__name__}{counted}"


def _version() -> str:
    try:
        return version("headgate")
    except PackageNotFoundError:
        return "(not installed)"
