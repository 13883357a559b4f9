"""Counting keys by code, and which of them come most often.

Keys are counted in the order in which they came up, so that counts and ties come out the same
however arrivals are cut into steps. There is room for few: those tracked are counted exactly, all
others in a sketch of small counters that keys share by their hash, until one comes up often enough
to be counted by itself.
"""

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from headgate.compiling import compiled
from headgate.kernel.layout import NULL_KEY
from headgate.kernel.rows import Rows

TRACKED, FRESH = 0.6, 0.1
"""Parts of the room for keys: for those tracked from epoch to epoch, and for those that came up in
this one. What is left is for the sketch that tells which of all the others come more than once."""
MOST_SKETCHED = 15
"""A cell of the sketch counts no further, in four bits."""
CELLS_A_BYTE = 2
EARLIER = 0.25
"""Of the arrivals that brought a key up, the part that is thought to be its own: others share its
cell."""


class KeyRoom(NamedTuple):
    """How many keys are counted: tracked, fresh ones besides, and cells of the sketch."""

    tracked: int
    fresh: int
    cells: int

    @classmethod
    def of(cls, most: int, entry_bytes: int) -> "KeyRoom":
        """For so many entries, of so many bytes each.

        Examples
        --------
        >>> KeyRoom.of(100, entry_bytes=24)
        KeyRoom(tracked=60, fresh=10, cells=1440)
        """
        tracked, fresh = -int(-most * TRACKED // 1), int(most * FRESH)
        return cls(tracked, fresh, (most - tracked - fresh) * entry_bytes * CELLS_A_BYTE)


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
            fits = np.flatnonzero(reached[1:] <= max(room.fresh, 1))
            least = int(fits[0]) + 1 if len(fits) else MOST_SKETCHED
        return Sketch(np.zeros(room.cells, np.uint8), least)

    def add(self, hashes: np.ndarray) -> np.ndarray:
        """Count keys, given by their hashes in event order; whether each has come up by then."""
        if not len(self.cells):
            return np.ones(len(hashes), np.bool_)
        cell = (hashes % np.uint64(len(self.cells))).astype(np.int64)
        order = np.argsort(cell, kind="stable")
        ordered = cell[order]
        first = np.flatnonzero(np.diff(ordered, prepend=-1))
        rank = np.empty(len(cell), np.int64)
        rank[order] = np.arange(len(cell)) - np.repeat(first, np.diff(np.append(first, len(cell))))
        up: np.ndarray = self.cells[cell] + rank + 1 >= self.least
        more = np.bincount(cell, minlength=len(self.cells))
        self.cells = np.minimum(self.cells + more, MOST_SKETCHED).astype(np.uint8)
        return up


class Newcomers(NamedTuple):
    """Keys that came up in a step, in event order, and their arrivals from then on."""

    code: np.ndarray
    counts: np.ndarray
    """By key and side."""

    @classmethod
    def none(cls) -> "Newcomers":
        """No key came up."""
        return cls(np.empty(0, np.int64), np.zeros((0, 2)))


class KeyArrivals(NamedTuple):
    """Arrivals of a step by key."""

    arriving: tuple[Rows, Rows]
    codes: int
    """How many codes there are."""
    hashes: np.ndarray | None
    """Of the keys, by code; None where codes always mean the same."""

    def newcomers(self, tracked: np.ndarray, before: int, sketch: Sketch, room: int) -> Newcomers:
        """Keys to be counted from now on, beside those tracked, of which ``before`` were from the
        beginning of the epoch; as many as there is room for."""
        was_counted, is_counted = (np.zeros(self.codes + 1, np.bool_) for _ in range(2))
        was_counted[tracked[:before]] = True
        is_counted[tracked] = True
        was_counted[NULL_KEY] = is_counted[NULL_KEY] = True
        chosen = [~was_counted[rows.code] for rows in self.arriving]
        code = np.concatenate([r.code[c] for r, c in zip(self.arriving, chosen, strict=True)])
        if not len(code):
            return Newcomers.none()
        key = np.concatenate(
            [2 * r.time[c] + s for s, (r, c) in enumerate(zip(self.arriving, chosen, strict=True))]
        )
        order = np.argsort(key, kind="stable")
        code, side = code[order], (key & 1)[order]
        up = sketch.add(self._hashes(code)) & ~is_counted[code]
        if room <= 0 or not up.any():
            return Newcomers.none()
        place = np.flatnonzero(up)
        since = np.full(self.codes + 1, len(code), np.int64)
        since[code[place][::-1]] = place[::-1]
        found = code[place[since[code[place]] == place]][:room]
        number = np.full(self.codes + 1, -1, np.int64)
        number[found] = np.arange(len(found))
        own = (number[code] >= 0) & (np.arange(len(code)) >= since[code])
        earlier = (sketch.least - 1) * EARLIER / 2 if len(sketch.cells) else 0.0
        counts = np.full((len(found), 2), earlier)
        np.add.at(counts, (number[code[own]], side[own]), 1.0)
        return Newcomers(found.astype(np.int64), counts)

    def _hashes(self, code: np.ndarray) -> np.ndarray:
        if self.hashes is not None:
            hashes: np.ndarray = self.hashes[code]
            return hashes
        mixed: np.ndarray = (code.astype(np.uint64) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
        return mixed >> np.uint64(20)

    def counted(self, tracked: np.ndarray) -> np.ndarray:
        """How many arrivals of each side have each of these keys."""
        counts = np.zeros((self.codes, 2))
        for side, batch in enumerate(self.arriving):
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
