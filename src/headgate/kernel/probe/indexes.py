"""Which index a row enters, leaves and is looked for in: that of its side, or of the other.

Chains and places by value lie in the kernel's own records; the other indexes catch up with what
was noted before a probe looks into them (`indexes/windows.py`). Calls out of the kernel pass the
few arrays they need, never the whole arrays.
"""

from typing import Any

import numpy as np

from headgate.compiling import compiled, inlined
from headgate.kernel.layout import LEFT, RIGHT, Arrays
from headgate.kernel.probe import btree, buckets, chains, ranges, scan, ttree
from headgate.kernel.probe.windows import BITMAP, BTREE, CHAINS, SCAN, TTREE, Windows, catch_up
from headgate.kernel.watching import MET, OPEN, note_met

NOTHING, ONE = np.int64(0), np.int64(1)
ENTERS, LEAVES = np.int64(0), np.int64(1)


@inlined
def group_of(arrays: Arrays, row: int) -> Any:
    """What an index sorts or compares rows by: the place by key and value, or the key's code."""
    if arrays.terms[0].ranged:
        return np.int64(arrays.ranges.spots[row].place)
    return np.int64(arrays.rows[row].code)


@inlined
def note(arrays: Arrays, row: int, leaves: int) -> None:
    """Note for the row's index that it enters or leaves."""
    own = arrays.links[row]
    change = arrays.changes[arrays.terms[0].waiting]
    change.mark = own.mark
    change.row = row
    change.code = arrays.rows[row].code
    change.group = group_of(arrays, row)
    change.side = own.side
    change.leaves = leaves
    arrays.terms[0].waiting += ONE


@inlined
def enter(arrays: Arrays, row: int) -> None:
    """Enter a row into its side's index."""
    index = arrays.sides[arrays.links[row].side].index
    if index == CHAINS:
        chains.chain(arrays, row)
    elif index == BITMAP:
        ranges.enter(arrays.ranges, row)
    else:
        arrays.links[row].indexed = 1
        note(arrays, row, ENTERS)


@inlined
def leave(arrays: Arrays, row: int) -> None:
    """Take a row out of its side's index, if it is there; out of a chain, the next probe does.

    A row's window may pass before the row comes.
    """
    index = arrays.sides[arrays.links[row].side].index
    if index == BITMAP:
        ranges.leave(arrays.ranges, row)
    elif index != CHAINS and arrays.links[row].indexed:
        arrays.links[row].indexed = 0
        note(arrays, row, LEAVES)


@inlined
def find(
    arrays: Arrays, windows: Windows, row: int, first: int, end: int, reach: int, count: int
) -> Any:
    """Write the rows of the other side's groups ``first`` to before ``end`` into ``found``."""
    other = ONE - np.int64(arrays.links[row].side)
    index, found = arrays.sides[other].index, windows.found
    if index == SCAN:
        return scan.find(windows.scan, other, first, end, found, count)
    if index == BTREE:
        return btree.find(windows.btree, other, first, end, found, count)
    if index == TTREE:
        return ttree.find(windows.ttree, other, first, end, found, count)
    code = np.int64(arrays.rows[row].code)
    return buckets.find(windows.buckets, other, code, first, end, reach, found, count)


@inlined
def probe(
    arrays: Arrays, windows: Windows, row: int, reach: int, limit: int, pairs: np.ndarray, made: int
) -> Any:
    """Write the row's partners from place ``made`` on; the new end, or -1 when pairs is full."""
    terms = arrays.terms[0]
    if terms.waiting > NOTHING:
        left, right = arrays.sides[LEFT].index, arrays.sides[RIGHT].index
        catch_up(windows, arrays.changes, terms.waiting, left, right)
        terms.waiting = NOTHING
    other = arrays.sides[1 - arrays.links[row].side].index
    if other == CHAINS:
        return chains.chained_probe(arrays, row, reach, limit, pairs, made)
    if other == BITMAP:
        return chains.ranged_probe(arrays, row, reach, limit, pairs, made)
    # One stretch of groups, or two under "not equal": one loop, so that `find` is there once.
    code = np.int64(arrays.rows[row].code)
    first, end, more, last = code, code + ONE, NOTHING, NOTHING
    if terms.ranged:
        spot = arrays.ranges.spots[row]
        first, end = np.int64(spot.first), np.int64(spot.end)
        more, last = np.int64(spot.more), np.int64(spot.last)
    count = NOTHING
    while True:
        if first < end:
            count = find(arrays, windows, row, first, end, reach, count)
        if more >= last:
            break
        first, end, more = more, last, last
    if count == NOTHING:
        return made
    made, watched = list_found(
        arrays.links,
        windows.found,
        count,
        row,
        reach,
        limit,
        pairs,
        made,
        terms.count_only | terms.missing,
    )
    for at in range(watched):
        note_met(arrays, windows.found[at], row, MET)
    return made


@compiled
def list_found(
    links: np.ndarray,
    found: np.ndarray,
    count: int,
    row: int,
    reach: int,
    limit: int,
    pairs: np.ndarray,
    made: Any,
    count_only: int,
) -> tuple[Any, Any]:
    """Write a pair for each row found that is stored and whose time fits.

    Returns the new end, or -1 when ``pairs`` is full, and how many watched rows were met, which
    are then the first in ``found``. Nothing is written unless all fits.
    """
    fitting = stored = np.int64(0)
    for at in range(count):
        candidate = links[found[at]]
        if reach <= candidate.mark <= limit:
            found[fitting] = found[at]
            fitting += ONE
            stored += np.int64(candidate.alive)
    if count_only == NOTHING and made + stored > pairs.size:
        return np.int64(-1), np.int64(0)
    watched = np.int64(0)
    for at in range(fitting):
        partner = found[at]
        candidate = links[partner]
        if candidate.alive:
            if count_only == NOTHING:
                pairs[made].probe = row
                pairs[made].partner = partner
            made += ONE
        if candidate.watch == OPEN:
            found[watched] = partner
            watched += ONE
    return made, watched
