"""The structure behind scores that fall or rise with age: rows of a group, in event order.

Doubly linked lists over row positions, one per group: a side (scores of age alone) or a side and
value class (scores of value and time). Joining at the young end and leaving anywhere are O(1).
"""

from headgate.engine.compiled import inlined
from headgate.engine.layout import NONE


@inlined
def join(rows, groups, row):
    """Enter a row at its place in event order: the young end, unless it comes out of order."""
    group = groups[rows[row].group]
    elder = group.youngest
    younger = NONE
    while elder > row:
        younger = elder
        elder = rows[elder].elder
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


@inlined
def leave(rows, groups, row):
    """Take a row out. O(1)."""
    group = groups[rows[row].group]
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
