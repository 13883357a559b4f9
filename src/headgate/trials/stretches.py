"""Samples a stream by time: a few stretches with all keys, instead of a few keys.

Policies that score a row by its own history (how often it matched, and when last) need all rows of
its key and competing rows of many keys. They are run on a few time stretches with as many keys as
possible. Memory is empty when a stretch begins; after one window of warm-up it holds what it would
have held, and pairs count only from then on.
"""

from dataclasses import dataclass

import numpy as np

from headgate.compiling import compiled

LENGTHS = (4, 3, 2)
"""Windows in a stretch, the first of which fills memory: as many as the time allows."""
FEWEST, MOST = 3, 16
TOO_MUCH = 0.6
"""Where stretches would cover more of the time than this, they are no help."""


@dataclass(frozen=True, eq=False)
class Stretches:
    """Times, in microseconds: where each stretch begins, counts from, and ends (not included)."""

    begin: np.ndarray
    counts_from: np.ndarray
    end: np.ndarray
    part: float
    """The share of the whole time that is examined."""

    @property
    def part_counted(self) -> float:
        """The share of the whole time in which pairs count."""
        counted = float((self.end - self.counts_from).sum())
        return self.part * counted / float((self.end - self.begin).sum())

    @property
    def closed(self) -> "Stretches":
        """The stretches moved together, one window apart, so that no pair spans two of them.

        Policies that use arrival rates must not see the gaps.
        """
        window = self.counts_from - self.begin
        length = self.end - self.begin
        begin = self.begin[0] + np.concatenate([[0], np.cumsum(length + window + 1)[:-1]])
        return Stretches(begin, begin + window, begin + length, self.part)

    def closed_up(self, time: np.ndarray) -> np.ndarray:
        """Times within the stretches, mapped to those of `closed`."""
        at = np.maximum(np.searchsorted(self.begin, time, side="right") - 1, 0)
        moved: np.ndarray = time - (self.begin - self.closed.begin)[at]
        return moved

    def where(self, time: np.ndarray) -> np.ndarray:
        """For each time: 0 outside, 1 during warm-up, 2 where pairs count."""
        found = np.zeros(len(time), np.uint8)
        _where(time, self.begin, self.counts_from, self.end, found)
        return found


def choose_stretches(
    first: int, last: int, window: int, part: float, seed: int = 0
) -> Stretches | None:
    """Choose evenly spread stretches that cover at least this share of the time; None where
    stretches of a useful length would cover most of it.

    Examples
    --------
    >>> found = choose_stretches(0, 1_000_000, window=1000, part=0.04)
    >>> len(found.begin), found.part
    (10, 0.04)
    >>> choose_stretches(0, 9000, window=1000, part=0.04) is None
    True
    """
    lasts = last - first
    if window <= 0 or lasts <= 0:
        return None
    for windows in LENGTHS:
        count = min(max(int(part * lasts / (windows * window)), FEWEST), MOST)
        length = max(windows * window, int(part * lasts / count))
        if count * length <= TOO_MUCH * lasts:
            break
    else:
        return None
    room = lasts // count - length
    shift = int(np.random.default_rng(seed).integers(room + 1))
    begin = first + shift + np.arange(count, dtype=np.int64) * (lasts // count)
    return Stretches(begin, begin + window, begin + length, count * length / lasts)


@compiled
def _where(
    time: np.ndarray,
    begin: np.ndarray,
    counts_from: np.ndarray,
    end: np.ndarray,
    found: np.ndarray,
) -> None:
    for row in range(time.size):
        at = np.searchsorted(begin, time[row], side="right") - 1
        if at >= 0 and time[row] < end[at]:
            found[row] = 2 if time[row] >= counts_from[at] else 1
