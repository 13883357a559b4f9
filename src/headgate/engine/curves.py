"""The structure behind scores of a value's offset from where the other stream has got to.

All offsets change whenever the other stream moves on, but the order of values does not. A curve
rises and falls in *pieces*; within one, the row worth least stands at one end of the piece. So the
rows of each side stand sorted by value (a step knows them all in advance), marks say who is stored,
and a shed looks at one row a piece: it never scans what is stored, and nothing is done to it when
the other stream moves. Where a window cuts the future short, rows of an age class have marks of
their own, and move on to the next class as they grow older, O(1) a row and class. So have rows of
each level of importance, by which scores are multiplied.
"""

from functools import cache
from typing import Any, NamedTuple

import numpy as np

from headgate.compiling import inlined
from headgate.engine.atlas import Atlas, no_atlas
from headgate.engine.marks import NOWHERE, Marks, free, last_taken, next_taken, no_marks, take
from headgate.policies.base import Arrivals, Frames

NO_FRAME = -1
NEAR = 8
"""Slots to walk before searching."""
MOST_APART = np.int64((1 << 31) - 1)
"""Offsets beyond it are not told apart when scores are equal."""


class Shelf(NamedTuple):
    """The rows of a step by value; empty for other scores."""

    value: np.ndarray  # int64 a row
    origin: np.ndarray  # int64 a row: where its stream has got to when it comes
    frame: np.ndarray  # int32 a row
    place: np.ndarray  # int32 a row: where it stands; left rows first, each side by value
    rows: np.ndarray  # int32 a place: who stands there
    slot: np.ndarray  # int32 a place: which of `values` it has
    values: np.ndarray  # int64 a slot: the values of the left rows, then of the right, ascending
    begins: np.ndarray  # int32 a slot: the first place with that value; and where the last ends
    sides: np.ndarray  # int64: the first slot of each side, and where the last ends
    older: np.ndarray  # int64 (side, class): rows of side_rows before it are of the class, or older
    cursor: np.ndarray  # int64 (side, class, piece): the slot a piece began at when last asked
    stored: Marks  # (level of importance, class, place): who is stored


@cache
def no_shelf() -> Shelf:
    """For all other scores."""
    none = np.empty(0, np.int64)
    nobody = Arrivals(none, none, none, none, none)
    return shelf_of(no_atlas(), nobody, Frames(none, none), left_rows=0, levels=1)


def shelf_of(atlas: Atlas, rows: Arrivals, heard: Frames, left_rows: int, levels: int) -> Shelf:
    """Sort rows, given in event order, by value. O(n log n)."""
    count = len(rows.time)
    value = rows.weight.astype(np.int64)
    order = np.lexsort((np.arange(count), value, rows.side))
    place = np.empty(count, np.int32)
    place[order] = np.arange(count)
    by_value = value[order]
    new = np.ones(count, bool)
    new[1:] = by_value[1:] != by_value[:-1]
    if left_rows < count:
        new[left_rows] = True
    begins = np.append(np.flatnonzero(new), count).astype(np.int32)
    right_slot = int(np.searchsorted(begins[:-1], left_rows))
    classes, pieces = atlas.first.shape[2:]
    older = np.zeros((2, classes), np.int64)
    older[1] = left_rows
    single = no_marks(count)
    return Shelf(
        value,
        np.ascontiguousarray(heard.origin, np.int64),
        np.ascontiguousarray(heard.frame, np.int32),
        place,
        order.astype(np.int32),
        (np.cumsum(new) - 1).astype(np.int32),
        by_value[new],
        begins,
        np.array([0, right_slot, len(begins) - 1], np.int64),
        older,
        np.full((2, classes, pieces), right_slot, np.int64),
        Marks(np.zeros((levels, classes, single.words.size), np.int64), single.levels),
    )


@inlined
def hear(desk: Any, row: int) -> None:
    """An arrival says where its stream has got to; rows of the other side are judged by that."""
    other = desk.sides[1 - desk.links[row].side]
    other.origin = desk.shelf.origin[row]
    other.frame = desk.shelf.frame[row]


@inlined
def age_class(desk: Any, row: int, side: int) -> int:
    """The class of age a row was last known to be in."""
    index = desk.rows[row].side_index
    at = 0
    while at + 1 < desk.atlas.classes[side] and index < desk.shelf.older[side, at + 1]:
        at += 1
    return at


@inlined
def level_of(desk: Any, row: int, side: int) -> Any:
    """A row's level of importance."""
    levels = desk.groups.size // 2
    # Where there is one, the row need not be fetched from memory.
    return desk.rows[row].group - side * levels if levels > 1 else 0


@inlined
def marks_of(desk: Any, level: int, age: int) -> Marks:
    """Who is stored of a level of importance and class of age."""
    return Marks(desk.shelf.stored.words[level, age], desk.shelf.stored.levels)


@inlined
def enter(desk: Any, row: int) -> None:
    """Put a stored row on the shelf."""
    side = desk.links[row].side
    own = marks_of(desk, level_of(desk, row, side), age_class(desk, row, side))
    take(own, desk.shelf.place[row])


