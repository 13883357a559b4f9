"""An adaptive histogram: the mean of a measure over a number's range, in few buckets."""

from dataclasses import dataclass
from typing import Any

import numpy as np

PRIOR = 1.0
"""A bucket's own mean counts in full once it has seen many times as many as this."""


@dataclass(frozen=True, eq=False)
class ValueHistogram:
    """How a measure depends on a whole number: per bucket its count, mean and spread.

    Buckets across which the measure changes much are split, neighbours with equal means merged;
    counts decay, so that old observations weigh little. The measure is interpolated linearly
    between bucket centres, so that few buckets distinguish all numbers.

    Parameters
    ----------
    edges
        Where buckets begin, and where the last one ends.
    count, mean, squares
        Of what each bucket has seen: how many (faded), their mean, their summed squared deviations.

    Examples
    --------
    >>> empty = ValueHistogram.over(0, 9, buckets=2)
    >>> seen = empty.add(np.array([1, 2, 8]), np.array([1.0, 3.0, 10.0]))
    >>> seen.edges.tolist(), seen.mean.tolist()
    ([0, 5, 10], [2.0, 10.0])
    >>> seen.at(np.array([0, 2, 4, 7, 9])).round(2).tolist()
    [2.89, 2.89, 4.67, 7.33, 7.33]

    References
    ----------
    Xie, Yang and Chen, SIGMOD 2005, section 6.2. The paper splits by standard deviation, which is
    the measure's own noise as much as a change across the bucket: matches are few and random, and
    buckets then gather where noise is, not where rows must be distinguished. So change is estimated
    from the neighbours instead.
    """

    edges: np.ndarray
    count: np.ndarray
    mean: np.ndarray
    squares: np.ndarray

    @classmethod
    def over(cls, lowest: int, highest: int, buckets: int) -> "ValueHistogram":
        """Equal buckets from the lowest number to the highest, nothing seen."""
        most = min(buckets, highest - lowest + 1)
        edges = np.unique(np.linspace(lowest, highest + 1, most + 1).round().astype(np.int64))
        zeros = np.zeros(len(edges) - 1)
        return cls(edges, zeros, zeros, zeros)

    @classmethod
    def from_list(cls, given: list[Any]) -> "ValueHistogram":
        """From what `to_list` gave."""
        return cls(np.array(given[0], np.int64), *(np.array(part, float) for part in given[1:]))

    def to_list(self) -> list[Any]:
        """As plain numbers."""
        return [self.edges.tolist(), *(p.tolist() for p in (self.count, self.mean, self.squares))]

    @property
    def overall(self) -> float:
        """The mean of all that was seen."""
        return float(self.count @ self.mean / max(float(self.count.sum()), 1e-300))

    def add(
        self, number: np.ndarray, measure: np.ndarray, count: np.ndarray | None = None
    ) -> "ValueHistogram":
        """Add observations; numbers beyond the ends belong to the first and the last bucket.

        ``count`` is how many observations each is the mean of, where it is not one.
        """
        if not len(number):
            return self
        weight = np.ones(len(number)) if count is None else count.astype(float)
        bucket = np.searchsorted(self.edges[1:-1], number, side="right")
        size = len(self.count)
        total = np.bincount(bucket, weight, size)
        mean = np.bincount(bucket, weight * measure, size) / np.maximum(total, 1)
        squares = np.bincount(bucket, weight * (measure - mean[bucket]) ** 2, size)
        return ValueHistogram(self.edges, *_together(self._parts(), (total, mean, squares)))

    def faded(self, share: float) -> "ValueHistogram":
        """Decay the weight of past observations."""
        return ValueHistogram(self.edges, self.count * share, self.mean, self.squares * share)

    def covering(self, lowest: int, highest: int) -> "ValueHistogram":
        """Extended, where needed, to cover numbers beyond its ends."""
        edges = self.edges.copy()
        edges[0], edges[-1] = min(edges[0], lowest), max(edges[-1], highest + 1)
        return ValueHistogram(edges, *self._parts())

    def reshaped(self, buckets: int, most: int = 4) -> "ValueHistogram":
        """Split where measures change most, merge where neighbours agree; at most so many times.

        The number of buckets stays within ``buckets``.

        Examples
        --------
        >>> weights = np.repeat([1.0, 1.0, 1.0, 7.0], 4)
        >>> seen = ValueHistogram.over(0, 15, 4).add(np.arange(16), weights)
        >>> seen.reshaped(4, most=1).edges.tolist()
        [0, 8, 12, 14, 16]
        """
        now = self
        for _ in range(most):
            gain = np.where(np.diff(now.edges) > 1, now.count * now._changes() ** 2 / 16, 0.0)
            at = int(np.argmax(gain))
            if gain[at] <= 0:
                return now
            if len(now.count) < buckets:
                now = now._split(at)
                continue
            one, other = now.count[:-1], now.count[1:]
            apart = np.diff(now._drawn())
            loss = one * other / np.maximum(one + other, 1e-300) * apart**2
            loss[max(at - 1, 0) : at + 1] = np.inf
            if not len(loss) or 2 * loss.min() >= gain[at]:
                return now
            low = int(np.argmin(loss))
            now = now._merged(low)._split(at - 1 if low < at else at)
        return now

    def at(self, number: np.ndarray) -> np.ndarray:
        """The expected measure at each number, interpolated between bucket means.

        The mean of a bucket with few observations is shrunk towards the overall mean.
        """
        found: np.ndarray = np.interp(number, self._middles(), self._drawn())
        return found

    def _drawn(self) -> np.ndarray:
        drawn: np.ndarray = (self.count * self.mean + PRIOR * self.overall) / (self.count + PRIOR)
        return drawn

    def _middles(self) -> np.ndarray:
        middles: np.ndarray = (self.edges[:-1] + self.edges[1:] - 1) / 2
        return middles

    def _changes(self) -> np.ndarray:
        """By how much the measure changes from the first number of each bucket to the last.

        A bucket seen from n numbers whose measure changes evenly by d has n d² / 12 of summed
        squares on that account; two halves have a quarter of it.
        """
        changes: np.ndarray = self.at(self.edges[1:] - 1) - self.at(self.edges[:-1])
        return changes

    def _parts(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        return self.count, self.mean, self.squares

    def _split(self, at: int) -> "ValueHistogram":
        middle = (self.edges[at] + self.edges[at + 1]) // 2
        half = (self.count[at] / 2, self.mean[at], self.squares[at] / 2)
        parts = []
        for part, value in zip(self._parts(), half, strict=True):
            halved = part.copy()
            halved[at] = value
            parts.append(np.insert(halved, at + 1, value))
        return ValueHistogram(np.insert(self.edges, at + 1, middle), *parts)

    def _merged(self, at: int) -> "ValueHistogram":
        parts = self._parts()
        one = _together(
            tuple(part[at : at + 1] for part in parts),
            tuple(part[at + 1 : at + 2] for part in parts),
        )
        fewer = []
        for part, value in zip(parts, one, strict=True):
            rest = np.delete(part, at + 1)
            rest[at] = value[0]
            fewer.append(rest)
        return ValueHistogram(np.delete(self.edges, at + 1), *fewer)


def _together(
    one: tuple[np.ndarray, ...], other: tuple[np.ndarray, ...]
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Count, mean and summed squared deviations of two lots taken as one."""
    count = one[0] + other[0]
    share = other[0] / np.maximum(count, 1e-300)
    apart = other[1] - one[1]
    mean = one[1] + apart * share
    return count, mean, one[2] + other[2] + apart**2 * one[0] * share
