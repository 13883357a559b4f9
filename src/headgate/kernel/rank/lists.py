"""The structure behind scores that fall or rise with age: rows of a group, the eldest first.

Doubly linked lists over row positions, one per group: a side and level of importance, and a class
where scores are of value and time. Age goes by event order; what is left of a row window goes
by sequence. Joining at the young end and leaving anywhere are O(1).
"""

from headgate.compiling import inlined
from headgate.kernel.layout import NONE, Arrays
from headgate.policies.policy import Kind

VALUE = int(Kind.VALUE)


@inlined
def is_younger(arrays: Arrays, one: int, row: int) -> bool:
    """Whether ``one`` belongs after ``row`` in a list of theirs."""
    if arrays.terms[0].kind == VALUE and arrays.sides[arrays.links[row].side].by_rows:
        return bool(arrays.links[one].mark > arrays.links[row].mark)
    return one > row


@inlined
def join(arrays: Arrays, row: int) -> None:
    """Enter a row at its place: the young end, unless it comes out of order."""
    rows = arrays.rows
    group = arrays.groups[rows[row].group]
    elder = group.youngest
    younger = NONE
    while elder != NONE and is_younger(arrays, elder, row):
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
def leave(arrays: Arrays, row: int) -> None:
    """Take a row out. O(1)."""
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
