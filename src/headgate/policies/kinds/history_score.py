"""Scores by a row's match history, updated at every match.

Uses the same heap as fixed scores: a raised score is corrected when the row reaches the top, and a
row whose score fell is inserted again.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar, NamedTuple

import numpy as np

from headgate.compiling import Score, call_score, compiled
from headgate.policies.kinds.kind import Block, Given, Kind
from headgate.policies.kinds.plain_score import PlainRow, PlainScore, ScoreMoment
from headgate.policies.policy import Policy
from headgate.policies.structures import heap

MOST_MATCHES = 2**31 - 1


def history_score(function: Callable[[int, int, int, float], float]) -> Score:
    """Compile a score of (matches, touched, time, parameter) to a function the kernel can call."""
    return Score(function)


class Rescoring(NamedTuple):
    """The kind's own arrays."""

    parameter: np.ndarray  # float64: the parameter; what a match on arrival counts for


@compiled
def rescore_stored(arrays: Any, own: Rescoring, score: int) -> None:
    """Compute the scores of stored rows from their history; ``score`` is an address."""
    parameter = own.parameter[0]
    for row in range(arrays.rows.size):
        record = arrays.rows[row]
        if not arrays.links[row].arriving:
            record.score = call_score(score, record.matches, record.touched, record.time, parameter)


@compiled
def note_matches(
    arrays: Any, own: Rescoring, row: int, block: Block, first: int, end: int
) -> tuple[int, Any]:
    """Update the history of an arrival and of its partners."""
    if arrays.terms[0].count_only:
        return end, np.int64(0)
    parameter, score = own.parameter[0], block.score
    record = arrays.rows[row]
    record.matches = min((end - first) * own.parameter[1], MOST_MATCHES)
    record.touched = record.time
    record.score = call_score(score, record.matches, record.touched, record.time, parameter)
    for at in range(first, end):
        number = np.int64(block.pairs[at].partner)
        partner = arrays.rows[number]
        if partner.matches < MOST_MATCHES:  # a row that never expires may meet more
            partner.matches += 1
        partner.touched = max(partner.touched, record.time)
        before = partner.score
        partner.score = call_score(score, partner.matches, partner.touched, partner.time, parameter)
        pool = arrays.sides[arrays.links[number].side].pool
        # A raised score is corrected at the top of the heap; a lowered one needs a new entry.
        if partner.score < before and arrays.pools[pool].ranked:
            heap.enter(arrays, pool, number)
    return end, np.int64(0)


class PlainHistoryScore(PlainScore):
    """History scores in plain Python."""

    def pairs(
        self,
        row: PlainRow,
        other: PlainRow,
        worth: float,
        rows: Sequence[PlainRow],
        now: ScoreMoment,
    ) -> None:
        """Count the match for both rows."""
        row.found += 1
        row.matches = int(row.found * self.policy.arrival_counts)
        other.matches += 1
        other.touched = max(other.touched, row.time)

    def worth(self, row: PlainRow, now: ScoreMoment) -> tuple[float, int]:
        """The present score; among equals the older row is evicted first."""
        score = type(self.policy).rescore(row.matches, row.touched, row.time, self.policy.parameter)
        return score, row.position


class HistoryKind(Kind):
    """A heap of rows by a score of their history."""

    name = "history"
    keeps_history = True
    goes_by_history = True
    reads_partners = True
    plain = PlainHistoryScore
    on_pairs = note_matches

    @staticmethod
    def arrays(given: Given) -> Rescoring:
        """The policy's parameters."""
        policy = given.policy
        return Rescoring(np.array([policy.parameter, policy.arrival_counts], np.float64))

    @staticmethod
    @cache
    def no_arrays() -> Rescoring:
        """No score."""
        return Rescoring(np.zeros(2))

    @staticmethod
    def score_function(policy: "HistoryScore") -> Score:
        """The policy's scoring function."""
        return type(policy).rescore

    @staticmethod
    def take_up(policy: "HistoryScore", arrays: Any, own: Rescoring) -> None:
        """Recompute the scores of stored rows, since only their history is stored."""
        rescore_stored(arrays, own, type(policy).rescore.address)


@dataclass(frozen=True)
class HistoryScore(Policy):
    """Base of policies whose score depends on a row's match history.

    `rescore` is a compiled function of (matches, time of arrival or last match, row's time,
    parameter), made with `history_score`.
    """

    kind: ClassVar[type[Kind]] = HistoryKind
    rescore: ClassVar[Score]

    @property
    def parameter(self) -> float:
        """The last argument of `rescore`."""
        return 0.0

    @property
    def arrival_counts(self) -> float:
        """What a match that a row finds on arrival counts for; later ones count one each."""
        return 1.0
