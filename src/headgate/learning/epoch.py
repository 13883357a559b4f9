"""Epochs: the stretches of arrivals after which a join uses what it has learned.

Models, policy, key weights and shares are fixed within an epoch. Where it ends depends on the
stream and the budget alone, and what is observed within it is summed so that it comes out the same
however its arrivals are cut into steps: whole numbers, or sums in event order. So cutting a stream
into batches anywhere changes nothing in what is learned.
"""

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from headgate.kernel.terms import Terms
from headgate.learning.array_text import as_text, from_text
from headgate.learning.key_tail import CLASSES
from headgate.models.density_classes import SHAPE
from headgate.policies.structures.ordered_sums import in_order
from headgate.spec.budget import UNLIMITED

LEAST_ROWS, FIRST = 1 << 11, 0.625
"""Arrivals of an epoch at least, and the part of them that the first has, knowing nothing."""
BUCKETS = 120
"""Buckets of age."""


def epoch_rows(seen: int, capacity: int, least: int = LEAST_ROWS, held: float = math.inf) -> int:
    """Number of arrivals after which to update the models.

    Early on there is much to learn, and what is known by the time memory runs full decides what is
    stored first. Later models change little; but other keys may become frequent at any time, and
    until an epoch ends the wrong rows are stored: so it takes half a window at most. Every
    step reloads the stored rows, so it should bring about as many arrivals.

    Parameters
    ----------
    seen
        Rows of both sides so far.
    capacity
        About how many can be stored.
    held
        About how many the windows hold.

    Examples
    --------
    >>> epoch_rows(0, 10_000), epoch_rows(5_000, 10_000), epoch_rows(1_000_000, 10_000)
    (2048, 2500, 60000)
    >>> epoch_rows(1_000_000, 10_000, held=60_000)
    30000
    """
    stored = min(seen, capacity)
    longest = int(min(seen // 8, 6 * stored, held / 2))
    return max(least, min(2 * stored, seen // 2), longest)


def capacity_of(terms: Terms, row_bytes: float) -> int:
    """About how many rows of this size the limits hold."""
    rows, size = terms.limits
    if size >= UNLIMITED or not row_bytes:
        return rows
    return min(rows, int(size / max(row_bytes, 1.0)))


@dataclass
class Epoch:
    """What was observed since the models were last updated.

    Parameters
    ----------
    until
        Rows of both sides after which it closes.
    began_us
        The event time at its beginning; None before the first arrival.
    seen
        Rows of each side before it.
    """

    until: int
    began_us: int | None = None
    seen: tuple[int, int] = (0, 0)
    lean: str = ""
    """What the monitor's room was cut to: "" for all of it, "key" or "other" by the policy."""
    spare: bool = False
    """Whether rows have the rest of it."""
    bytes: int = 0
    """Of its arrivals."""
    importance: tuple[float, float] = (0.0, 0.0)
    """Of its arrivals of each side; their number where all count alike."""
    lost: int = 0
    """Rows refused or given up for lack of room."""
    stored: int = 0
    """About how many rows were stored at its beginning."""
    revives: bool = False
    """Whether stored rows are yet to be given a history, which the policy before did not keep."""
    matches: np.ndarray = field(default_factory=lambda: np.zeros((2, BUCKETS), np.int64))
    """What watched rows met, by side and age."""
    watched_us: np.ndarray = field(default_factory=lambda: np.zeros((2, BUCKETS), np.int64))
    """How long they were followed, by side and age."""
    judged: np.ndarray = field(default_factory=lambda: np.zeros((2, 5)))
    """By side, what `Fit` adds up."""
    made: np.ndarray | None = None
    """Pairs of the policies on trial, or their importance, by policy and group."""
    met: np.ndarray | None = None
    waited_us: np.ndarray | None = None
    """By class of row, what watched rows met, and how long they waited; None where not counted."""
    tail: np.ndarray = field(default_factory=lambda: np.zeros((3, 2, CLASSES), np.int64))
    """What watched rows met, by side and class of rare keys, and what goes with it: `KeyTail`."""
    watched_met: int = 0
    """What watched rows of any key met, where that is counted by class."""

    def facts(self) -> dict[str, Any]:
        """As plain numbers and text."""
        return {
            "until": self.until,
            "began": self.began_us,
            "seen": list(self.seen),
            "lean": self.lean,
            "spare": self.spare,
            "bytes": self.bytes,
            "importance": list(self.importance),
            "lost": self.lost,
            "stored": self.stored,
            "revives": self.revives,
            "matches": as_text(self.matches, np.int64),
            "watched": as_text(self.watched_us, np.int64),
            "judged": self.judged.tolist(),
            "made": None if self.made is None else self.made.tolist(),
            "tail": as_text(self.tail, np.int64),
            "watched_met": self.watched_met,
            **self._meetings(),
        }

    def _meetings(self) -> dict[str, str]:
        if self.met is None or self.waited_us is None:
            return {}
        return {"met": as_text(self.met, np.int64), "waited": as_text(self.waited_us, np.int64)}

    def add_importance(self, side: int, importance: np.ndarray) -> None:
        """Take in that of a side's arrivals, one after the other."""
        sums = list(self.importance)
        sums[side] = in_order(sums[side], importance)
        self.importance = (sums[0], sums[1])

    def add_meetings(self, met: np.ndarray, waited_us: np.ndarray) -> None:
        """Take in a step's meetings by class of row; nothing where they are not counted."""
        if met.size:
            self.met = met if self.met is None else self.met + met
            self.waited_us = waited_us if self.waited_us is None else self.waited_us + waited_us

    def add_tail(
        self, side: int, classes: np.ndarray, met: np.ndarray, waited_us: np.ndarray
    ) -> None:
        """Take in what watched rows of a side met, by the class of their key.

        In whole numbers, so that their order does not matter.
        """
        met, known = np.rint(met).astype(np.int64), classes < CLASSES
        self.watched_met += int(met.sum())
        for total, more in zip(self.tail, (met, waited_us, met**2), strict=True):
            np.add.at(total[side], classes[known], more[known])

    @classmethod
    def of(cls, facts: dict[str, Any]) -> "Epoch":
        """From what `facts` gave."""
        made = facts["made"]
        tail = np.zeros((3, 2, CLASSES), np.int64)
        if "tail" in facts:  # earlier versions knew nothing of the tail of keys
            tail = from_text(facts["tail"], np.int64, tail.shape)
        return cls(
            until=facts["until"],
            began_us=facts["began"],
            seen=(facts["seen"][0], facts["seen"][1]),
            lean=facts["lean"],
            spare=facts["spare"],
            bytes=facts["bytes"],
            importance=_by_side(facts.get("importance", 0.0)),
            lost=facts["lost"],
            stored=facts["stored"],
            revives=facts["revives"],
            matches=from_text(facts["matches"], np.int64, (2, BUCKETS)),
            watched_us=from_text(facts["watched"], np.int64, (2, BUCKETS)),
            judged=np.array(facts["judged"]),
            made=None if made is None else np.array(made, np.float64).reshape(len(made), -1),
            met=from_text(facts["met"], np.int64, SHAPE) if "met" in facts else None,
            waited_us=from_text(facts["waited"], np.int64, SHAPE) if "waited" in facts else None,
            tail=tail,
            watched_met=facts.get("watched_met", 0),
        )


def _by_side(importance: float | list[float]) -> tuple[float, float]:
    """Earlier versions added up both sides."""
    if isinstance(importance, list):
        return importance[0], importance[1]
    return importance, 0.0