@inlined
def leave(desk: Any, row: int) -> None:
    """Take a row off the shelf."""
    side = desk.links[row].side
    own = marks_of(desk, level_of(desk, row, side), age_class(desk, row, side))
    free(own, desk.shelf.place[row])


@inlined
def grow_older(desk: Any, side: int) -> None:
    """Move rows on to the class of their present age."""
    shelf, atlas = desk.shelf, desk.atlas
    own = desk.sides[side]
    now = desk.terms[0].clock >> 1
    for age in range(1, atlas.classes[side]):
        at = shelf.older[side, age]
        while at < own.end:
            row = desk.side_rows[at]
            if now - desk.rows[row].time < age * atlas.class_us[side]:
                break
            if desk.links[row].alive and desk.pools[own.pool].ranked:
                level = level_of(desk, row, side)
                free(marks_of(desk, level, age - 1), shelf.place[row])
                take(marks_of(desk, level, age), shelf.place[row])
            at += 1
        shelf.older[side, age] = at


@inlined
def worth(desk: Any, side: int, age: int, offset: int) -> Any:
    """The score of an offset, where there is a frame and importance is 1."""
    atlas = desk.atlas
    if offset < atlas.lowest[side] or offset > atlas.highest[side]:
        return 0.0
    at = (offset - atlas.lowest[side]) >> atlas.grain[side]
    return atlas.table[side, desk.sides[side].frame, age, at]


@inlined
def order_of(row: int, offset: int, rising: bool) -> Any:
    """A row's order among equal scores: where the curve rises the lowest value goes first, where it
    falls the highest; of one value, the eldest."""
    near: Any = min(max(offset, -MOST_APART), MOST_APART)
    return ((near if rising else -near) << 31) + row


@inlined
def judge(desk: Any, row: int, side: int, age: int) -> tuple[float, np.int64]:
    """A row's score now, and its order among equal scores."""
    atlas = desk.atlas
    frame = desk.sides[side].frame
    offset = desk.shelf.value[row] - desk.sides[side].origin
    if frame == NO_FRAME:
        return 0.0, order_of(row, offset, True)
    near = min(max(offset, -MOST_APART), MOST_APART)
    piece = 0
    while near >= atlas.first[side, frame, age, piece + 1]:
        piece += 1
    rising = atlas.rising[side, frame, age, piece] != 0
    weight = desk.groups[desk.rows[row].group].weight
    return weight * worth(desk, side, age, offset), order_of(row, offset, rising)


@inlined
def seek(desk: Any, side: int, age: int, piece: int, edge: int) -> Any:
    """The side's first slot with a value of at least ``edge``.

    Starts from where it was last time: streams move on a little at a time.
    """
    shelf = desk.shelf
    low, high = shelf.sides[side], shelf.sides[side + 1]
    at = min(max(shelf.cursor[side, age, piece], low), high)
    for _ in range(NEAR):
        if at > low and shelf.values[at - 1] >= edge:
            at -= 1
        elif at < high and shelf.values[at] < edge:
            at += 1
        else:
            break
    if at < high and shelf.values[at] < edge:
        low = at + 1
    elif at > low and shelf.values[at - 1] >= edge:
        high = at - 1
    else:
        low = high = at
    while low < high:
        middle = (low + high) >> 1
        if shelf.values[middle] < edge:
            low = middle + 1
        else:
            high = middle
    shelf.cursor[side, age, piece] = low
    return low


@inlined
def stretch_of(desk: Any, side: int, age: int, piece: int) -> tuple[np.int64, np.int64]:
    """The places of a piece: where it begins and ends."""
    shelf, atlas = desk.shelf, desk.atlas
    own = desk.sides[side]
    low, high = shelf.sides[side], shelf.sides[side + 1]
    if own.frame != NO_FRAME:
        if piece > 0:
            edge = own.origin + atlas.first[side, own.frame, age, piece]
            low = seek(desk, side, age, piece, edge)
        if piece + 1 < atlas.pieces[side, own.frame, age]:
            edge = own.origin + atlas.first[side, own.frame, age, piece + 1]
            high = seek(desk, side, age, piece + 1, edge)
    return np.int64(shelf.begins[low]), np.int64(shelf.begins[max(low, high)])


@inlined
def worst_within(desk: Any, level: int, age: int, begin: int, end: int, rising: bool) -> Any:
    """The stored row worth least of a piece: at its low end where it rises, else at its high end.

    NOWHERE when nobody of that level of importance and class of age is in it.
    """
    shelf = desk.shelf
    stored = marks_of(desk, level, age)
    first = np.int64(begin)
    if not rising:
        last = last_taken(stored, end - 1)
        if last < begin:
            return NOWHERE
        first = np.int64(shelf.begins[shelf.slot[last]])
    at = next_taken(stored, first, end)
    return np.int64(shelf.rows[at]) if at < end else NOWHERE
