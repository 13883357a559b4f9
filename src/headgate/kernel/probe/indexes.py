"""Dispatch of inserts, deletes and probes to the index of each side.

The branches are generated from `INDEXES`. Calls out of the kernel pass only the few arrays they
need.
"""

from functools import cache
from typing import Any

import numpy as np

from headgate.compiling import compiled, generated
from headgate.compiling.argument_types import lasting
from headgate.kernel.layout import LEFT, RIGHT, Arrays
from headgate.kernel.probe.found_rows import FoundRows, list_found
from headgate.kernel.probe.index import Index, IndexEntry, IndexRoom, Look
from headgate.kernel.probe.index_list import INDEXES
from headgate.kernel.probe.windows import CHANGE, Windows
from headgate.kernel.watching import MET, note_met

NOTHING, ONE = np.int64(0), np.int64(1)
LEAST_NODE = 4
"""Entries of a node of trees that are never used."""


def empty_windows(
    kept_in: tuple[int, int], rows: tuple[int, int], buckets: tuple[int, int], node_rows: int
) -> Windows:
    """Allocate the indexes for all rows of a step.

    Parameters
    ----------
    kept_in
        Index of each side's window: places in `INDEXES`.
    rows
        Rows of each side.
    buckets
        Buckets of each side, where it is hashed.
    node_rows
        Entries of a tree's node.
    """

    def room(number: int) -> IndexRoom:
        left, right = (
            count if used == number else 0 for used, count in zip(kept_in, rows, strict=True)
        )
        return IndexRoom((left, right), sum(rows), buckets, node_rows)

    own = tuple(
        index.empty(room(number)) if number in kept_in else _unused(number)
        for number, index in enumerate(INDEXES)
    )
    return Windows(own, np.empty(max(rows), np.int64))


@cache
def _unused(number: int) -> Any:
    """An index that keeps no window: the same in every step."""
    return lasting(INDEXES[number].empty(IndexRoom((0, 0), 0, (0, 0), LEAST_NODE)))


def no_changes(kept_in: tuple[int, int], rows: tuple[int, int]) -> np.ndarray:
    """An empty log with room for one insert and one delete of every row of a step."""
    waiting = sum(
        count
        for number, count in zip(kept_in, rows, strict=True)
        if INDEXES[number].insert is not None
    )
    return np.empty(2 * waiting, CHANGE)


def row_branches(verb: str) -> Any:
    """`enter` or `leave`, dispatched to the index of the row's side."""
    usual = getattr(Index, verb)

    def as_usual(arrays: Arrays, row: int) -> None:
        usual(arrays, row)

    chosen = generated(as_usual)
    for place, index in enumerate(INDEXES):
        if getattr(index, verb) is not usual:
            chosen = _row_branch(place, getattr(index, verb), chosen)
    return chosen


def _row_branch(place: int, verb: Any, others: Any) -> Any:
    def chosen(arrays: Arrays, row: int) -> None:
        if arrays.sides[arrays.links[row].side].index == place:
            verb(arrays, row)
        else:
            others(arrays, row)

    return generated(chosen)


def change_branches(verb: str) -> Any:
    """`insert` or `delete`, dispatched by place in `INDEXES`."""

    def as_usual(windows: Windows, index: int, entry: IndexEntry) -> None:
        pass

    chosen = generated(as_usual)
    for place, index in reversed(list(enumerate(INDEXES))):
        if getattr(index, verb) is not None:
            chosen = _change_branch(place, getattr(index, verb), chosen)
    return chosen


def _change_branch(place: int, verb: Any, others: Any) -> Any:
    def chosen(windows: Windows, index: int, entry: IndexEntry) -> None:
        if index == place:
            verb(windows.own[place], entry)
        else:
            others(windows, index, entry)

    return generated(chosen)


