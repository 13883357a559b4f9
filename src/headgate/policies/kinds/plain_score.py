"""Base class of scores in plain Python: rows as objects, linear search.

The kernel's twin uses it to score rows. Nothing here is compiled, or shared with compiled code.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from headgate.policies.kinds.plain_chance import rounded_importance
from headgate.policies.policy import Arrivals


@dataclass(eq=False)
class PlainRow:
    """A stored or arriving row: its identity, its columns of `Rows`, and its positions."""

    side: int
    number: int
    arriving: bool
    time: int
    code: int
    size: int
    weight: float
    sequence: int
    matches: int
    touched: int
    value: float  # the number that a band or comparison uses; 0 where there is none
    watch: int = 0  # as `Watch`
    met: float = 0.0
    made: float = 0.0
    importance: tuple[float, ...] = (1.0,)  # by definition
    recent: float = 0.0  # decayed matches as of `touched`
    skip: int = 0  # skipped work, as `Skip`
    priority: float = 0.0  # residence: as last computed
    is_ripe: bool = False  # residence: has been a candidate
    position: int = 0  # in event order among all rows of the step
    by_rows: bool = False  # its window counts rows of its side, not time
    mark: int = 0  # its place on its window's scale: sequence or time
    end: int = 0  # where its window ends on that scale
    matched: bool = False  # has met a partner, where the join is not inner
    doubtful: bool = False  # may have lost a partner before it came
    certain: bool = False  # has come out as a row that certainly has no partner
    found: int = 0  # history: matches on arrival
    met_before: tuple[int, int] | None = None  # watched: partners before the step, and the last


class ScoreMoment(NamedTuple):
    """The current state of the step's clock."""

    time: int
    seen: Sequence[int]
    """Rows of each side so far."""
    definition: int
    """The current definition of importance."""


class PlainStretch(NamedTuple):
    """What a policy that observes is told of a step, before its departures are known."""

    stretch: Any
    past: list[PlainRow]
    """Stored rows whose window has passed."""
    now: int
    had_passed: Callable[[PlainRow], bool]
    """Whether a row's window had passed before the step."""


def as_arrivals(rows: list[PlainRow], definition: int = 0) -> Arrivals:
    """Rows in the form that policies take."""
    return Arrivals(
        np.array([row.time for row in rows], np.int64),
        np.array([row.side for row in rows], np.uint8),
        np.array([row.sequence for row in rows], np.int64),
        np.array([row.weight for row in rows], np.float64),
        np.array([row.importance[definition] for row in rows], np.float64),
    )


class PlainScore:
    """Scores of rows, and how they change as rows match; each kind overrides what differs.

    Parameters
    ----------
    terms
        Of the join.
    rows
        All rows of the step, in event order.
    progress
        The progress after the previous step.
    definition
        Which definition of importance holds at first.
    """

    def __init__(
        self, terms: Any, rows: list[PlainRow], progress: Any, definition: int = 0
    ) -> None:
        self.terms, self.policy, self.rows = terms, terms.policy, rows
        self.computed = [0, 0]
        """By pool: how often all scores were recomputed, for kinds that choose when."""
        self.redefine(definition)

    def redefine(self, definition: int) -> None:
        """Rescore all rows by another definition of importance."""

    def importance(self, row: PlainRow, definition: int) -> float:
        """A row's importance, rounded to its level for scores that change over time."""
        if not self.policy.weighs_importance:
            return 1.0
        return rounded_importance(self.ranked(row, definition))

    def ranked(self, row: PlainRow, definition: int) -> float:
        """A row's importance, for each byte where rows are ranked so."""
        importance = row.importance[definition]
        return importance / max(row.size, 1) if self.terms.ranks_per_byte else importance

    def arrivals(self, definition: int) -> Arrivals:
        """All rows in the form that policies take, with their importance as it is ranked."""
        importance = [self.ranked(row, definition) for row in self.rows]
        return as_arrivals(self.rows, definition)._replace(importance=np.array(importance))

    def has_fallen(self, row: PlainRow) -> bool:
        """Whether a row is worth less than at first, as it cannot come out without a partner."""
        return bool(self.policy.falls and (row.matched or row.doubtful))

    def hears(self, row: PlainRow, clock: int) -> None:
        """Called when a row arrives, before the clock (an event key) moves."""

    def arrives(self, row: PlainRow, now: ScoreMoment) -> None:
        """Called when a row that may match others has arrived."""

    def admits(self, row: PlainRow) -> None:
        """Called when an arrival is stored."""

    def leaves(self, row: PlainRow, now: int) -> None:
        """Called when a row is removed."""

    def chooses(self, stored: PlainRow, threshold: float) -> bool:
        """Whether a match of a stored row is kept."""
        return True

    def is_spent(self, stored: PlainRow) -> bool:
        """Whether a stored row can make no further pair."""
        return False

    def pairs(
        self,
        row: PlainRow,
        other: PlainRow,
        worth: float,
        rows: Sequence[PlainRow],
        now: ScoreMoment,
    ) -> None:
        """Called when an arrival pairs with a stored row; ``rows`` are those stored in its pool."""

    def worth(self, row: PlainRow, now: ScoreMoment) -> tuple[float, int]:
        """A row's score, and its order among equals."""
        raise NotImplementedError

    def least(
        self, pool: int, stored: list[PlainRow], newcomer: PlainRow | None, now: ScoreMoment
    ) -> PlainRow | None:
        """The row of lowest score among the pool's stored rows and the arrival; None where no row
        may be evicted."""
        everyone = stored if newcomer is None else [*stored, newcomer]
        return min(everyone, key=lambda row: self.worth(row, now))

    def progress(self) -> dict[str, Any]:
        """The fields of `Progress` that have changed."""
        return {}

    def memory(self, told: "PlainStretch") -> str:
        """What the policy learned from the step."""
        return ""
