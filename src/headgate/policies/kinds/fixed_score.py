"""Scores that are known when a row comes, and stay."""

from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from headgate.policies.kinds.kind import Kind
from headgate.policies.kinds.plain_score import Moment, PlainRow, PlainScore, as_arrivals
from headgate.policies.policy import Arrivals, Policy


class PlainFixedScore(PlainScore):
    """In plain Python."""

    def redefine(self, definition: int) -> None:
        """Scores may depend on importance."""
        told = self.policy.score(as_arrivals(self.rows, definition))
        self._scores = [float(score) for score in told]

    def worth(self, row: PlainRow, now: Moment) -> tuple[float, int]:
        """Of equals the elder goes first."""
        return self._scores[row.position], row.position


class FixedKind(Kind):
    """A row keeps its score; rows stand in a heap."""

    name = "fixed"
    plain = PlainFixedScore

    @staticmethod
    def scores(policy: "FixedScore", arrivals: Arrivals, importance: np.ndarray) -> np.ndarray:
        """By each definition of importance."""
        return np.stack([policy.score(arrivals._replace(importance=told)) for told in importance])


@dataclass(frozen=True)
class FixedScore(Policy):
    """A score that is known at arrival and stays."""

    kind: ClassVar[type[Kind]] = FixedKind

    @abstractmethod
    def score(self, arrivals: Arrivals) -> np.ndarray:
        """What each arriving row is worth."""
