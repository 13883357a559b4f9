"""Key skew: a fitted Zipf exponent and the share of the heaviest keys."""

from typing import NamedTuple

import numpy as np
import pyarrow as pa

from headgate.models.frequencies import KeyFrequencies
from headgate.profiles.facts import Skew

RANKS = (1, 10, 100, 1000)
STEEPEST = 20.0
SUMMED_EXACTLY = 10_000


class KeyCounts(NamedTuple):
    """Row counts of a side's heavy keys, and totals over all keys."""

    columns: tuple[pa.ChunkedArray, ...]
    """The heavy keys, heaviest first."""
    counts: np.ndarray
    rows: int
    """Rows with a key, heavy or not."""
    keys: int
    """Different keys, heavy or not."""
    same: float
    """Ordered pairs of rows that share a key: the sum of n(n − 1) over all keys."""
    hashes: np.ndarray
    """The hashes of the heavy keys, by which keys are drawn; uint64."""

    @property
    def frequencies(self) -> KeyFrequencies:
        """The heavy keys with their share of all rows that have a key."""
        return KeyFrequencies(self.columns, self.counts / max(self.rows, 1))

    @property
    def skew(self) -> Skew:
        """The figures that a profile reports."""
        so_far = np.cumsum(self.counts) / max(self.rows, 1)
        tops = {rank: float(so_far[rank - 1]) for rank in RANKS if rank <= len(so_far)}
        alike = self.same / (self.rows * (self.rows - 1)) if self.rows > 1 else 0.0
        return Skew(self.keys, len(self.counts), fitted_zipf(alike, self.keys), tops)


def fitted_zipf(alike: float, keys: int) -> float:
    """The Zipf exponent at which two rows share a key with probability ``alike``.

    The probability that two rows share a key can be estimated without bias, however few rows a key
    has; a line fitted to ranked counts would find skew in the noise of uniform keys.

    Examples
    --------
    >>> fitted_zipf(alike=1 / 50, keys=50)
    0.0
    >>> shares = 1 / np.arange(1, 1001) ** 1.2
    >>> round(fitted_zipf(float((shares**2).sum() / shares.sum() ** 2), 1000), 6)
    1.2
    """
    if keys < 2 or alike <= 1.0 / keys:
        return 0.0
    low, high = 0.0, STEEPEST
    for _ in range(60):
        middle = (low + high) / 2
        if _power_sum(keys, 2 * middle) / _power_sum(keys, middle) ** 2 < alike:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def _power_sum(keys: int, exponent: float) -> float:
    """The sum of 1/k^exponent for k up to ``keys``; the far tail by the trapezoid of its ends."""
    near = min(keys, SUMMED_EXACTLY)
    total = float((np.arange(1, near + 1, dtype=np.float64) ** -exponent).sum())
    if keys == near:
        return total
    a, b = near + 1.0, float(keys)
    if abs(exponent - 1.0) < 1e-12:
        tail = float(np.log(b / a))
    else:
        tail = (b ** (1 - exponent) - a ** (1 - exponent)) / (1 - exponent)
    return total + float(tail + (a**-exponent + b**-exponent) / 2)
