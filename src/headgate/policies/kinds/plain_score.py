"""A kind of score in plain Python: rows as objects, every row looked at.

The twin of the kernel asks it what rows are worth. Nothing here is compiled, nor shared with
compiled code.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from headgate.policies.kinds.plain_chance import rounded_importance
from headgate.policies.policy import Arrivals


@dataclass(eq=False)
class PlainRow:
    """A stored or arriving row: who it is, its columns of `Batch`, and its places in order."""

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
    value: float  # what a band or comparison looks at; 0 where there is none
    watch: int = 0  # as `Watch`
    met: float = 0.0
    made: float = 0.0
    importance: tuple[float, ...] = (1.0,)  # by definition
    recent: float = 0.0  # matches, as they counted when last touched
    skip: int = 0  # what is left skipped with it, as `Skip`
    priority: float = 0.0  # residence: as last computed
    is_ripe: bool = False  # residence: has been a candidate
    position: int = 0  # in event order among all rows of the step
    by_rows: bool = False  # its window counts rows of its side, not time
    mark: int = 0  # its place on its window's scale: sequence or time
    end: int = 0  # where its window ends on that scale


class Moment(NamedTuple):
    """How far the step has come."""

    time: int
    seen: Sequence[int]
    """Rows of each side so far."""
    definition: int
    """Of importance."""


def as_arrivals(rows: list[PlainRow], definition: int = 0) -> Arrivals:
    """Rows as a policy is told of them."""
    return Arrivals(
        np.array([row.time for row in rows], np.int64),
        np.array([row.side for row in rows], np.uint8),
        np.array([row.sequence for row in rows], np.int64),
        np.array([row.weight for row in rows], np.float64),
        np.array([row.importance[definition] for row in rows], np.float64),
    )


class PlainScore:
    """What rows are worth, and what happens to that as they meet; a kind says what is its own.

    Parameters
    ----------
    terms
        Of the join.
    rows
        All rows of the step, in event order.
    progress
        What the step before left.
    definition
        Which definition of importance holds at first.
    """

    def __init__(
        self, terms: Any, rows: list[PlainRow], progress: Any, definition: int = 0
    ) -> None:
        self.terms, self.policy, self.rows = terms, terms.policy, rows
        self.computed = [0, 0]
        """By pool: how often all scores were computed anew, where that is a matter of choice."""
        self.redefine(definition)

    def redefine(self, definition: int) -> None:
        """Judge all rows by another definition of importance."""

    def importance(self, row: PlainRow, definition: int) -> float:
        """What a row's importance is rounded to, where scores change all the time."""
        if not self.policy.weighs_importance:
            return 1.0
        return rounded_importance(row.importance[definition])

    def hears(self, row: PlainRow, clock: int) -> None:
        """A row comes; the clock, an event key, has not moved yet."""

    def arrives(self, row: PlainRow, now: Moment) -> None:
        """A row has come that may match others."""

    def admits(self, row: PlainRow) -> None:
        """An arrival is stored."""

    def leaves(self, row: PlainRow, now: int) -> None:
        """A row is stored no more."""

    def chooses(self, stored: PlainRow, threshold: float) -> bool:
        """Whether a match of a stored row is made."""
        return True

    def is_spent(self, stored: PlainRow) -> bool:
        """Whether a stored row has nothing more to wait for."""
        return False

    def pairs(
        self, row: PlainRow, other: PlainRow, worth: float, rows: Sequence[PlainRow], now: Moment
    ) -> None:
        """An arrival pairs with a stored row, of whose pool ``rows`` are stored."""

    def worth(self, row: PlainRow, now: Moment) -> tuple[float, int]:
        """A row's score, and its order among equals."""
        raise NotImplementedError

    def least(
        self, pool: int, stored: list[PlainRow], newcomer: PlainRow | None, now: Moment
    ) -> PlainRow | None:
        """Who is worth least of the pool's stored rows and the newcomer; None where nobody may be
        given up."""
        everyone = stored if newcomer is None else [*stored, newcomer]
        return min(everyone, key=lambda row: self.worth(row, now))

    def progress(self) -> dict[str, Any]:
        """What of `Progress` has changed."""
        return {}

    def memory(self, arrivals: Arrivals) -> str:
        """What the policy remembers of the step."""
        return ""