def find_branches() -> Any:
    """`find`, dispatched by place in `INDEXES`."""

    def as_usual(windows: Windows, index: int, look: Look, count: int) -> Any:
        return count

    chosen = generated(as_usual)
    for place, index in reversed(list(enumerate(INDEXES))):
        if index.find is not None:
            chosen = _find_branch(place, index.find, chosen)
    return chosen


def _find_branch(place: int, verb: Any, others: Any) -> Any:
    def chosen(windows: Windows, index: int, look: Look, count: int) -> Any:
        if index == place:
            return verb(windows.own[place], look, windows.found, count)
        return others(windows, index, look, count)

    return generated(chosen)


enter = row_branches("enter")
leave = row_branches("leave")
_insert = change_branches("insert")
_delete = change_branches("delete")
_find = find_branches()


@compiled
def catch_up(windows: Windows, changes: np.ndarray, count: int, left: int, right: int) -> None:
    """Apply the logged changes; ``left`` and ``right`` are the indexes of those windows."""
    for at in range(count):
        change = changes[at]
        side = np.int64(change.side)
        entry = IndexEntry(
            side,
            np.int64(change.code),
            np.int64(change.group),
            np.int64(change.row),
            np.int64(change.mark),
        )
        index = right if side == ONE else left
        if change.leaves:
            _delete(windows, index, entry)
        else:
            _insert(windows, index, entry)


@compiled
def search(
    arrays: Arrays,
    windows: Windows,
    row: int,
    within: tuple[int, int],
    pairs: np.ndarray,
    made: int,
) -> Any:
    """Write the partners that the other side's index finds; the new end, or -1 when full."""
    terms = arrays.terms[0]
    other = ONE - np.int64(arrays.links[row].side)
    index = arrays.sides[other].index
    # One range of groups, or two under "not equal": one loop, so that `find` is inlined once.
    code = np.int64(arrays.rows[row].code)
    first, end, more, last = code, code + ONE, NOTHING, NOTHING
    if terms.ranged:
        spot = arrays.ranges.spots[row]
        first, end = np.int64(spot.first), np.int64(spot.end)
        more, last = np.int64(spot.more), np.int64(spot.last)
    count = NOTHING
    while True:
        if first < end:
            count = _find(windows, index, Look(other, code, first, end, within[0]), count)
        if more >= last:
            break
        first, end, more = more, last, last
    if count == NOTHING:
        return made
    count_only = terms.count_only | terms.missing
    found = FoundRows(windows.found, count, within[0], within[1])
    made, watched = list_found(arrays.links, found, row, pairs, made, count_only)
    for at in range(watched):
        note_met(arrays, windows.found[at], row, MET)
    return made


def probe_branches() -> Any:
    """The probe of the other side's index, or `search` where it has no probe of its own."""
    chosen = search
    for place, index in enumerate(INDEXES):
        if index.probe is not None:
            chosen = _probe_branch(place, index.probe, chosen)
    return chosen


def _probe_branch(place: int, verb: Any, others: Any) -> Any:
    def chosen(
        arrays: Arrays,
        windows: Windows,
        row: int,
        within: tuple[int, int],
        pairs: np.ndarray,
        made: int,
    ) -> Any:
        if arrays.sides[1 - arrays.links[row].side].index == place:
            return verb(arrays, row, within, pairs, made)
        return others(arrays, windows, row, within, pairs, made)

    return generated(chosen)


_probe = probe_branches()


@compiled
def probe(
    arrays: Arrays,
    windows: Windows,
    row: int,
    within: tuple[int, int],
    pairs: np.ndarray,
    made: int,
) -> Any:
    """Write the row's partners from index ``made`` on; the new end, or -1 when pairs is full."""
    terms = arrays.terms[0]
    if terms.waiting > NOTHING:
        left, right = arrays.sides[LEFT].index, arrays.sides[RIGHT].index
        catch_up(windows, arrays.changes, terms.waiting, left, right)
        terms.waiting = NOTHING
    return _probe(arrays, windows, row, within, pairs, made)
