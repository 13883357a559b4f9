"""Counting keys by code, and which of them come most often.

Keys are counted in the order in which they first came, so that counts and ties come out the same
however arrivals are cut into steps.
"""

import numpy as np

from headgate.compiling import compiled
from headgate.kernel.layout import NULL_KEY
from headgate.kernel.rows import Rows

FRESH = 0.5
"""The part of the room for keys that is for those that first came in this epoch."""


def most_tracked(most: int) -> int:
    """How many keys are tracked from epoch to epoch, where there is room for so many in all."""
    return most - int(most * FRESH)


def with_new(tracked: np.ndarray, arriving: tuple[Rows, Rows], codes: int, most: int) -> np.ndarray:
    """The codes of keys that are counted, and of those that are counted from now on.

    Keys that are not counted yet follow in the order in which they come, while there is room.
    """
    room = most - len(tracked)
    if room <= 0:
        return tracked
    is_new = np.ones(codes + 1, np.bool_)
    is_new[tracked] = False
    is_new[NULL_KEY] = False
    new = [rows.code[is_new[rows.code]] for rows in arriving]
    keys = [2 * rows.time[is_new[rows.code]] + side for side, rows in enumerate(arriving)]
    code = np.concatenate(new)
    if not len(code):
        return tracked
    code = code[np.argsort(np.concatenate(keys), kind="stable")]
    first = np.full(codes, -1, np.int64)
    first[code[::-1]] = np.arange(len(code))[::-1]
    found = code[first[code] == np.arange(len(code))]
    return np.concatenate([tracked, found[:room]])


def count_keys(tracked: np.ndarray, arriving: tuple[Rows, Rows], codes: int) -> np.ndarray:
    """How many arrivals of each side have each of these keys."""
    counts = np.zeros((codes, 2))
    for side, batch in enumerate(arriving):
        _count(np.require(batch.code, np.int32, ["C", "W"]), side, counts)
    counted: np.ndarray = counts[tracked]
    return counted


def padded(counts: np.ndarray, rows: int) -> np.ndarray:
    """Counts with rows of zeros behind them, for keys that were not counted before."""
    more = np.zeros((rows - len(counts), 2))
    return np.concatenate([counts, more]) if len(more) else counts


@compiled
def _count(code: np.ndarray, side: int, counts: np.ndarray) -> None:
    for row in range(code.size):
        if code[row] != NULL_KEY:
            counts[code[row], side] += 1.0


def most_frequent(counts: np.ndarray, most: int) -> np.ndarray:
    """The places of the greatest counts, ascending; of equal ones the first.

    Examples
    --------
    >>> most_frequent(np.array([3.0, 0.0, 2.0, 2.0]), 2).tolist()
    [0, 2]
    """
    found = np.flatnonzero(counts)
    if len(found) <= most:
        return found
    own = counts[found]
    least = np.partition(own, len(own) - most)[len(own) - most]
    chosen = own > least
    equal = np.flatnonzero(own == least)
    chosen[equal[: most - int(np.count_nonzero(chosen))]] = True
    places: np.ndarray = found[chosen]
    return places
