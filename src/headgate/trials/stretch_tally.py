"""Tallies result rows as they are made: by key, by row where keys are thinned, and by time."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from headgate.compiling import compiled
from headgate.kernel.layout import NULL_KEY
from headgate.kernel.pair_block import NOBODY, PairBlock
from headgate.kernel.rows import Rows

if TYPE_CHECKING:
    from headgate.trials.trace import Trace

PARTS = 32
"""Equal parts of the time that a trace covers."""


class _Facts(NamedTuple):
    """Per-row and per-key arrays of a trace that counting needs."""

    left_time: np.ndarray
    right_time: np.ndarray
    code: np.ndarray  # of the left rows; that of a pair's right row is the same
    is_thinned: np.ndarray  # by code
    weight: np.ndarray  # by probing side and code: how many pairs each represents
    left_counts: np.ndarray  # uint8, whether pairs that a row finds count; empty where all do
    right_counts: np.ndarray
    edges: np.ndarray  # where time slices begin, except the first


@dataclass(frozen=True, eq=False)
class StretchTally:
    """Pairs or their importance, each weighted by the pairs it represents.

    Attributes
    ----------
    by_key
        By code.
    by_stored, by_probe
        For thinned keys only: by stored row and by probing row, left rows first, unweighted.
    by_time
        By time slice in which they were made: equal slices, or the stretches examined.
    """

    by_key: np.ndarray
    by_stored: np.ndarray
    by_probe: np.ndarray
    by_time: np.ndarray
    _facts: _Facts
    _rows: tuple[Rows, Rows]

    @classmethod
    def of(cls, trace: "Trace") -> "StretchTally":
        """An empty tally."""
        left, right = trace.rows
        rows = trace.count if trace.is_thinned.any() else 0
        facts = _Facts(
            left.time,
            right.time,
            np.require(left.code, np.int32),
            trace.is_thinned,
            trace.stands_for,
            *trace.counts,
            _edges(left.time, right.time) if trace.stretches is None else trace.stretches.begin[1:],
        )
        parts = len(facts.edges) + 1
        by_row = np.zeros(rows), np.zeros(rows)
        return cls(np.zeros(trace.codes), *by_row, np.zeros(parts), facts, trace.rows)

    def add(self, block: PairBlock) -> None:
        """Count the pairs of a block, or its rows that come out alone."""
        if block.certain.size:
            self._add_alone(block)
            return
        _add(
            block.left,
            block.right,
            block.importance,
            facts=self._facts,
            by_key=self.by_key,
            by_stored=self.by_stored,
            by_probe=self.by_probe,
            by_time=self.by_time,
        )

    def _add_alone(self, block: PairBlock) -> None:
        """Count rows that come out alone for certain, by their own time.

        In a miniature rows of heavy keys that only probe stand for others, which count themselves.
        """
        side = int(block.left[0] == NOBODY)
        own, number = self._rows[side], block[side][block.certain]
        if own.effort is not None:
            number = number[own.effort[1, number] > 0]
        place = np.searchsorted(self._facts.edges, own.time[number], side="right")
        self.by_time[:] += np.bincount(place, minlength=len(self.by_time))
        code = own.code[number]
        known = code[code != NULL_KEY]
        self.by_key[:] += np.bincount(known, minlength=len(self.by_key))

    @property
    def total(self) -> float:
        """All of them."""
        return float(self.by_time.sum())


def _edges(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    times = [side for side in (left, right) if len(side)]
    first = min((int(side.min()) for side in times), default=0)
    last = max((int(side.max()) for side in times), default=0)
    return first + (last - first + 1) * np.arange(1, PARTS, dtype=np.int64) // PARTS


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
        if facts.left_counts.size and not (
            facts.right_counts[other] if right_probes else facts.left_counts[one]
        ):
            continue
        if facts.is_thinned[code]:
            stored, probe = (one, lefts + other) if right_probes else (lefts + other, one)
            by_stored[stored] += worth
            by_probe[probe] += worth
            worth *= facts.weight[1 if right_probes else 0, code]
        by_key[code] += worth
        by_time[np.searchsorted(facts.edges, probed, side="right")] += worth
