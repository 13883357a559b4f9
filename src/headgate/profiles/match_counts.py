"""Counting matches by age, without listing them.

The rows of both sides are sorted by key and time, so that the partners of a stored row are a run of
the other side's rows, found by two pointers that only move forward. Of long runs a hundred or so
evenly spaced partners stand for all, so the cost is bounded by rows, not by matches.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from headgate.compiling import compiled

MOST_LOOKED_AT = 128
"""Partners per row whose ages are read; they are sorted by age, so these represent the rest."""
FINE_BUCKETS = 2048


class KeyedRows(NamedTuple):
    """Rows of one side in order of (key, time)."""

    time: np.ndarray  # int64, microseconds
    code: np.ndarray  # int32, none null
    first: np.ndarray  # int64, where the rows of each key begin; one more entry than keys
    weight: np.ndarray  # float64, for each key: how many keys it stands for
    drawn: np.ndarray  # bool, for each key: whether it belongs to the unbiased sample

    @classmethod
    def sorted(
        cls, time: np.ndarray, code: np.ndarray, weight: np.ndarray, drawn: np.ndarray
    ) -> "KeyedRows":
        """Rows in any order, put in order."""
        order = np.lexsort((time, code))
        return cls(time, code, np.empty(0, np.int64), weight, drawn).take(order)

    @classmethod
    def unweighted(cls, time: np.ndarray, code: np.ndarray, keys: int) -> "KeyedRows":
        """Rows of all keys, none left out."""
        return cls.sorted(time, code, np.ones(keys), np.ones(keys, np.bool_))

    def between(self, start: int, end: int) -> "KeyedRows":
        """Those with start ≤ time < end."""
        return self.take((self.time >= start) & (self.time < end))

    def fair(self) -> "KeyedRows":
        """Those of the drawn keys."""
        return self.take(self.drawn[self.code])

    def take(self, which: np.ndarray) -> "KeyedRows":
        """Those at given places or under a mask, in that order; it must be one of key and time."""
        time, code = self.time[which], self.code[which]
        counts = np.bincount(code, minlength=len(self.weight))
        return KeyedRows(
            time, code, np.concatenate([[0], np.cumsum(counts)]), self.weight, self.drawn
        )

    @property
    def row_weight(self) -> np.ndarray:
        """For each row: how many rows it stands for."""
        weights: np.ndarray = self.weight[self.code]
        return weights


@dataclass(frozen=True)
class Matches:
    """Matches that the stored rows of one side made."""

    of_row: np.ndarray
    """For each stored row, in the order of `KeyedRows`; as found, not weighted."""
    ages: np.ndarray
    """For each of the even buckets of age, weighted."""
    fine: np.ndarray
    """For each of the fine buckets, narrow for young ages and wider for old: see `fine_edges`."""
    count: float
    """All of them, weighted."""
    oldest: int
    """The age of the oldest match; -1 where there is none."""

    @property
    def found(self) -> int:
        """All matches that were examined."""
        return int(self.of_row.sum())


def count_matches(
    stored: KeyedRows, other: KeyedRows, window: int, side: int, width: int, buckets: int
) -> Matches:
    """The matches that stored rows make with later rows of the other side.

    Parameters
    ----------
    window
        The stored side's window, in microseconds.
    side
        The stored side. Of two rows of the same time the left comes first, so only stored left
        rows match at age 0.
    width, buckets
        How long a bucket of age is, and how many there are.

    Examples
    --------
    >>> one = np.zeros(1, np.int32)
    >>> left = KeyedRows.unweighted(np.array([10]), one, 1)
    >>> right = KeyedRows.unweighted(np.array([10, 12, 19, 21]), np.repeat(one, 4), 1)
    >>> found = count_matches(left, right, 10, side=0, width=5, buckets=2)
    >>> found.count, found.ages.tolist(), found.oldest
    (3.0, [2.0, 1.0], 9)
    """
    of_row = np.zeros(len(stored.time), np.int64)
    ages, fine = np.zeros(buckets), np.zeros(FINE_BUCKETS)
    oldest = _count(stored, other, np.array([side, window, width]), of_row, ages, fine)
    count = float((of_row * stored.row_weight).sum())
    return Matches(of_row, ages, fine, count, int(oldest))


@compiled
def _count(
    stored: KeyedRows,
    other: KeyedRows,
    terms: np.ndarray,
    of_row: np.ndarray,
    ages: np.ndarray,
    fine: np.ndarray,
) -> np.int64:
    youngest, window, width = terms[0], terms[1], terms[2]
    oldest = np.int64(-1)
    begin = end = stop = np.int64(0)
    key = np.int64(-1)
    for row in range(stored.time.size):
        if stored.code[row] != key:
            key = np.int64(stored.code[row])
            begin = end = other.first[key]
            stop = other.first[key + 1]
        time = stored.time[row]
        while begin < stop and other.time[begin] < time + youngest:
            begin += 1
        end = max(begin, end)
        while end < stop and other.time[end] <= time + window:
            end += 1
        found = end - begin
        of_row[row] = found
        if found == 0:
            continue
        oldest = max(oldest, other.time[end - 1] - time)
        looks = found if found < MOST_LOOKED_AT else np.int64(MOST_LOOKED_AT)
        shift = np.int64(0)
        each = stored.weight[key] * found / looks
        for look in range(looks):
            partner = begin + (2 * look + 1) * found // (2 * looks)
            age = other.time[partner] - time
            ages[min(age // width, ages.size - 1)] += each
            # Partners come in order of age, so the scale only ever gets coarser.
            while (age >> shift) >= 64:
                shift += 1
            fine[shift * 32 + (age >> shift)] += each
    return oldest


def fine_edges() -> np.ndarray:
    """Where fine buckets begin, in microseconds: each at most 1/32 of its age wide.

    Examples
    --------
    >>> fine_edges()[[0, 63, 64, 65, 96]].tolist()
    [0.0, 63.0, 64.0, 66.0, 128.0]
    """
    place = np.arange(FINE_BUCKETS + 1)
    shift = np.maximum(place // 32 - 1, 0)
    edges: np.ndarray = (place - 32 * shift) * 2.0**shift
    return edges
