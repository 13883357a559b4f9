"""Counting keys by code, and which of them come most often."""

import numpy as np

from headgate.compiling import compiled
from headgate.kernel.layout import NULL_KEY
from headgate.kernel.rows import Rows


def count_keys(counts: np.ndarray, arriving: tuple[Rows, Rows], most: int) -> np.ndarray:
    """Add arrivals to the counts, by code and side; the codes of so many that come most often."""
    for side, batch in enumerate(arriving):
        _count(np.require(batch.code, np.int32, ["C", "W"]), side, counts)
    total = counts[:, 0] + counts[:, 1]
    tracked = np.flatnonzero(total)
    if len(tracked) > most:
        tracked = tracked[_most_frequent(total[tracked], most)]
    return tracked


@compiled
def _count(code: np.ndarray, side: int, counts: np.ndarray) -> None:
    for row in range(code.size):
        if code[row] != NULL_KEY:
            counts[code[row], side] += 1.0


def _most_frequent(counts: np.ndarray, most: int) -> np.ndarray:
    """The places of the greatest counts, ascending; of equal ones the first."""
    least = np.partition(counts, len(counts) - most)[len(counts) - most]
    chosen = counts > least
    equal = np.flatnonzero(counts == least)
    chosen[equal[: most - int(np.count_nonzero(chosen))]] = True
    return np.flatnonzero(chosen)
