"""Pairs counted as they are made: by key, by row where keys are thinned, and by time."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from headgate.compiling import compiled
from headgate.engine.batch import PairBlock

if TYPE_CHECKING:
    from headgate.simulating.trace import Trace

STRETCHES = 32
"""Equal parts of the time that a trace covers."""


class _Facts(NamedTuple):
    """What must be known of the rows of a trace."""

    left_time: np.ndarray
    right_time: np.ndarray
    code: np.ndarray  # of the left rows; that of a pair's right row is the same
    is_thinned: np.ndarray  # by code
    weight: np.ndarray  # by side that probes, and code: how many pairs each stands for
    time: np.ndarray  # the first, and how long a stretch is


@dataclass(frozen=True, eq=False)
class Tally:
    """Pairs, or what they are worth, each counting for as many as it stands for in the trace.

    Attributes
    ----------
    by_key
        By code.
    by_stored, by_probe
        Of thinned keys alone: by the row that was stored and by the row that found it, left rows
        first, not weighted.
    by_time
        By stretch of time in which they were made.
    """

    by_key: np.ndarray
    by_stored: np.ndarray
    by_probe: np.ndarray
    by_time: np.ndarray
    _facts: _Facts

    @classmethod
    def of(cls, trace: "Trace") -> "Tally":
        """No pairs yet."""
        left, right = trace.rows
        rows = trace.count if trace.is_thinned.any() else 0
        facts = _Facts(
            left.time,
            right.time,
            np.require(left.code, np.int32),
            trace.is_thinned,
            trace.stands_for,
            _stretches(left.time, right.time),
        )
        return cls(
            np.zeros(trace.codes), np.zeros(rows), np.zeros(rows), np.zeros(STRETCHES), facts
        )

    def add(self, block: PairBlock) -> None:
        """Count the pairs of a block."""
        _add(
            block.left,
            block.right,
            block.importance,
            self._facts,
            self.by_key,
            self.by_stored,
            self.by_probe,
            self.by_time,
        )

    @property
    def total(self) -> float:
        """All of them."""
        return float(self.by_time.sum())


def _stretches(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    times = [side for side in (left, right) if len(side)]
    first = min((int(side.min()) for side in times), default=0)
    last = max((int(side.max()) for side in times), default=0)
    return np.array([first, -(-(last - first + 1) // STRETCHES)], np.int64)


@compiled
def _add(
    left: np.ndarray,
    right: np.ndarray,
    importance: np.ndarray,
    facts: _Facts,
    by_key: np.ndarray,
    by_stored: np.ndarray,
    by_probe: np.ndarray,
    by_time: np.ndarray,
) -> None:
    lefts = facts.left_time.size
    for pair in range(left.size):
        one, other = left[pair], right[pair]
        code = facts.code[one]
        worth = importance[pair] if importance.size else 1.0
        # Of two rows of the same time the left comes first.
        right_probes = facts.left_time[one] <= facts.right_time[other]
        probed = facts.right_time[other] if right_probes else facts.left_time[one]
        if facts.is_thinned[code]:
            stored, probe = (one, lefts + other) if right_probes else (lefts + other, one)
            by_stored[stored] += worth
            by_probe[probe] += worth
            worth *= facts.weight[1 if right_probes else 0, code]
        by_key[code] += worth
        by_time[(probed - facts.time[0]) // facts.time[1]] += worth
