"""Scores that are computed on arrival and never change."""

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from headgate.compiling import compiled
from headgate.policies.kinds.kind import Kind
from headgate.policies.kinds.plain_score import PlainRow, PlainScore, ScoreMoment
from headgate.policies.policy import Arrivals, Policy
from headgate.policies.structures import heap


@compiled
def fall(arrays: Any, own: Any, row: int) -> None:
    """Give a row its lower score; where it is in the heap, enter it again. O(log rows)."""
    if not arrays.worth.fallen.shape[1]:
        return  # all rows fit
    arrays.rows[row].score = arrays.worth.fallen[arrays.terms[0].definition, row]
    pool = arrays.sides[arrays.links[row].side].pool
    if arrays.links[row].alive and arrays.pools[pool].ranked:
        heap.enter(arrays, pool, row)


class PlainFixedScore(PlainScore):
    """Fixed scores in plain Python."""

    def redefine(self, definition: int) -> None:
        """Recompute the scores, which may depend on importance."""
        arrivals = self.arrivals(definition)
        self._scores = [float(score) for score in self.policy.score(arrivals)]
        self._fallen = [float(score) for score in self.policy.fallen_score(arrivals)]

    def worth(self, row: PlainRow, now: ScoreMoment) -> tuple[float, int]:
        """The fixed score; among equals the older row is evicted first."""
        scores = self._fallen if self.has_fallen(row) else self._scores
        return scores[row.position], row.position


class FixedKind(Kind):
    """A heap of rows by their fixed score."""

    name = "fixed"
    plain = PlainFixedScore
    fall = fall

    @staticmethod
    def scores(policy: "FixedScore", arrivals: Arrivals, importance: np.ndarray) -> np.ndarray:
        """The scores under each definition of importance."""
        return np.stack([policy.score(arrivals._replace(importance=told)) for told in importance])

    @staticmethod
    def fallen(policy: "FixedScore", arrivals: Arrivals, importance: np.ndarray) -> np.ndarray:
        """Likewise, of rows that cannot come out without a partner any more."""
        return np.stack(
            [policy.fallen_score(arrivals._replace(importance=told)) for told in importance]
        )


@dataclass(frozen=True)
class FixedScore(Policy):
    """Base of policies whose score is computed on arrival and never changes."""

    kind: ClassVar[type[Kind]] = FixedKind

    @abstractmethod
    def score(self, arrivals: Arrivals) -> np.ndarray:
        """The score of each arriving row."""

    def fallen_score(self, arrivals: Arrivals) -> np.ndarray:
        """The score of rows that have met a partner, or may have lost one; see `Policy.falls`."""
        return self.score(arrivals)
