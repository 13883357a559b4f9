"""How a side's window is kept, so that arrivals of the other side find their partners in it."""

from collections.abc import Sequence
from enum import IntEnum
from typing import Any

from headgate.spec.errors import SpecError


class Index(IntEnum):
    """The structure of one window. The answer does not depend on it, its cost does.

    Kang, Naughton, Viglas, ICDE 2003, section 4.2, has the first four.
    """

    SCAN = 0
    """Nested loops: a probe reads the whole window; nothing to keep up."""
    HASH = 1
    """A chain a key, or a bucket of several: for joins with keys."""
    BTREE = 2
    TTREE = 3
    BITMAP = 4
    """Rows of a step sorted once, bits of who is stored, and summaries of these above them."""

    @property
    def label(self) -> str:
        """As users write it."""
        return self.name.lower()


Indexes = tuple[Index, Index]
"""Of the left window, which right rows probe, and of the right one."""
LABELS = {index.label: index for index in Index}


def parse_index(given: "str | Index | Sequence[str | Index]", keyed: bool = True) -> Indexes | None:
    """The indexes asked for; None where they are to be chosen.

    Examples
    --------
    >>> parse_index("auto")
    >>> parse_index(("hash", "btree"))
    (<Index.HASH: 1>, <Index.BTREE: 2>)
    >>> parse_index("rtree")
    Traceback (most recent call last):
    headgate.spec.errors.SpecError: index="rtree" is not accepted: give "auto", one of "scan",
    "hash", "btree", "ttree", "bitmap", or a pair of them for the left and the right window
    """
    if isinstance(given, str) and given == "auto":
        return None
    both: tuple[Any, ...] = (given, given)
    if isinstance(given, tuple | list):
        both = tuple(given)
    if len(both) != 2 or not all(
        isinstance(one, Index) or (isinstance(one, str) and one in LABELS) for one in both
    ):
        names = ", ".join(f'"{label}"' for label in LABELS)
        shown = f'"{given}"' if isinstance(given, str) else repr(given)
        raise SpecError(
            f'index={shown} is not accepted: give "auto", one of {names}, or a pair of them for '
            f"the left and the right window"
        )
    left, right = (LABELS[one] if isinstance(one, str) else one for one in both)
    if not keyed and Index.HASH in (left, right):
        raise SpecError(
            'index="hash" needs keys to hash, and this join has none: give on=, or choose '
            '"bitmap", "btree", "ttree" or "scan"'
        )
    return left, right
