"""Rows that are followed through their whole window, and which arrivals are chosen for it."""

from typing import NamedTuple

import numpy as np

from headgate.policies.chance import uniform
from headgate.spec import Window


class Watched(NamedTuple):
    """What is known of rows that may be watched, an entry a row."""

    state: np.ndarray  # uint8, `Watch`
    met: np.ndarray  # float64, what partners found while watched were worth, stored or not
    made: np.ndarray  # float64, of those that made a pair

    @classmethod
    def none(cls, rows: int) -> "Watched":
        """No row is watched."""
        return cls(*(np.zeros(rows, kind) for kind in (np.uint8, np.float64, np.float64)))


class Watching(NamedTuple):
    """Which arrivals to watch: a random share, the same on every restart."""

    seed: int
    share: float
    buckets: int
    """Into how many buckets of age a window is cut to count what watched rows meet."""
    sides: tuple[bool, bool] = (True, True)
    """Whose rows to watch; those of a side that waits for nobody meet nobody."""

    def chooses(self, side: np.ndarray, sequence: np.ndarray) -> np.ndarray:
        """Whether each row is to be watched."""
        chosen: np.ndarray = uniform(self.seed, side, sequence) < self.share
        return chosen


def bucket_us(window: Window, buckets: int) -> int:
    """How long a bucket of age is: the window's length in so many parts, rounded up."""
    return -(-max(window.span, 1) // buckets)
