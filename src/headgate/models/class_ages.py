"""Match rates of rows by class and age, where the columns of a row say its class.

Ages are cut at fixed shares of the row's window, rounded up to whole ticks of the longer window, so
that what a row is worth changes at a tick only.
"""

from dataclasses import dataclass

import numpy as np

PARTS = np.array([0, 1, 2, 4, 8, 15, 22, 30, 40, 50, 60, 70, 80, 90, 100, 110]) / 120
"""Where classes of age begin, as shares of the window."""
AGES = len(PARTS)
MOST_CLASSES = 32
"""Of a side."""
TICKS = 2048
"""Ticks of the longer window at most; it has half as many at least."""


@dataclass(frozen=True, eq=False)
class ClassAges:
    """Matches a microsecond of rows of each class, by age.

    Parameters
    ----------
    windows_us
        How long rows of each side wait.
    rates
        Of each side, by class and age.

    Examples
    --------
    >>> shipped, lost = [1.0] * 8 + [0.0] * 8, [0.0] * 16
    >>> known = ClassAges((1200, 0), (np.array([shipped, lost]), np.zeros((1, 16))))
    >>> known.scores(0)[:, [0, 8]].tolist()
    [[1.0, 0.0], [0.0, 0.0]]
    """

    windows_us: tuple[int, int]
    rates: tuple[np.ndarray, np.ndarray]

    @classmethod
    def empty(cls) -> "ClassAges":
        """Of rows that nobody waits for."""
        return cls((0, 0), (np.zeros((1, AGES)), np.zeros((1, AGES))))

    @property
    def classes(self) -> int:
        """How many classes the side with more of them has."""
        return max(len(rates) for rates in self.rates)

    @property
    def shift(self) -> int:
        """A tick lasts 2 ** `shift` microseconds."""
        return max(max(self.windows_us).bit_length() - TICKS.bit_length() + 1, 0)

    def starts(self, side: int) -> np.ndarray:
        """Where classes of age begin, in ticks."""
        ticks = np.ceil(PARTS * self.windows_us[side] / (1 << self.shift)).astype(np.int64)
        ticks[1:] = np.maximum(ticks[1:], 1)
        found: np.ndarray = ticks
        return found

    def scores(self, side: int) -> np.ndarray:
        """By class and age, the greatest mean rate of matches from there to any later age.

        A row that is to be kept until then brings so much for the time that it takes.
        """
        rates, window = self.rates[side], max(self.windows_us[side], 1)
        widths = np.diff(np.append(PARTS, 1.0)) * window
        best = np.zeros_like(rates)
        for first in range(AGES):
            matches = np.cumsum(rates[:, first:] * widths[first:], axis=1)
            best[:, first] = (matches / np.cumsum(widths[first:])).max(axis=1)
        return best


def coarse_ages(buckets: int) -> np.ndarray:
    """The class of age of each of so many even parts of a window.

    Examples
    --------
    >>> coarse_ages(120)[[0, 1, 3, 119]].tolist()
    [0, 1, 2, 15]
    """
    found: np.ndarray = (
        np.searchsorted(PARTS, np.arange(buckets) / buckets + 1e-9, side="right") - 1
    )
    return found.astype(np.int64)
