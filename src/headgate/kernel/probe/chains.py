"""Hash index with one chain per key, linked through the kernel's own records.

Chains run from the newest row to the oldest, so that a probe stops at the first row out of reach.
Removed rows are unlinked by the first probe that visits them.
"""

from typing import Any

import numpy as np

from headgate.compiling import compiled, prefetch
from headgate.kernel.layout import NONE, Arrays
from headgate.kernel.probe.index import Index
from headgate.kernel.watching import MET, OPEN, TAKEN_BACK, note_met

FAR = np.int64(1 << 62)
HEADS_AHEAD = 16
PARTNERS_AHEAD = 6


@compiled
def chain(arrays: Arrays, row: int) -> None:
    """Insert a row into its key's chain: at the head, unless it is out of order."""
    own = arrays.links[row]
    head = arrays.newest[2 * arrays.rows[row].code + own.side]
    newer, older, older_mark = np.int64(NONE), head.row, head.mark
    while older != NONE and older_mark > own.mark:
        newer = older
        older = np.int64(arrays.links[newer].older)
        older_mark = arrays.links[newer].older_mark
    own.older = older
    own.older_mark = older_mark
    relink(arrays, head, newer, row, own.mark)


@compiled
def relink(arrays: Arrays, head: Any, newer: int, row: int, mark: int) -> None:
    """Make ``row`` the next in the chain after ``newer``, or its first."""
    if newer == NONE:
        head.row = row
        head.mark = mark
    else:
        arrays.links[newer].older = row
        arrays.links[newer].older_mark = mark


@compiled
def take_back(arrays: Arrays, head: Any, last: int, row: int, limit: int) -> None:
    """Undo what a probe counted before it reached ``last``, since the probe will be repeated."""
    partner, mark = head.row, head.mark
    while partner != last:
        candidate = arrays.links[partner]
        if candidate.watch == OPEN and mark <= limit:
            note_met(arrays, partner, row, TAKEN_BACK)
        partner, mark = np.int64(candidate.older), candidate.older_mark


@compiled
def reach_of(arrays: Arrays, row: int) -> Any:
    """The least and greatest mark that the row's partners may have."""
    side = arrays.links[row].side
    time = arrays.rows[row].time
    other_window = arrays.sides[1 - side]
    if other_window.by_rows:
        return other_window.seen - other_window.span, FAR
    limit = FAR if arrays.sides[side].by_rows else time + arrays.sides[side].span
    return time - other_window.span, limit


@compiled
def chained_probe(
    arrays: Arrays, row: int, within: tuple[int, int], pairs: np.ndarray, made: int
) -> int:
    """Write the row's stored partners whose mark is ``within`` two others, the newest first.

    Starts at ``made``; returns the new end, or -1 when ``pairs`` is full. O(rows of the key within
    reach).
    """
    reach, limit = within
    side = arrays.links[row].side
    count_only = arrays.terms[0].count_only or arrays.terms[0].missing
    head = arrays.newest[2 * arrays.rows[row].code + 1 - side]
    newer, partner, mark = np.int64(NONE), head.row, head.mark
    while partner != NONE and mark >= reach:
        candidate = arrays.links[partner]
        older = np.int64(candidate.older)
        older_mark = candidate.older_mark
        if candidate.alive:
            if mark <= limit:
                if not count_only:
                    if made >= pairs.size:
                        take_back(arrays, head, partner, row, limit)
                        return -1
                    pairs[made].probe = row
                    pairs[made].partner = partner
                made += 1
                if candidate.watch == OPEN:
                    note_met(arrays, partner, row, MET)
            newer = partner
        elif candidate.watch == OPEN:
            if mark <= limit:
                note_met(arrays, partner, row, MET)
            newer = partner
        else:
            relink(arrays, head, newer, older, older_mark)
        partner, mark = older, older_mark
    return made


@compiled
def look_ahead(arrays: Arrays, row: int) -> None:
    """Prefetch what the next arrivals will need: first the chain's head, then its row."""
    later = row + HEADS_AHEAD
    if later < arrays.rows.size:
        prefetch(arrays.newest, 2 * max(arrays.rows[later].code, 0))
    soon = row + PARTNERS_AHEAD
    if soon < arrays.rows.size:
        head = arrays.newest[2 * max(arrays.rows[soon].code, 0) + 1 - arrays.links[soon].side]
        prefetch(arrays.links, max(head.row, 0))
        if arrays.terms[0].reads_partners:
            prefetch(arrays.rows, max(head.row, 0))


@compiled
def stay(arrays: Arrays, row: int) -> None:
    """Do nothing: the next probe that visits a removed row unlinks it."""


class Chains(Index):
    """One chain per key, from the newest row to the oldest."""

    name = "chains"
    is_offered = False
    enter, leave, probe = chain, stay, chained_probe
