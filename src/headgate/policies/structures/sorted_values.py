"""Rows sorted by value, for scores by the offset from the other stream's current value.

All offsets change whenever the other stream moves, but the order of values does not. A curve rises
and falls in *pieces*; within a piece, the row of lowest score is at one end. So each side's rows
are sorted by value (a step knows them all in advance), a bitmap marks the stored ones, and an
eviction looks at one row per piece: no scan, and no update when the other stream moves. Where a
window limits future matches, each age class has its own bitmap, and rows move to the next class as
they age, O(1) per row and class. So has each level of importance, by which scores are multiplied.
"""

from functools import cache
from typing import Any, NamedTuple

import numpy as np

from headgate.compiling import compiled
from headgate.policies.policy import Arrivals
from headgate.policies.structures.curve_tables import CurveTables, no_curve_tables
from headgate.policies.structures.marks import (
    NOWHERE,
    Marks,
    free,
    last_taken,
    next_taken,
    no_marks,
    take,
)
from headgate.policies.structures.no_row import LAST, NONE

HEARD = np.dtype(
    [
        ("origin", "i8"),  # current value of the other stream
        ("frame", "i8"),  # and which curves hold there; NO_FRAME before it has said anything
    ],
    align=True,
)
NO_FRAME = -1
NEAR = 8
"""Slots to walk before a binary search."""
MOST_APART = np.int64((1 << 31) - 1)
"""Offsets beyond it are not distinguished among equal scores."""


class Frames(NamedTuple):
    """The state of a stream when each of its rows arrives."""

    origin: np.ndarray  # int64: offsets are told from here
    frame: np.ndarray  # int32: which of the frames of `Curves.table` to look into


class SortedValues(NamedTuple):
    """The rows of a step by value; empty for other scores."""

    value: np.ndarray  # int64 a row
    origin: np.ndarray  # int64 a row: the origin of its stream on arrival
    frame: np.ndarray  # int32 a row
    place: np.ndarray  # int32 a row: its rank; left rows first, each side by value
    rows: np.ndarray  # int32 a place: the row of that rank
    slot: np.ndarray  # int32 a place: which of `values` it has
    values: np.ndarray  # int64 a slot: the values of the left rows, then of the right, ascending
    begins: np.ndarray  # int32 a slot: the first place with that value; and where the last ends
    sides: np.ndarray  # int64: the first slot of each side, and where the last ends
    older: np.ndarray  # int64 (side, class): rows of side_rows before it are of the class, or older
    cursor: np.ndarray  # int64 (side, class, piece): the slot a piece began at when last asked
    stored: Marks  # (level of importance, class, place): set while stored


class CurveArrays(NamedTuple):
    """The arrays of curve scores."""

    curve_tables: CurveTables  # the curves
    sorted_values: SortedValues  # rows by value
    heard: np.ndarray  # HEARD, a side: where the other stream has got to


@cache
def no_sorted_values() -> SortedValues:
    """For all other scores."""
    none = np.empty(0, np.int64)
    nobody = Arrivals(none, none, none, none, none)
    return sort_values(no_curve_tables(), nobody, Frames(none, none), left_rows=0, levels=1)


def sort_values(
    curve_tables: CurveTables, rows: Arrivals, heard: Frames, left_rows: int, levels: int
) -> SortedValues:
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
    classes, pieces = curve_tables.first.shape[2:]
    older = np.zeros((2, classes), np.int64)
    older[1] = left_rows
    single = no_marks(count)
    return SortedValues(
        value=value,
        origin=np.ascontiguousarray(heard.origin, np.int64),
        frame=np.ascontiguousarray(heard.frame, np.int32),
        place=place,
        rows=order.astype(np.int32),
        slot=(np.cumsum(new) - 1).astype(np.int32),
        values=by_value[new],
        begins=begins,
        sides=np.array([0, right_slot, len(begins) - 1], np.int64),
        older=older,
        cursor=np.full((2, classes, pieces), right_slot, np.int64),
        stored=Marks(np.zeros((levels, classes, single.words.size), np.int64), single.levels),
    )


