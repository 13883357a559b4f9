"""What a join did: rows in and out, what it stored, and every cause of a missing row."""

from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, TypeVar

from headgate.kernel import layout
from headgate.kernel.layout import Count
from headgate.kernel.step import Step

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

Counted = TypeVar("Counted", bound="DataclassInstance")
LEFT = ("shed", "refused", "retired", "expired", "unchosen", "unstored")
"""Counts of rows that have left, or were never stored."""
GIVEN_UP = ("shed", "refused", "retired", "unprobed", "unstored")
"""Counts of what was given up to stay within the budget; where all are zero, nothing was."""


@dataclass(frozen=True)
class Stats:
    """Counts of a join so far; add the stats of two stretches to have those of both.

    A row of the exact result is missing only where a row was `shed`, `refused`, `retired`,
    `unchosen`, `unprobed`, `unstored` or `late`; `null_keys` and `null_times` match nothing in any
    join, `expired` and `unneeded` rows had no partner left to meet.
    """

    left_rows: int = 0
    right_rows: int = 0
    pairs: int = 0
    admitted: int = 0
    shed: int = 0
    """Stored rows given up within their window."""
    refused: int = 0
    """Arrivals not stored, since all stored rows were worth more."""
    retired: int = 0
    """Rows given up past their window, while a row out of order could still have met them."""
    expired: int = 0
    """Stored rows whose window passed."""
    unneeded: int = 0
    """Arrivals no later row could meet: not stored, nothing lost."""
    unchosen: int = 0
    """Samples: rows let go, or not stored, of whose matches to come none was chosen."""
    unprobed: int = 0
    """Arrivals that did not look for partners, for want of processor time."""
    unstored: int = 0
    """Arrivals not stored for the same reason."""
    late: int = 0
    """Rows behind the watermark, dropped."""
    null_keys: int = 0
    """Rows with a null in a key, or a null or NaN in the column of a band or comparison."""
    null_times: int = 0
    stored_rows: int = 0
    """Stored at the end."""
    stored_bytes: int = 0
    peak_rows: int = 0
    """Most rows stored after any arrival."""
    peak_bytes: int = 0
    importance: float = 0.0
    """Of all result rows together; their number where all count alike."""
    recomputed: int = 0
    """How often IJOIN computed all priorities anew."""
    redefined: int = 0
    """How often importance was redefined."""
    lifetimes: float = 0.0
    """How long rows that have left were stored within their window, in seconds, summed up."""
    lifetimes_squared: float = 0.0

    @classmethod
    def of_step(cls, step: Step, left_rows: int, right_rows: int) -> "Stats":
        """From what a step did with so many arrivals."""
        counts = step.counts
        total = counts.sum(axis=1)
        lifetimes, lifetimes_squared = step.lives
        return cls(
            left_rows=left_rows,
            right_rows=right_rows,
            pairs=int(total[Count.PAIRS]),
            admitted=int(total[Count.ADMITTED]),
            shed=int(total[Count.SHED]),
            refused=int(total[Count.REFUSED]),
            retired=int(total[Count.RETIRED]),
            expired=int(total[Count.EXPIRED]),
            unneeded=int(total[Count.UNNEEDED]),
            unchosen=int(total[Count.UNCHOSEN]),
            unprobed=int(total[Count.UNPROBED]),
            unstored=int(total[Count.UNSTORED]),
            null_keys=int(total[Count.NULL_KEYS]),
            stored_rows=step.stored_rows,
            stored_bytes=step.stored_bytes,
            peak_rows=int(counts[Count.PEAK_ROWS, layout.LEFT]),
            peak_bytes=int(counts[Count.PEAK_BYTES, layout.LEFT]),
            importance=step.importance,
            recomputed=int(total[Count.RECOMPUTED]),
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
        """Rows that were given up to stay within the budget, or not all of whose work was done."""
        return sum(int(getattr(self, name)) for name in GIVEN_UP)

    @property
    def lost_rows(self) -> int:
        """Rows whose loss may have cost result rows; zero means the result is exact."""
        return self.given_up + self.late + self.unchosen

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
    for entry in fields(first):
        mine, theirs = getattr(first, entry.name), getattr(later, entry.name)
        if entry.name.startswith("stored_"):
            merged[entry.name] = theirs
        elif entry.name.startswith("peak_"):
            merged[entry.name] = max(mine, theirs)
        else:
            merged[entry.name] = mine + theirs
    return type(first)(**merged)
