"""The loop that counts rows by key, one by one in event order."""

from typing import NamedTuple

import numpy as np

from headgate.compiling import compiled, prefetch
from headgate.kernel.layout import NULL_KEY
from headgate.policies.chance import draw_one

MOST_SKETCHED = 15
"""A cell of the sketch counts no further, in four bits."""

AT_ONCE = 128

SECOND = np.uint64(0xD6E8FEB86659FD93)
"""Makes a second hash of a key."""


class Fetched(NamedTuple):
    """ArrivalsToCount that are about to be counted."""

    keys: np.ndarray
    sides: np.ndarray

    @classmethod
    def room(cls) -> "Fetched":
        """For as many as fit into the cache of a processor several times over."""
        return cls(np.zeros(AT_ONCE, np.int32), np.zeros(AT_ONCE, np.uint8))


class ArrivalsToCount(NamedTuple):
    """The arrivals of a step, first the left ones."""

    code: np.ndarray
    first: int
    """The number of the first of them, among all rows that are put in order."""
    first_right: int
    """Where right ones begin among them."""
    fetched: Fetched
    """Room for some of them."""


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
def remainder(number: np.uint64, size: int) -> np.int64:
    """Of a number below 2 ** 52 divided by a size: by a product, which takes a tenth of the time.

    The quotient may be off by one, either way.
    """
    whole = np.int64(number)
    left = whole - np.int64(np.float64(whole) * (1.0 / np.float64(size))) * np.int64(size)
    if left < 0:
        return left + size
    return left - size if left >= size else left


@compiled
def cells_of(mark: np.uint64, cells: int) -> tuple[np.int64, np.int64]:
    """The two cells that tell of a key, out of so many."""
    return (
        remainder(mark >> np.uint64(4), cells),
        remainder(mark * SECOND >> np.uint64(24), cells),
    )


@compiled
def add_up(
    order: np.ndarray, arrivals: ArrivalsToCount, hashes: np.ndarray, tally: KeyTally, used: int
) -> np.int64:
    """Count arrivals in this order; how many places are in use after that, of which so many were
    before."""
    at = 0
    fetched = arrivals.fetched
    keys, sides = fetched.keys, fetched.sides
    while at < order.size:
        # What is looked up at random is fetched for many rows before any of them is counted, so
        # that the processor need not wait for one after the other.
        taken = 0
        while at < order.size and taken < keys.size:
            row = order[at] - arrivals.first
            at += 1
            if row < 0 or row >= arrivals.code.size or arrivals.code[row] == NULL_KEY:
                continue
            keys[taken] = arrivals.code[row]
            sides[taken] = 0 if row < arrivals.first_right else 1
            prefetch(hashes, keys[taken])
            prefetch(tally.places, keys[taken])
            taken += 1
        for row in range(taken):
            used = add_row(keys[row], sides[row], hashes[keys[row]], tally, used)
    return np.int64(used)


@compiled
def add_row(key: int, side: int, word: np.uint64, tally: KeyTally, used: int) -> np.int64:
    """Count a row of a key with this hash; how many places are in use after that."""
    places, counts, cells = tally.places, tally.counts, tally.cells
    one = tally.stands_for[key, side] if tally.stands_for.size else 1.0
    place = places[key]
    if place >= 0:
        counts[place, side] += one
        if place < tally.before:
            return np.int64(used)
    if tally.tail.size:
        tally.tail[remainder(word >> np.uint64(20), tally.tail.size)] |= 1
    is_up = True
    if cells.size:
        one_cell, other = cells_of(word >> np.uint64(16), cells.size)
        came = min(cells[one_cell], cells[other])
        if came < MOST_SKETCHED:
            came += 1
            cells[one_cell] = max(cells[one_cell], came)
            cells[other] = max(cells[other], came)
        is_up = came >= tally.least
    if place < 0 and is_up and used < counts.shape[0]:
        places[key] = used
        tally.found[used] = key
        counts[used, 0] = tally.earlier
        counts[used, 1] = tally.earlier
        counts[used, side] += one
        used += 1
    return np.int64(used)


@compiled
def find_marks(
    marks: np.ndarray, hashes: np.ndarray, slots: np.ndarray, places: np.ndarray
) -> None:
    """Set the place of each key's mark among the marks; of equal ones the first.

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
    for key in range(hashes.size):
        mark = hashes[key] >> np.uint64(16)
        at = np.int64(mark * SECOND >> np.uint64(20)) & mask
        while slots[at] and marks[slots[at] - 1] != mark:
            at = (at + 1) & mask
        if slots[at]:
            places[key] = slots[at] - 1


@compiled
def find_levels(
    hashes: np.ndarray,
    places: np.ndarray,
    counted: np.int64,
    cells: np.ndarray,
    class_of_cell: np.ndarray,
    level: np.ndarray,
) -> None:
    """Set the level of each key: its place if that is among the first so many; else, behind
    these, its class in a tail of keys, if that has cells."""
    for key in range(level.size):
        if 0 <= places[key] < counted:
            level[key] = places[key]
        elif cells.size:
            cell = remainder(hashes[key] >> np.uint64(20), cells.size)
            level[key] = counted + class_of_cell[cells[cell] >> 1]


@compiled
def raise_cells(marks: np.ndarray, counts: np.ndarray, cells: np.ndarray) -> None:
    """Raise the cells of keys to what they came at least."""
    for key in range(marks.size):
        cell = remainder(marks[key] >> np.uint64(4), cells.size)
        cells[cell] = max(cells[cell], counts[key] << 1 | cells[cell] & 1)


@compiled
def age_cells(cells: np.ndarray, factor: float, most: int, seed: int, drawn: int) -> None:
    """Discount the cells of a tail by a factor, and take in what came; see `KeyTail.forget`.

    Random numbers begin with the one that was drawn last.
    """
    for cell in range(cells.size):
        # Empty ones too: to draw for all is quicker than to look which.
        chance = draw_one(seed, np.uint8(0), np.int64(drawn + cell))
        known = np.int64(np.float64(cells[cell] >> 1) * factor + chance)
        known += cells[cell] & 1
        cells[cell] = min(known, most) << 1
