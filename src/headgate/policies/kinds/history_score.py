"""Scores of what happened to a row, reconsidered whenever it finds a partner.

The same heap as for fixed scores: a score that rose is put right when the row surfaces, a row whose
score fell is entered again.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar, NamedTuple

import numpy as np

from headgate.compiling import callback, compiled, inlined
from headgate.policies.kinds.kind import SIGNATURE, Block, Given, Kind
from headgate.policies.kinds.plain_score import Moment, PlainRow, PlainScore
from headgate.policies.policy import Policy
from headgate.policies.structures import heap

MOST_MATCHES = 2**31 - 1


def history_score(function: Callable[[int, int, int, float], float]) -> Any:
    """Compile a score of (matches, touched, time, parameter) to a function the kernel can call."""
    return callback(SIGNATURE)(function)


class Rescoring(NamedTuple):
    """What the kind has beside the kernel's arrays."""

    parameter: np.ndarray  # float64, one


@compiled
def rescore_stored(arrays: Any, own: Rescoring, rescore: Any) -> None:
    """Give stored rows the score their history earned them."""
    for row in range(arrays.rows.size):
        record = arrays.rows[row]
        if not arrays.links[row].arriving:
            record.score = rescore(record.matches, record.touched, record.time, own.parameter[0])


@inlined
def note_matches(
    arrays: Any, own: Rescoring, row: int, block: Block, first: int, end: int
) -> tuple[int, Any]:
    """Bring the history of an arrival and of its partners up to date."""
    if arrays.terms[0].count_only:
        return end, np.int64(0)
    parameter, rescore = own.parameter[0], block.callback
    record = arrays.rows[row]
    record.matches = end - first
    record.touched = record.time
    record.score = rescore(record.matches, record.touched, record.time, parameter)
    for at in range(first, end):
        number = np.int64(block.pairs[at].partner)
        partner = arrays.rows[number]
        if partner.matches < MOST_MATCHES:  # a row that never expires may meet more
            partner.matches += 1
        partner.touched = max(partner.touched, record.time)
        before = partner.score
        partner.score = rescore(partner.matches, partner.touched, partner.time, parameter)
        pool = arrays.sides[arrays.links[number].side].pool
        # A risen score is put right when the row surfaces in the heap; a fallen one would not be.
        if partner.score < before and arrays.pools[pool].ranked:
            heap.enter(arrays, pool, number)
    return end, np.int64(0)


class PlainHistoryScore(PlainScore):
    """In plain Python."""

    def pairs(
        self, row: PlainRow, other: PlainRow, worth: float, rows: Sequence[PlainRow], now: Moment
    ) -> None:
        """Both have one match more."""
        row.matches += 1
        other.matches += 1
        other.touched = max(other.touched, row.time)

    def worth(self, row: PlainRow, now: Moment) -> tuple[float, int]:
        """Of equals the elder goes first."""
        rescore = type(self.policy).rescore.__wrapped__
        score = rescore(row.matches, row.touched, row.time, self.policy.parameter)
        return score, row.position


class HistoryKind(Kind):
    """A row's score follows its history; rows stand in a heap."""

    name = "history"
    keeps_history = True
    goes_by_history = True
    reads_partners = True
    plain = PlainHistoryScore
    on_pairs = note_matches

    @staticmethod
    def arrays(given: Given) -> Rescoring:
        """How the policy scores."""
        return Rescoring(np.array([given.policy.parameter], np.float64))

    @staticmethod
    @cache
    def no_arrays() -> Rescoring:
        """No score."""
        return Rescoring(np.zeros(1))

    @staticmethod
    def callback(policy: "HistoryScore") -> Any:
        """How the policy scores."""
        return type(policy).rescore

    @staticmethod
    def take_up(policy: "HistoryScore", arrays: Any, own: Rescoring) -> None:
        """Scores are not stored with rows, their history is."""
        rescore_stored(arrays, own, type(policy).rescore)


@dataclass(frozen=True)
class HistoryScore(Policy):
    """A score of what happened to a row, reconsidered whenever it finds a partner.

    `rescore` is a compiled function of (matches, time of arrival or last match, row's time,
    parameter), made with `history_score`.
    """

    kind: ClassVar[type[Kind]] = HistoryKind
    rescore: ClassVar[Any]

    @property
    def parameter(self) -> float:
        """Passed on to `rescore`."""
        return 0.0