@compiled
def hear(arrays: Any, own: CurveArrays, row: int) -> None:
    """Update the state of a stream from an arrival; rows of the other side are scored by it."""
    other = own.heard[1 - arrays.links[row].side]
    other.origin = own.sorted_values.origin[row]
    other.frame = own.sorted_values.frame[row]


@compiled
def age_class(arrays: Any, own: CurveArrays, row: int, side: int) -> int:
    """The class of age a row was last known to be in."""
    index = arrays.rows[row].side_index
    at = 0
    while at + 1 < own.curve_tables.classes[side] and index < own.sorted_values.older[side, at + 1]:
        at += 1
    return at


@compiled
def level_of(arrays: Any, row: int, side: int) -> Any:
    """A row's level of importance."""
    levels = arrays.groups.size // 2
    # Where there is one, the row need not be fetched from memory.
    return arrays.rows[row].group - side * levels if levels > 1 else 0


@compiled
def marks_of(own: CurveArrays, level: int, age: int) -> Marks:
    """The stored rows of a level of importance and age class."""
    return Marks(own.sorted_values.stored.words[level, age], own.sorted_values.stored.levels)


@compiled
def enter(arrays: Any, own: CurveArrays, row: int) -> None:
    """Mark a row as stored."""
    side = arrays.links[row].side
    marks = marks_of(own, level_of(arrays, row, side), age_class(arrays, own, row, side))
    take(marks, own.sorted_values.place[row])


@compiled
def leave(arrays: Any, own: CurveArrays, row: int) -> None:
    """Mark a row as no longer stored."""
    side = arrays.links[row].side
    marks = marks_of(own, level_of(arrays, row, side), age_class(arrays, own, row, side))
    free(marks, own.sorted_values.place[row])


@compiled
def grow_older(arrays: Any, own: CurveArrays, side: int) -> None:
    """Move rows to the class of their present age."""
    sorted_values, curve_tables = own.sorted_values, own.curve_tables
    ours = arrays.sides[side]
    now = arrays.terms[0].clock >> 1
    for age in range(1, curve_tables.classes[side]):
        at = sorted_values.older[side, age]
        while at < ours.end:
            row = arrays.side_rows[at]
            if now - arrays.rows[row].time < age * curve_tables.class_us[side]:
                break
            if arrays.links[row].alive and arrays.pools[ours.pool].ranked:
                level = level_of(arrays, row, side)
                free(marks_of(own, level, age - 1), sorted_values.place[row])
                take(marks_of(own, level, age), sorted_values.place[row])
            at += 1
        sorted_values.older[side, age] = at


@compiled
def worth(own: CurveArrays, side: int, age: int, offset: int) -> Any:
    """The score of an offset, where there is a frame and importance is 1."""
    curve_tables = own.curve_tables
    if offset < curve_tables.lowest[side] or offset > curve_tables.highest[side]:
        return 0.0
    at = (offset - curve_tables.lowest[side]) >> curve_tables.grain[side]
    return curve_tables.table[side, own.heard[side].frame, age, at]


@compiled
def order_of(row: int, offset: int, rising: bool) -> Any:
    """A row's order among equal scores: where the curve rises the lowest value goes first, where it
    falls the highest; of one value, the eldest."""
    near: Any = min(max(offset, -MOST_APART), MOST_APART)
    return ((near if rising else -near) << 31) + row


@compiled
def judge(arrays: Any, own: CurveArrays, row: int, side: int, age: int) -> tuple[float, np.int64]:
    """A row's score now, and its order among equal scores."""
    curve_tables = own.curve_tables
    frame = own.heard[side].frame
    offset = own.sorted_values.value[row] - own.heard[side].origin
    if frame == NO_FRAME:
        return 0.0, order_of(row, offset, True)
    near = min(max(offset, -MOST_APART), MOST_APART)
    piece = 0
    while near >= curve_tables.first[side, frame, age, piece + 1]:
        piece += 1
    rising = curve_tables.rising[side, frame, age, piece] != 0
    weight = arrays.groups[arrays.rows[row].group].weight
    return weight * worth(own, side, age, offset), order_of(row, offset, rising)


