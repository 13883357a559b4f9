"""Nested-loop scan: no index, a probe reads the whole window.

Rows are stored in order of arrival. A removed row is marked as deleted, and the rows are compacted
once half of the range that a probe reads is deleted: amortised O(1) per row.
"""

from typing import Any, NamedTuple

import numpy as np

from headgate.compiling import compiled
from headgate.kernel.probe.index import Index, IndexEntry, IndexRoom, Look

GONE = np.int32(-1)
ZERO, ONE = np.int64(0), np.int64(1)
FIRST, END, LIVE = np.int64(0), np.int64(1), np.int64(2)
BLOCK = np.int64(64)
"""Rows compared at once: SIMD instructions reject a whole block that contains no match."""
FEW = np.int64(64)
"""Number of deleted rows below which compaction does not pay."""


class Scan(NamedTuple):
    """The windows of both sides."""

    groups: np.ndarray  # int32 (side, slot): the group of each row; GONE where deleted
    rows: np.ndarray  # int32 (side, slot)
    slots: np.ndarray  # int32 (row): its slot
    state: np.ndarray  # int64 (side, 3): first slot in use, end, rows that are there


def empty_scan(most: int, rows: int) -> Scan:
    """Allocate for ``most`` rows per side, of ``rows`` in total.

    Examples
    --------
    >>> scan, found = empty_scan(4, 4), np.zeros(4, np.int64)
    >>> for group, row in ((7, 0), (5, 1), (7, 3)):
    ...     enter(scan, ZERO, np.int64(group), np.int64(row))
    >>> leave(scan, ZERO, np.int64(0))
    >>> found[: find(scan, ZERO, np.int64(6), np.int64(8), found, ZERO)].tolist()
    [3]
    """
    return Scan(
        np.empty((2, most), np.int32),
        np.empty((2, most), np.int32),
        np.empty(rows, np.int32),
        np.zeros((2, 3), np.int64),
    )


@compiled
def enter(scan: Scan, side: int, group: int, row: int) -> None:
    """Append a row."""
    own = scan.state[side]
    slot = own[END]
    scan.groups[side, slot] = group
    scan.rows[side, slot] = row
    scan.slots[row] = slot
    own[END] = slot + ONE
    own[LIVE] += ONE


@compiled
def leave(scan: Scan, side: int, row: int) -> None:
    """Mark a row as deleted."""
    own, groups = scan.state[side], scan.groups[side]
    groups[scan.slots[row]] = GONE
    own[LIVE] -= ONE
    while own[FIRST] < own[END] and groups[own[FIRST]] == GONE:
        own[FIRST] += ONE
    if own[END] - own[FIRST] > (own[LIVE] << ONE) + FEW:
        _move_together(scan, side)


@compiled
def _move_together(scan: Scan, side: int) -> None:
    own = scan.state[side]
    to = own[FIRST]
    for slot in range(own[FIRST], own[END]):
        if scan.groups[side, slot] != GONE:
            row = scan.rows[side, slot]
            scan.groups[side, to] = scan.groups[side, slot]
            scan.rows[side, to] = row
            scan.slots[row] = to
            to += ONE
    own[END] = to


@compiled
def find(scan: Scan, side: int, first: int, end: int, found: np.ndarray, count: Any) -> Any:
    """Write the rows of groups ``first`` to before ``end`` from index ``count`` on; the new count.

    O(rows in the window).
    """
    own, groups, rows = scan.state[side], scan.groups[side], scan.rows[side]
    at, stop = own[FIRST], own[END]
    low, high = np.int32(first), np.int32(end)
    while at < stop:
        block = min(at + BLOCK, stop)
        part, fits = groups[at:block], False
        for place in range(part.size):  # from 0: a start that may be negative prevents vectorising
            fits |= (part[place] >= low) & (part[place] < high)
        if fits:
            for slot in range(at, block):
                if low <= groups[slot] < high:
                    found[count] = rows[slot]
                    count += ONE
        at = block
    return count


@compiled
def insert_entry(scan: Scan, entry: IndexEntry) -> None:
    """Append a row."""
    enter(scan, entry.side, entry.group, entry.row)


@compiled
def delete_entry(scan: Scan, entry: IndexEntry) -> None:
    """Mark a row as deleted."""
    leave(scan, entry.side, entry.row)


@compiled
def find_rows(scan: Scan, look: Look, found: np.ndarray, count: Any) -> Any:
    """Write the rows of the groups probed for."""
    return find(scan, look.side, look.first, look.end, found, count)


class ScanIndex(Index):
    """Rows in order of arrival; a probe reads all of them."""

    name = "scan"
    insert, delete, find = insert_entry, delete_entry, find_rows

    @staticmethod
    def empty(room: IndexRoom) -> Scan:
        """Allocate for the larger side."""
        return empty_scan(max(room.rows), room.total)
