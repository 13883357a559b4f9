"""Statistics of a join: rows in and out, rows stored, and every cause of missing results."""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from headgate.kernel import layout
from headgate.kernel.layout import Count
from headgate.kernel.step import Step
from headgate.metrics import LAST, MAX, metrics_of
from headgate.metrics.metric_groups import JoinCounts

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

    from headgate.report.report_section import ReportSection

Counted = TypeVar("Counted", bound="DataclassInstance")
PEAKS = (Count.PEAK_ROWS, Count.PEAK_BYTES)
LEFT = tuple(each.name for each in metrics_of(JoinCounts) if each.leaves)
"""Counts of rows that have left, or were never stored."""
GIVEN_UP = tuple(each.name for each in metrics_of(JoinCounts) if each.given_up)
"""Counts of rows and work given up to stay within the budget; all zero if none was."""


@dataclass(frozen=True)
class Stats(JoinCounts):
    """Counts of a join so far; print it to see what happened to the rows.

    `pairs` are all result rows but undecided ones; of them, `unmatched` have no partner. A row of
    the exact result is missing only where a row was `shed`, `refused`, `retired`,
    `unchosen`, `unprobed`, `unstored` or `late`; `null_keys` and `null_times` match nothing in any
    join, `expired` and `unneeded` rows had no partner left to meet.

    Examples
    --------
    >>> stats = Stats(left_rows=6, right_rows=4, pairs=3, shed=2)
    >>> stats.shed, stats.pairs
    (2, 3)
    """

    @classmethod
    def of_step(cls, step: Step, left_rows: int, right_rows: int) -> "Stats":
        """From what a step did with so many arrivals."""
        lifetimes, lifetimes_squared = step.lives
        counted = _counted(step.counts)
        counted["pairs"] += counted["unmatched"]
        return cls(
            **counted,
            left_rows=left_rows,
            right_rows=right_rows,
            stored_rows=step.stored_rows,
            stored_bytes=step.stored_bytes,
            importance=step.importance,
            redefined=step.redefined,
            lifetimes=lifetimes,
            lifetimes_squared=lifetimes_squared,
        )

    @property
    def fairness(self) -> float:
        """Jain's index over the time that rows were stored: 1 when all stayed as long as another.

        Of all rows that have left; one that was refused stayed for no time. 1 where none has left.
        """
        rows = sum(int(getattr(self, name)) for name in LEFT)
        if not self.lifetimes_squared:
            return 1.0
        return self.lifetimes**2 / (rows * self.lifetimes_squared)

    @property
    def given_up(self) -> int:
        """Rows lost to stay within the budget: evicted, refused, or not fully processed."""
        return sum(int(getattr(self, name)) for name in GIVEN_UP)

    @property
    def lost_rows(self) -> int:
        """Rows whose loss may have cost result rows; zero means the result is exact."""
        return self.given_up + self.late + self.unchosen

    def __str__(self) -> str:
        return self._flow.text

    def _repr_html_(self) -> str:
        from headgate.report.section_html import as_html

        return as_html(self._flow)

    @property
    def _flow(self) -> "ReportSection":
        from headgate.engine.row_flow import row_flow

        return row_flow(self, f"{self.pairs:,} result rows")

    def with_dropped(self, arrived: tuple[int, int], came: tuple[int, int]) -> "Stats":
        """With the rows that came and for which there was no time even to be looked at."""
        dropped = sum(came) - sum(arrived)
        return replace(self, unprobed=self.unprobed + dropped, unstored=self.unstored + dropped)

    def then(self, later: "Stats") -> "Stats":
        """The stats of this stretch and a later one together."""
        return in_turn(self, later)


def in_turn(first: Counted, later: Counted) -> Counted:
    """Counts of two stretches together: what is stored is the later one's, peaks the greater."""
    merged = {}
    for each in metrics_of(type(first)):
        mine, theirs = getattr(first, each.name), getattr(later, each.name)
        if each.batches == LAST:
            merged[each.name] = theirs
        elif each.batches == MAX:
            merged[each.name] = max(mine, theirs)
        else:
            merged[each.name] = mine + theirs
    return type(first)(**merged)


def _counted(counts: np.ndarray) -> dict[str, int]:
    """What the kernel counted, by the metric of the same name; peaks are of both sides together."""
    total = counts.sum(axis=1)
    return {
        each.name.lower(): int(counts[each, layout.LEFT] if each in PEAKS else total[each])
        for each in Count
    }
