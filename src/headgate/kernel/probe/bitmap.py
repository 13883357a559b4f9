"""The bitmap: who is stored, by key and value (`ranges.py`), in the kernel's own records."""

from typing import Any

import numpy as np

from headgate.compiling import inlined
from headgate.kernel.probe import ranges
from headgate.kernel.probe.index import Index
from headgate.kernel.watching import MET, OPEN, TAKEN_BACK, note_met
from headgate.policies.structures import marks


@inlined
def enter(arrays: Any, row: int) -> None:
    """Note that a row is stored."""
    ranges.enter(arrays.ranges, row)


@inlined
def leave(arrays: Any, row: int) -> None:
    """Note that a row is stored no more."""
    ranges.leave(arrays.ranges, row)


@inlined
def take_back_ranged(arrays: Any, row: int, reach: int, limit: int, last: int) -> None:
    """Undo what a probe counted before it reached ``last``, since it will be made again."""
    spot = arrays.ranges.spots[row]
    at, end = np.int64(spot.first), np.int64(spot.end)
    for part in range(2):
        if part == 1:
            at, end = np.int64(spot.more), np.int64(spot.last)
        while at < end:
            at = marks.next_taken(arrays.ranges.stored, at, end)
            if at >= end:
                break
            partner = np.int64(arrays.ranges.rows[at])
            if partner == last:
                return
            candidate = arrays.links[partner]
            if candidate.watch == OPEN and reach <= candidate.mark <= limit:
                note_met(arrays, partner, row, TAKEN_BACK)
            at += 1


@inlined
def ranged_probe(
    arrays: Any, row: int, within: tuple[int, int], pairs: np.ndarray, made: int
) -> int:
    """Write the row's stored partners whose mark is ``within`` two others, by value.

    Starts at ``made``; returns the new end, or -1 when ``pairs`` is full. O(stored rows in the
    row's range), whether their time fits or not.
    """
    reach, limit = within
    spot = arrays.ranges.spots[row]
    count_only = arrays.terms[0].count_only or arrays.terms[0].missing
    at, end = np.int64(spot.first), np.int64(spot.end)
    for part in range(2):
        if part == 1:
            at, end = np.int64(spot.more), np.int64(spot.last)
        while at < end:
            at = marks.next_taken(arrays.ranges.stored, at, end)
            if at >= end:
                break
            partner = np.int64(arrays.ranges.rows[at])
            candidate = arrays.links[partner]
            if reach <= candidate.mark <= limit:
                if candidate.alive:
                    if not count_only:
                        if made >= pairs.size:
                            take_back_ranged(arrays, row, reach, limit, partner)
                            return -1
                        pairs[made].probe = row
                        pairs[made].partner = partner
                    made += 1
                if candidate.watch == OPEN:
                    note_met(arrays, partner, row, MET)
            at += 1
    return made


class Bitmap(Index):
    """Marks of the places taken, in order of key and value."""

    name = "bitmap"
    ranged = True
    enter, leave, probe = enter, leave, ranged_probe
