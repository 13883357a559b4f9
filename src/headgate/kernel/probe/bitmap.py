"""Bitmap index: one bit per row in order of key and value (`ranges.py`), set while it is stored."""

from typing import Any

import numpy as np

from headgate.compiling import compiled
from headgate.kernel.probe import ranges
from headgate.kernel.probe.index import Index
from headgate.kernel.watching import MET, OPEN, TAKEN_BACK, note_met
from headgate.policies.structures import marks


@compiled
def enter(arrays: Any, row: int) -> None:
    """Mark a row as stored."""
    ranges.enter(arrays.ranges, row)


@compiled
def leave(arrays: Any, row: int) -> None:
    """Mark a row as no longer stored."""
    ranges.leave(arrays.ranges, row)


@compiled
def take_back_ranged(arrays: Any, row: int, reach: int, limit: int, last: int) -> None:
    """Undo what a probe counted before it reached ``last``, since the probe will be repeated."""
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


@compiled
def ranged_probe(
    arrays: Any, row: int, within: tuple[int, int], pairs: np.ndarray, made: int
) -> int:
    """Write the row's stored partners whose mark is ``within`` two others, by value.

    Starts at ``made``; returns the new end, or -1 when ``pairs`` is full. O(stored rows in the
    row's range), whether or not they are within the window.
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
    """A bitmap of stored rows, in order of key and value."""

    name = "bitmap"
    ranged = True
    enter, leave, probe = enter, leave, ranged_probe