@compiled
def seek(own: CurveArrays, side: int, age: int, piece: int, edge: int) -> Any:
    """The side's first slot with a value of at least ``edge``.

    Starts from where it was last time: streams move on a little at a time.
    """
    sorted_values = own.sorted_values
    low, high = sorted_values.sides[side], sorted_values.sides[side + 1]
    at = min(max(sorted_values.cursor[side, age, piece], low), high)
    for _ in range(NEAR):
        if at > low and sorted_values.values[at - 1] >= edge:
            at -= 1
        elif at < high and sorted_values.values[at] < edge:
            at += 1
        else:
            break
    if at < high and sorted_values.values[at] < edge:
        low = at + 1
    elif at > low and sorted_values.values[at - 1] >= edge:
        high = at - 1
    else:
        low = high = at
    while low < high:
        middle = (low + high) >> 1
        if sorted_values.values[middle] < edge:
            low = middle + 1
        else:
            high = middle
    sorted_values.cursor[side, age, piece] = low
    return low


@compiled
def stretch_of(own: CurveArrays, side: int, age: int, piece: int) -> tuple[np.int64, np.int64]:
    """The range of places in a piece: begin and end."""
    sorted_values, curve_tables = own.sorted_values, own.curve_tables
    heard = own.heard[side]
    low, high = sorted_values.sides[side], sorted_values.sides[side + 1]
    if heard.frame != NO_FRAME:
        if piece > 0:
            edge = heard.origin + curve_tables.first[side, heard.frame, age, piece]
            low = seek(own, side, age, piece, edge)
        if piece + 1 < curve_tables.pieces[side, heard.frame, age]:
            edge = heard.origin + curve_tables.first[side, heard.frame, age, piece + 1]
            high = seek(own, side, age, piece + 1, edge)
    return np.int64(sorted_values.begins[low]), np.int64(sorted_values.begins[max(low, high)])


@compiled
def worst_within(own: CurveArrays, level: int, age: int, begin: int, end: int, rising: bool) -> Any:
    """The stored row of lowest score in a piece: at its low end if it rises, else at its high end.

    NOWHERE when the piece has no stored row of that level of importance and age class.
    """
    sorted_values = own.sorted_values
    stored = marks_of(own, level, age)
    first = np.int64(begin)
    if not rising:
        last = last_taken(stored, end - 1)
        if last < begin:
            return NOWHERE
        first = np.int64(sorted_values.begins[sorted_values.slot[last]])
    at = next_taken(stored, first, end)
    return np.int64(sorted_values.rows[at]) if at < end else NOWHERE


@compiled
def worst(arrays: Any, own: CurveArrays, pool: int) -> tuple[np.int64, float, np.int64]:
    """The lowest score over pieces, age classes and levels. O(pieces · levels · log rows)."""
    least, least_order, found = np.inf, LAST, np.int64(NONE)
    curve_tables = own.curve_tables
    levels = arrays.groups.size // 2
    for side in range(2):
        if arrays.sides[side].pool != pool:
            continue
        heard = own.heard[side]
        grow_older(arrays, own, side)
        for age in range(curve_tables.classes[side]):
            pieces = 1 if heard.frame == NO_FRAME else curve_tables.pieces[side, heard.frame, age]
            for piece in range(pieces):
                begin, end = stretch_of(own, side, age, piece)
                if begin == end:
                    continue
                rising = (
                    heard.frame == NO_FRAME
                    or curve_tables.rising[side, heard.frame, age, piece] != 0
                )
                for level in range(levels):
                    row = worst_within(own, level, age, begin, end, rising)
                    if row == NOWHERE:
                        continue
                    offset = own.sorted_values.value[row] - heard.origin
                    score = 0.0
                    if heard.frame != NO_FRAME:
                        weight = arrays.groups[side * levels + level].weight
                        score = weight * worth(own, side, age, offset)
                    order = order_of(row, offset, rising)
                    if score < least or (score == least and order < least_order):
                        least, least_order, found = score, order, row
    return found, least, least_order
