"""The loop that counts rows by key, one by one in event order."""

from typing import NamedTuple

import numpy as np

from headgate.compiling import compiled
from headgate.kernel.layout import NULL_KEY

MOST_SKETCHED = 15
"""A cell of the sketch counts no further, in four bits."""


SECOND = np.uint64(0xD6E8FEB86659FD93)
"""Makes a second hash of a key."""


class KeyTally(NamedTuple):
    """Counts of keys, and a sketch of those that are not counted by themselves."""

    places: np.ndarray
    """Where the counts of keys are, by code; negative where there are none."""
    counts: np.ndarray
    """By place and side."""
    stands_for: np.ndarray
    """By code and side, how many rows each stands for; empty where it is one."""
    cells: np.ndarray
    least: int
    """The count of a cell with which a key comes up."""
    earlier: float
    """What is then thought to have come with it before, on each side."""
    before: int
    """The first places are of keys that do not go into the sketch."""
    found: np.ndarray
    """Codes of the keys that came up, by place."""


@compiled
def add_up(
    code: np.ndarray, side: np.ndarray, hashes: np.ndarray, tally: KeyTally, used: int
) -> np.int64:
    """Count rows; how many places are in use after that, of which so many were before."""
    places, counts, cells = tally.places, tally.counts, tally.cells
    room = counts.shape[0]
    for row in range(code.size):
        key = code[row]
        if key == NULL_KEY:
            continue
        one = tally.stands_for[key, side[row]] if tally.stands_for.size else 1.0
        place = places[key]
        if place >= 0:
            counts[place, side[row]] += one
            if place < tally.before:
                continue
        is_up = True
        if cells.size:
            size = np.uint64(cells.size)
            one_cell = np.int64((hashes[key] >> np.uint64(20)) % size)
            other = np.int64((hashes[key] * SECOND >> np.uint64(20)) % size)
            came = min(cells[one_cell], cells[other])
            if came < MOST_SKETCHED:
                came += 1
                cells[one_cell] = max(cells[one_cell], came)
                cells[other] = max(cells[other], came)
            is_up = came >= tally.least
        if place < 0 and is_up and used < room:
            places[key] = used
            tally.found[used] = key
            counts[used, 0] = tally.earlier
            counts[used, 1] = tally.earlier
            counts[used, side[row]] += one
            used += 1
    return np.int64(used)
