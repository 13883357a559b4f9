"""Counting keys, and which of them come most often.

A key that is counted is told by 48 bits of its hash: an entry is small, whatever the keys are like,
and as many as possible are counted by themselves. Two keys of the same hash share a count; among a
hundred thousand keys the chance is one in fifty thousand. All other keys are counted in a sketch of
small cells that keys share, until one comes up often enough to be counted by itself. Rows are
counted one by one in event order, so that counts and ties come out the same however arrivals are
cut into steps.
"""

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from headgate.kernel.layout import NULL_KEY
from headgate.kernel.ordered_rows import InOrder
from headgate.kernel.rows import Rows
from headgate.learning.key_tally import (
    MOST_SKETCHED,
    ArrivalsToCount,
    Fetched,
    KeyTally,
    add_up,
    find_marks,
)

COUNT_BYTES = 16
"""Of an entry: six of the hash, two for each side of the epochs before, three of this one."""
TRACKED, FRESH = 0.6, 0.1
"""Parts of the room for keys: for those tracked from epoch to epoch, and for those that came up in
this one. What is left is for the sketch that tells which of all the others come more than once."""
CELLS_A_BYTE = 2
EARLIER = 0.5
"""Of the arrivals that brought a key up, the part that is thought to be its own: others share its
cell."""
UNCOUNTED = -1
SLOTS_A_MARK = 8


class KeyRoom(NamedTuple):
    """How many keys are counted: tracked, fresh ones besides, and cells of the sketch."""

    tracked: int
    fresh: int
    cells: int

    @classmethod
    def of(cls, most: int) -> "KeyRoom":
        """For so many entries.

        Examples
        --------
        >>> KeyRoom.of(100)
        KeyRoom(tracked=60, fresh=10, cells=960)
        """
        tracked, fresh = -int(-most * TRACKED // 1), int(most * FRESH)
        return cls(tracked, fresh, (most - tracked - fresh) * COUNT_BYTES * CELLS_A_BYTE)


@dataclass
class Sketch:
    """How often keys that are not tracked came in this epoch, in cells that they share.

    Parameters
    ----------
    cells
        Counts by hash.
    least
        The count with which a key comes up, and is counted by itself from then on.
    """

    cells: np.ndarray = field(default_factory=lambda: np.zeros(0, np.uint8))
    least: int = 2

    def emptied(self, room: KeyRoom) -> "Sketch":
        """For the next epoch; as many keys should come up as there is room for."""
        least = self.least
        if len(self.cells):
            found = np.bincount(self.cells, minlength=MOST_SKETCHED + 1)
            reached = np.cumsum(found[::-1])[::-1]
            fits = np.flatnonzero(reached[1:] <= 2 * max(room.fresh, 1))
            least = int(fits[0]) + 1 if len(fits) else MOST_SKETCHED
        return Sketch(np.zeros(room.cells, np.uint8), least)


def marks_of(hashes: np.ndarray) -> np.ndarray:
    """What keys of these hashes are told by."""
    marks: np.ndarray = hashes >> np.uint64(16)
    return marks


def places_of(marks: np.ndarray, hashes: np.ndarray) -> np.ndarray:
    """For each key the place of its mark, or -1; the last of the keys is null.

    Examples
    --------
    >>> places_of(np.array([9, 4], np.uint64), np.array([4, 5, 9, 9], np.uint64) << 16).tolist()
    [1, -1, 0, -1]
    """
    places = np.full(len(hashes), UNCOUNTED, np.int32)
    if len(marks):
        # Most keys are not counted, and of few slots in use most tell so at once.
        slots = np.zeros(1 << (SLOTS_A_MARK * len(marks) - 1).bit_length(), np.int32)
        find_marks(marks, hashes, slots, places)
        places[NULL_KEY] = UNCOUNTED
    return places


class KeyCounting(NamedTuple):
    """The arrivals of a step, to be counted by key."""

    arriving: tuple[Rows, Rows]
    in_order: InOrder
    """The order in which they came."""
    hashes: np.ndarray
    """Of the keys, by code."""
    places: np.ndarray
    """Of the keys counted, by code; keys that come up get one."""
    stands_for: np.ndarray | None = None
    """By code and side, how many rows each arrival stands for; one where left out."""

    def add(
        self, fresh: np.ndarray, before: int, sketch: Sketch, tail: np.ndarray, most: int
    ) -> tuple[np.ndarray, np.ndarray]:
        """Add arrivals to the counts of an epoch, by key and side, and to its sketch.

        Returns the counts with those of keys that came up, and the codes of these.

        Parameters
        ----------
        before
            How many of the keys were counted from the beginning of the epoch.
        tail
            Cells that note which other keys came in it; see `KeyTail`.
        most
            How many may be counted.
        """
        left, right = (rows.code for rows in self.arriving)
        code = np.concatenate([left, right]).astype(np.int32, copy=False)
        if not len(code):
            return fresh, np.empty(0, np.int64)
        counts = np.zeros((max(most, len(fresh)), 2))
        counts[: len(fresh)] = fresh
        found = np.zeros(len(counts), np.int64)
        tally = KeyTally(
            places=self.places,
            counts=counts,
            stands_for=np.zeros((0, 2)) if self.stands_for is None else self.stands_for,
            cells=sketch.cells,
            tail=tail,
            least=sketch.least,
            earlier=(sketch.least - 1) * EARLIER / 2 if len(sketch.cells) else 0.0,
            before=before,
            found=found,
        )
        arrivals = ArrivalsToCount(code, self.in_order.first_arrival, len(left), Fetched.room())
        used = add_up(self.in_order.order, arrivals, self.hashes, tally, len(fresh))
        return counts[:used], found[len(fresh) : used]


def mixed(codes: int) -> np.ndarray:
    """Hashes of keys whose codes always mean the same, by code."""
    numbers = np.arange(1, codes + 2, dtype=np.uint64)
    hashes: np.ndarray = numbers * np.uint64(0x9E3779B97F4A7C15)
    return hashes


def padded(counts: np.ndarray, rows: int) -> np.ndarray:
    """Counts with rows of zeros behind them, for keys that were not counted before."""
    more = np.zeros((rows - len(counts), 2))
    return np.concatenate([counts, more]) if len(more) else counts


def short(counts: np.ndarray) -> np.ndarray:
    """Counts in the precision of two bytes, which is more than is known.

    Examples
    --------
    >>> short(np.array([0.0, 1.0, 3.14159, 1e6])).tolist()
    [0.0, 1.0, 3.140625, 999424.0]
    """
    bits = counts.astype(np.float32).view(np.uint32) + np.uint32(0x8000)
    rounded: np.ndarray = (bits & np.uint32(0xFFFF0000)).view(np.float32).astype(np.float64)
    return rounded


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
    if not most:  # a smaller budget has no room for any
        return found[:0]
    own = counts[found]
    least = np.partition(own, len(own) - most)[len(own) - most]
    chosen = own > least
    equal = np.flatnonzero(own == least)
    chosen[equal[: most - int(np.count_nonzero(chosen))]] = True
    places: np.ndarray = found[chosen]
    return places
