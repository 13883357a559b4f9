"""Peak rows and bytes of the exact join, from the event times of all rows."""

from typing import NamedTuple

import numpy as np

from headgate.compiling import compiled
from headgate.spec import RowWindow, Window

FINE = 512
"""Parts of the longer window by which times are counted."""
MOST_PARTS = 1 << 22


class Needs(NamedTuple):
    """Peak number of rows and bytes held at once."""

    rows: float
    bytes: float

    @property
    def row_bytes(self) -> float:
        """Average bytes per row at the peak."""
        return self.bytes / self.rows if self.rows else 0.0


class Arriving(NamedTuple):
    """A side's rows counted by time slice, with their average size in bytes."""

    counts: np.ndarray
    row_bytes: float


def part_us(windows: tuple[Window, Window], first: int, last: int) -> int:
    """Length of the time slices in which rows are counted."""
    spans = [window.span for window in windows if not isinstance(window, RowWindow)]
    fine = max(spans, default=0) // FINE
    return max(fine, (last - first) // MOST_PARTS, 1)


def count_times(time: np.ndarray, first: int, last: int, part: int) -> np.ndarray:
    """Count times per slice, starting from the first."""
    counts = np.zeros((last - first) // part + 1, np.int64)
    _count(time, first, part, counts)
    return counts


def needs_of(sides: tuple[Arriving, Arriving], windows: tuple[Window, Window], part: int) -> Needs:
    """The peak of what both windows hold together.

    Examples
    --------
    >>> from headgate.spec import TimeWindow
    >>> steady = Arriving(np.full(20, 3), 100.0)
    >>> needs_of((steady, steady), (TimeWindow(10), TimeWindow(0)), part=1)
    Needs(rows=33.0, bytes=3300.0)
    """
    held = [_held(side.counts, window, part) for side, window in zip(sides, windows, strict=True)]
    if not len(held[0]):
        return Needs(0.0, 0.0)
    most = int(np.argmax(held[0] + held[1]))
    rows = (float(held[0][most]), float(held[1][most]))
    return Needs(
        rows[0] + rows[1], sum(n * side.row_bytes for n, side in zip(rows, sides, strict=True))
    )


def _held(counts: np.ndarray, window: Window, part: int) -> np.ndarray:
    so_far = np.concatenate([[0], np.cumsum(counts)])
    if isinstance(window, RowWindow):
        rows: np.ndarray = np.minimum(so_far[1:], window.rows)
        return rows
    if not window.span:
        return np.zeros(len(counts), np.int64)
    back = max(round(window.span / part), 1)
    gone = np.concatenate([np.zeros(min(back + 1, len(counts)), np.int64), so_far[1:]])
    held: np.ndarray = so_far[1:] - gone[: len(counts)]
    return held


@compiled
def _count(time: np.ndarray, first: int, part: int, counts: np.ndarray) -> None:
    for row in range(time.size):
        if time[row] >= first:  # a null time is stored as the smallest integer
            counts[(time[row] - first) // part] += 1
