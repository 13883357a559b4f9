"""The classes of rows that match density is learned for: key rate, matches, recency and age.

Ages, and times since the last match (*gaps*), are cut at fixed shares of the row's window, rounded
up to whole ticks of the longer window, so that a class changes at a tick only. Rates are on a fixed
scale of matches expected in a window, so that what was learned stays true when key counts change.
"""

from typing import NamedTuple

import numpy as np

RATES = 9
"""Classes of key rate: the first for keys that are not counted."""
RATE_STEP, LEAST_RATE = 2.0, -3.0
"""Of two classes the next has 2 ** `RATE_STEP` times the matches; the least of them 2 ** -3."""
MATCHES = 4
"""Classes of matches so far: none, one, two or three, more."""
GAP_EDGES = (1 / 512, 1 / 128, 1 / 32, 1 / 8, 1 / 2)
AGE_EDGES = (1 / 128, 1 / 64, 1 / 32, *(part / 16 for part in range(1, 16)))
GAPS, AGES = len(GAP_EDGES) + 1, len(AGE_EDGES) + 1
SHAPE = (2, RATES, MATCHES, GAPS, AGES)
TICKS = 2048
"""Ticks of the longer window at most; it has half as many at least."""
NEVER = np.int64(1 << 62)
NEWCOMER = 0.95
"""What an arrival counts for beside rows that are stored: where densities hardly differ, rows stay
to reach the age at which they match."""


class DensityClasses(NamedTuple):
    """Classes of rows for two windows.

    Examples
    --------
    >>> classes = DensityClasses((1000, 0))
    >>> classes.shift, classes.gap_edges(0).tolist()[:-1]
    (0, [0, 2, 8, 32, 125, 500])
    """

    windows_us: tuple[int, int]

    @property
    def shift(self) -> int:
        """A tick lasts 2 ** `shift` microseconds."""
        return max(max(self.windows_us).bit_length() - TICKS.bit_length() + 1, 0)

    def age_edges(self, side: int) -> np.ndarray:
        """Where classes of age begin, in microseconds; the last entry is later than any age."""
        return self._edges(side, AGE_EDGES)

    def gap_edges(self, side: int) -> np.ndarray:
        """Likewise, of the time since the last match."""
        return self._edges(side, GAP_EDGES)

    def _edges(self, side: int, parts: tuple[float, ...]) -> np.ndarray:
        tick = 1 << self.shift
        ticks = np.ceil(np.array(parts) * self.windows_us[side] / tick).astype(np.int64)
        return np.concatenate([[0], np.maximum(ticks, 1) * tick, [NEVER]])

    def class_of_tick(self, edges: np.ndarray) -> np.ndarray:
        """The class of each number of whole ticks, for edges that one of the above gave."""
        ticks = np.arange(TICKS) << self.shift
        found: np.ndarray = np.searchsorted(edges, ticks, side="right") - 1
        return found.astype(np.int64)

    def in_ticks(self, edges: np.ndarray) -> np.ndarray:
        """Where each class begins, in whole ticks; the last entry stays later than any."""
        ticks: np.ndarray = np.where(edges == NEVER, NEVER, edges >> self.shift)
        return ticks

    def rate_places(self, side: int, weight: np.ndarray) -> np.ndarray:
        """Where keys are on the scale of rates, between two classes where it is no whole number.

        ``weight`` is in matches a microsecond; 0 where the key is not counted.

        Examples
        --------
        >>> DensityClasses((1000, 0)).rate_places(0, np.array([0.0, 1e-9, 0.001, 0.004])).tolist()
        [0.0, 1.0, 2.5, 3.5]
        """
        matches = weight * self.windows_us[side]
        known = matches > 0
        place = (np.log2(np.where(known, matches, 1.0)) - LEAST_RATE) / RATE_STEP + 1
        found: np.ndarray = np.where(known, np.clip(place, 1.0, RATES - 1.0), 0.0)
        return found

    def class_rates(self, side: int) -> np.ndarray:
        """Matches a microsecond in the middle of each class of rates; of the first, none."""
        matches = 2.0 ** (LEAST_RATE + RATE_STEP * (np.arange(RATES) - 1))
        matches[0] = 0.0
        rates: np.ndarray = matches / max(self.windows_us[side], 1)
        return rates


def match_class(matches: int) -> int:
    """The class of a number of matches.

    Examples
    --------
    >>> [match_class(matches) for matches in (0, 1, 2, 3, 4, 99)]
    [0, 1, 2, 2, 3, 3]
    """
    return min(matches, 2) + (matches > 3)
