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
    tail: np.ndarray
    """Cells of `KeyTail`, in which the lowest bit says that a key came; empty where there are none.
    """
    least: int
    """The count of a cell with which a key comes up."""
    earlier: float
    """What is then thought to have come with it before, on each side."""
    before: int
    """The first places are of keys that do not go into the sketch."""
    found: np.ndarray
    """Codes of the keys that came up, by place."""


@compiled
def cells_of(mark: np.uint64, cells: int) -> tuple[np.int64, np.int64]:
    """The two cells that tell of a key, out of so many."""
    size = np.uint64(cells)
    one, other = mark >> np.uint64(4), mark * SECOND >> np.uint64(24)
    return np.int64(one % size), np.int64(other % size)


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
        if tally.tail.size:
            tally.tail[cells_of(hashes[key] >> np.uint64(16), tally.tail.size)[0]] |= 1
        is_up = True
        if cells.size:
            one_cell, other = cells_of(hashes[key] >> np.uint64(16), cells.size)
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


@compiled
def find_marks(
    marks: np.ndarray, wanted: np.ndarray, slots: np.ndarray, places: np.ndarray
) -> None:
    """Set the place of each wanted mark among the marks; of equal ones the first.

    Slots are zeros, a power of two of them and more than there are marks: a hash table of places,
    one higher each.
    """
    mask = np.int64(slots.size - 1)
    for place in range(marks.size):
        at = np.int64(marks[place] * SECOND >> np.uint64(20)) & mask
        while slots[at] and marks[slots[at] - 1] != marks[place]:
            at = (at + 1) & mask
        if not slots[at]:
            slots[at] = place + 1
    for key in range(wanted.size):
        at = np.int64(wanted[key] * SECOND >> np.uint64(20)) & mask
        while slots[at] and marks[slots[at] - 1] != wanted[key]:
            at = (at + 1) & mask
        if slots[at]:
            places[key] = slots[at] - 1


@compiled
def find_classes(
    hashes: np.ndarray,
    places: np.ndarray,
    counted: np.int64,
    cells: np.ndarray,
    class_of_cell: np.ndarray,
    found: np.ndarray,
) -> None:
    """Set the class of each key whose place is not among the first so many."""
    for key in range(hashes.size):
        if 0 <= places[key] < counted:
            continue
        cell = cells_of(hashes[key] >> np.uint64(16), cells.size)[0]
        found[key] = class_of_cell[cells[cell] >> 1]


@compiled
def raise_cells(marks: np.ndarray, counts: np.ndarray, cells: np.ndarray) -> None:
    """Raise the cells of keys to what they came at least."""
    for key in range(marks.size):
        cell = cells_of(marks[key], cells.size)[0]
        cells[cell] = max(cells[cell], counts[key] << 1 | cells[cell] & 1)
