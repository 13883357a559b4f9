"""What a change at a restart leaves unknown until the state has settled: rows that are gone.

A window that has grown would still hold rows that left under the shorter one. Nobody knows them any
more; how many they are is told from how many rows had come by when.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from headgate.kernel.progress import NO_WATERMARK, Progress
from headgate.spec import RowWindow, Window

MOST_MARKS = 48
"""Marks kept: the latest ones, and of earlier ones ever fewer."""


@dataclass
class ArrivalMarks:
    """How many rows of each side had come by when: (event time in microseconds, left, right).

    Examples
    --------
    >>> marks = ArrivalMarks()
    >>> for second in range(0, 100):
    ...     marks.add(second * 1_000_000, (10 * second, second))
    >>> len(marks.marks) <= MOST_MARKS
    True
    >>> marks.between(0, 98_000_000, 99_000_000), marks.between(1, 0, 40_000_000)
    (10, 40)
    """

    marks: list[tuple[int, int, int]] = field(default_factory=list)

    @classmethod
    def of(cls, marks: Iterable[Sequence[int]]) -> "ArrivalMarks":
        """From what a head says."""
        return cls([(mark[0], mark[1], mark[2]) for mark in marks])

    def add(self, time_us: int, seen: tuple[int, int]) -> None:
        """Note how many rows have come by now."""
        if self.marks and self.marks[-1][0] >= time_us:
            self.marks[-1] = (self.marks[-1][0], *seen)
            return
        self.marks.append((time_us, *seen))
        if len(self.marks) > MOST_MARKS:
            # The mark whose neighbours are closest, for its age, is missed least; not the first.
            times = np.array([mark[0] for mark in self.marks], np.float64)
            age = times[-1] - times[1:-1] + 1.0
            del self.marks[1 + int(np.argmin((times[2:] - times[:-2]) / age))]

    def between(self, side: int, first_us: int, end_us: int) -> int:
        """About how many rows of a side came from one event time to another."""
        if len(self.marks) < 2 or end_us <= first_us:
            return 0
        times = np.array([mark[0] for mark in self.marks], np.float64)
        seen = np.array([mark[1 + side] for mark in self.marks], np.float64)
        first, end = np.interp([first_us, end_us], times, seen)
        return round(float(end - first))


@dataclass(frozen=True)
class Unsettled:
    """Rows of each side that a longer window would still hold, and that are gone.

    Parameters
    ----------
    before
        By side, rows that came before this are gone, in the window's unit: microseconds of event
        time, or the side's rows so far. None for a side of which nothing is missing.
    """

    before: tuple[int | None, int | None] = (None, None)

    @classmethod
    def of(cls, facts: dict[str, Any]) -> "Unsettled":
        """From what `facts` gave."""
        return cls((facts["before"][0], facts["before"][1]))

    def facts(self) -> dict[str, Any]:
        """As plain numbers."""
        return {"before": list(self.before)}

    def since(
        self, windows: tuple[Window, Window], progress: Progress
    ) -> "Unsettled | None":
        """What is unsettled still; None once a row that comes could meet none that is gone."""
        left, right = (
            self.before[side] if self._reach(side, windows, progress) > 0 else None
            for side in (0, 1)
        )
        return None if left is None and right is None else Unsettled((left, right))

    def _reach(self, side: int, windows: tuple[Window, Window], progress: Progress) -> int:
        """How far the window reaches back into what is gone."""
        before = self.before[side]
        if before is None or progress.clock == NO_WATERMARK:
            return 0
        by_rows = isinstance(windows[side], RowWindow)
        now = progress.seen[side] if by_rows else progress.clock >> 1
        return before - (now - windows[side].span)

    def gone_rows(
        self, windows: tuple[Window, Window], progress: Progress, arrivals: ArrivalMarks
    ) -> int:
        """About how many rows the windows would still hold, and that are gone."""
        gone = 0
        for side, window in enumerate(windows):
            before, reach = self.before[side], self._reach(side, windows, progress)
            if before is None or reach <= 0:
                continue
            by_rows = isinstance(window, RowWindow)
            gone += min(reach, before) if by_rows else arrivals.between(side, before - reach, before)
        return gone
