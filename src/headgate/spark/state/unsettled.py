"""What a change at a restart leaves unknown until the state has settled: rows that are gone.

A window that has grown would still hold rows that left under the shorter one. Nobody knows them any
more; how many they are is told from how many rows had come by when.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from headgate.kernel.step_progress import NO_WATERMARK, StepProgress
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


Marks = tuple[int | None, int | None]
"""By side, a place in the window's unit: microseconds of event time, or the side's rows so far."""


@dataclass(frozen=True)
class Unsettled:
    """What is not known since a restart that changed the join, until windows have passed.

    Parameters
    ----------
    gone
        By side, the place before which rows are gone that the window would still hold; None for a
        side of which nothing is missing.
    unknown
        By side, the place before which rows came of which not all is known: whether they have met
        a partner, or would have.
    """

    gone: Marks = (None, None)
    unknown: Marks = (None, None)

    @classmethod
    def of(cls, facts: dict[str, Any]) -> "Unsettled":
        """From what `facts` gave."""
        gone, unknown = facts["gone"], facts["unknown"]
        return cls((gone[0], gone[1]), (unknown[0], unknown[1]))

    def facts(self) -> dict[str, Any]:
        """As plain numbers."""
        return {"gone": list(self.gone), "unknown": list(self.unknown)}

    def with_more(self, other: "Unsettled") -> "Unsettled":
        """What is not known for either reason.

        Examples
        --------
        >>> Unsettled(gone=(3, None)).with_more(Unsettled(gone=(2, 5)))
        Unsettled(gone=(3, 5), unknown=(None, None))
        """
        return Unsettled(_later(self.gone, other.gone), _later(self.unknown, other.unknown))

    def after(self, windows: tuple[Window, Window], now: Marks) -> "Unsettled | None":
        """What is left of it, with the earliest place that rows may still come at; None where
        windows have passed since."""
        gone, unknown = (_reached(marks, windows, now) for marks in (self.gone, self.unknown))
        if (gone, unknown) == ((None, None), (None, None)):
            return None
        return Unsettled(gone, unknown)

    def gone_rows(
        self, windows: tuple[Window, Window], progress: StepProgress, arrivals: ArrivalMarks
    ) -> int:
        """About how many rows the windows would still hold, and that are gone."""
        count = 0
        for side, window in enumerate(windows):
            before = self.gone[side]
            if before is None or progress.clock == NO_WATERMARK:
                continue
            if isinstance(window, RowWindow):
                count += max(before - max(progress.seen[side] - window.span, 0), 0)
            else:
                count += arrivals.between(side, (progress.clock >> 1) - window.span, before)
        return count


def place_of(windows: tuple[Window, Window], time_us: int, seen: tuple[int, int]) -> Marks:
    """Where each side stands in its window's unit, at an event time and after so many rows."""
    left, right = (
        seen[side] if isinstance(window, RowWindow) else time_us
        for side, window in enumerate(windows)
    )
    return left, right


def _later(one: Marks, other: Marks) -> Marks:
    left, right = (
        max((mark for mark in marks if mark is not None), default=None)
        for marks in zip(one, other, strict=True)
    )
    return left, right


def _reached(marks: Marks, windows: tuple[Window, Window], now: Marks) -> Marks:
    """The marks that a window reaches back to."""
    left, right = (
        mark if mark is not None and place is not None and place - window.span < mark else None
        for mark, window, place in zip(marks, windows, now, strict=True)
    )
    return left, right
