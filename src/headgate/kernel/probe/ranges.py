"""Sorted index for bands and comparisons, and for equal keys where requested.

A step knows all its rows in advance, so the index is static: each side's rows are sorted by key and
value, and the possible partners of a row are a range of the other side's ranks (two for "not
equal"), found for all rows in one sweep before the first arrival. Only the bitmap of stored rows
changes (`marks.py`): a probe steps from one stored candidate to the next in a few instructions and
never visits a removed row.
"""

from typing import Any, NamedTuple

import numpy as np

from headgate.compiling import compiled
from headgate.kernel.relation import Bound, Relation
from headgate.policies.structures import marks

SPOT = np.dtype(
    [
        ("place", "i4"),  # rank of the row in the index
        ("first", "i4"),  # its partners begin here
        ("end", "i4"),  # to before here
        ("more", "i4"),  # and, for "not equal", from here
        ("last", "i4"),  # to before here
    ],
    align=True,
)

DIFFERENCE, REACHED, NONE = int(Bound.DIFFERENCE), int(Bound.REACHED), int(Bound.NONE)


class Ranges(NamedTuple):
    """The index of a step; empty where the join is on keys alone."""

    spots: np.ndarray  # SPOT, in event order
    rows: np.ndarray  # int32: the row at each place; left rows first, each side by key and value
    stored: marks.Marks  # the ranks whose row is stored


class Ends(NamedTuple):
    """The two bounds of a relation, as the sweep tests them."""

    lower_bound: int
    upper_bound: int
    lower: int | float
    negated_upper: int | float
    inverted: bool


def no_ranges() -> Ranges:
    """For joins on equality alone."""
    return Ranges(np.empty(0, SPOT), np.empty(0, np.int32), marks.no_marks(0))


def index_rows(
    relation: Relation, code: np.ndarray, value: np.ndarray, side: np.ndarray, codes: int
) -> Ranges:
    """Build the index of rows given in event order. O(n log n).

    Rows with a negative code match nothing and are left out.

    Examples
    --------
    >>> at_most_one_apart = Relation(Bound.DIFFERENCE, Bound.DIFFERENCE, -1, 1)
    >>> value, side = np.array([5, 3, 4, 9]), np.array([0, 1, 1, 1], np.uint8)
    >>> ranges = index_rows(at_most_one_apart, np.zeros(4, np.int32), value, side, 1)
    >>> ranges.rows.tolist(), ranges.spots[0].tolist()
    ([0, 1, 2, 3], (0, 2, 3, 0, 0))
    """
    spots, rows, starts = _placed(code, value, side, codes)
    at_least = _at_least_real if relation.real else _at_least_whole
    if relation.nan_holds:
        at_least = _at_least_or_nan
    for which, seen_from in enumerate((relation, relation.mirrored())):
        ends = Ends(
            int(seen_from.lower_bound),
            int(seen_from.upper_bound),
            seen_from.lower,
            -seen_from.upper,
            seen_from.inverted,
        )
        _sweep(
            spots,
            rows,
            value[rows],
            own=starts[which],
            other=starts[1 - which],
            ends=ends,
            at_least=at_least,
        )
    return Ranges(spots, rows, marks.no_marks(len(rows)))


def index_keys(code: np.ndarray, side: np.ndarray, codes: int) -> Ranges:
    """The same for equal keys alone: partners are the other side's rows with the code. O(n).

    Examples
    --------
    >>> ranges = index_keys(np.array([1, 0, 1, 1]), np.array([0, 1, 1, 1], np.uint8), 2)
    >>> ranges.rows.tolist(), ranges.spots[0].tolist()
    ([0, 1, 2, 3], (0, 2, 4, 0, 0))
    """
    spots, rows, starts = _placed(code, None, side, codes)
    for which in (0, 1):
        mine = rows[starts[which, 0] : starts[which, -1]]
        spots["first"][mine] = starts[1 - which, code[mine]]
        spots["end"][mine] = starts[1 - which, code[mine] + 1]
    return Ranges(spots, rows, marks.no_marks(len(rows)))


def _placed(
    code: np.ndarray, value: np.ndarray | None, side: np.ndarray, codes: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Spots with only ranks filled in, the row at each rank, and where each side's codes begin."""
    spots = np.zeros(len(code), SPOT)
    starts = np.zeros((2, codes + 1), np.int64)
    parts = []
    for which in (0, 1):
        mine = np.flatnonzero((side == which) & (code >= 0))
        by_value = mine if value is None else mine[np.argsort(value[mine], kind="stable")]
        grouped = np.empty(len(mine), np.int32)
        _group_by_code(by_value, code, starts[which], grouped)
        parts.append(grouped)
    starts[1] += len(parts[0])
    rows = np.concatenate(parts)
    spots["place"][rows] = np.arange(len(rows))
    return spots, rows, starts


@compiled
def _group_by_code(
    by_value: np.ndarray, code: np.ndarray, starts: np.ndarray, grouped: np.ndarray
) -> None:
    """Reorder rows sorted by value to (code, value); ``starts`` says where each code's rows begin,
    and ends with the number of rows."""
    for row in by_value:
        starts[code[row]] += 1
    total = 0
    for group in range(starts.size):
        total += starts[group]
        starts[group] = total
    # Filled from the back, each start moves from the end of its group to its beginning.
    for at in range(by_value.size - 1, -1, -1):
        row = by_value[at]
        starts[code[row]] -= 1
        grouped[starts[code[row]]] = row


@compiled
def _at_least_whole(one: int, other: int, least: int) -> bool:
    """Whether ``one - other >= least``, where the difference may overflow 64 bits."""
    if least >= 0:
        return bool(one >= other and np.uint64(one) - np.uint64(other) >= np.uint64(least))
    return bool(one >= other or np.uint64(other) - np.uint64(one) <= np.uint64(-least))


@compiled
def _at_least_real(one: float, other: float, least: float) -> bool:
    return one - other >= least


@compiled
def _at_least_or_nan(one: float, other: float, least: float) -> bool:
    return not one - other < least


@compiled
def _clears(one: Any, other: Any, bound: int, least: Any, at_least: Any) -> bool:
    """`relation.clears`, compiled."""
    if bound == DIFFERENCE:
        return bool(at_least(one, other, least))
    if bound == REACHED:
        return bool(one >= other)
    return bool(bound == NONE or one > other)


@compiled
def _sweep(
    spots: np.ndarray,
    rows: np.ndarray,
    value: np.ndarray,
    own: np.ndarray,
    other: np.ndarray,
    ends: Ends,
    at_least: Any,
) -> None:
    """Find the partner range of each row of a side. Both ends rise with the value: O(rows)."""
    for group in range(own.size - 1):
        first = end = other[group]
        stop = other[group + 1]
        for place in range(own[group], own[group + 1]):
            x = value[place]
            while first < stop and not _clears(
                value[first], x, ends.lower_bound, ends.lower, at_least
            ):
                first += 1
            while end < stop and _clears(
                x, value[end], ends.upper_bound, ends.negated_upper, at_least
            ):
                end += 1
            spot = spots[rows[place]]
            if ends.inverted:
                spot.first = other[group]
                spot.end = first
                spot.more = end
                spot.last = stop
            else:
                spot.first = first
                spot.end = max(first, end)


@compiled
def enter(ranges: Ranges, row: int) -> None:
    """Mark a row as stored."""
    marks.take(ranges.stored, ranges.spots[row].place)


@compiled
def leave(ranges: Ranges, row: int) -> None:
    """Mark a row as no longer stored."""
    marks.free(ranges.stored, ranges.spots[row].place)
