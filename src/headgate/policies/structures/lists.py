"""Linked lists of a group's rows, oldest first, for scores that fall or rise with age.

Doubly linked over row positions, one list per group: a side and level of importance, and for value
scores a class. Age follows event order; the rest of a row window follows sequence. Inserting at the
young end and removing anywhere are O(1).
"""

from typing import Any

import numpy as np

from headgate.compiling import compiled
from headgate.policies.structures.no_row import NONE

GROUP = np.dtype([("weight", "f8"), ("eldest", "i4"), ("youngest", "i4")], align=True)


def empty_lists(weights: np.ndarray) -> np.ndarray:
    """Lists for groups of these weights on the left side, and for as many on the right."""
    groups = np.zeros(2 * len(weights), GROUP)
    groups["weight"] = np.tile(weights, 2)
    groups["eldest"] = groups["youngest"] = NONE
    return groups


@compiled
def is_younger(arrays: Any, one: int, row: int, by_mark: bool) -> bool:
    """Whether ``one`` belongs after ``row`` in a list of theirs."""
    if by_mark and arrays.sides[arrays.links[row].side].by_rows:
        return bool(arrays.links[one].mark > arrays.links[row].mark)
    return one > row


@compiled
def insert_after(arrays: Any, row: int, elder: int) -> None:
    """Insert a row after the one that is to be its elder, or as the eldest. O(1)."""
    rows = arrays.rows
    group = arrays.groups[rows[row].group]
    younger = group.eldest if elder == NONE else rows[elder].younger
    rows[row].elder = elder
    rows[row].younger = younger
    if elder == NONE:
        group.eldest = row
    else:
        rows[elder].younger = row
    if younger == NONE:
        group.youngest = row
    else:
        rows[younger].elder = row


@compiled
def join(arrays: Any, row: int, by_mark: bool) -> None:
    """Insert a row in order: at the young end, unless it is out of order.

    With ``by_mark``, rows of a row window are in order of sequence, not in event order.
    """
    rows = arrays.rows
    group = arrays.groups[rows[row].group]
    elder = group.youngest
    while elder != NONE and is_younger(arrays, elder, row, by_mark):
        elder = rows[elder].elder
    insert_after(arrays, row, np.int64(elder))


@compiled
def leave(arrays: Any, row: int) -> None:
    """Remove a row. O(1)."""
    rows = arrays.rows
    group = arrays.groups[rows[row].group]
    elder = rows[row].elder
    younger = rows[row].younger
    if elder == NONE:
        group.eldest = younger
    else:
        rows[elder].younger = younger
    if younger == NONE:
        group.youngest = elder
    else:
        rows[younger].elder = elder
