"""Scores that are computed on arrival and never change."""

from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from headgate.policies.kinds.kind import Kind
from headgate.policies.kinds.plain_score import Moment, PlainRow, PlainScore, as_arrivals
from headgate.policies.policy import Arrivals, Policy


class PlainFixedScore(PlainScore):
    """Fixed scores in plain Python."""

    def redefine(self, definition: int) -> None:
        """Recompute the scores, which may depend on importance."""
        told = self.policy.score(as_arrivals(self.rows, definition))
        self._scores = [float(score) for score in told]

    def worth(self, row: PlainRow, now: Moment) -> tuple[float, int]:
        """The fixed score; among equals the older row is evicted first."""
        return self._scores[row.position], row.position


class FixedKind(Kind):
    """A heap of rows by their fixed score."""

    name = "fixed"
    plain = PlainFixedScore

    @staticmethod
    def scores(policy: "FixedScore", arrivals: Arrivals, importance: np.ndarray) -> np.ndarray:
        """The scores under each definition of importance."""
        return np.stack([policy.score(arrivals._replace(importance=told)) for told in importance])


@dataclass(frozen=True)
class FixedScore(Policy):
    """Base of policies whose score is computed on arrival and never changes."""

    kind: ClassVar[type[Kind]] = FixedKind

    @abstractmethod
    def score(self, arrivals: Arrivals) -> np.ndarray:
        """The score of each arriving row."""
