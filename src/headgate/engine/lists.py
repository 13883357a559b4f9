"""The structure behind scores that fall or rise with age: rows of a group, the eldest first.

Doubly linked lists over row positions, one per group: a side and level of importance, and a class
where scores are of value and time. Age goes by event order; what is left of a row window goes
by sequence. Joining at the young end and leaving anywhere are O(1).
"""

from headgate.compiling import inlined
from headgate.engine.layout import NONE, Desk
from headgate.policies.base import Kind

VALUE = int(Kind.VALUE)


@inlined
def is_younger(desk: Desk, one: int, row: int) -> bool:
    """Whether ``one`` belongs after ``row`` in a list of theirs."""
    if desk.terms[0].kind == VALUE and desk.sides[desk.links[row].side].by_rows:
        return bool(desk.links[one].mark > desk.links[row].mark)
    return one > row


@inlined
def join(desk: Desk, row: int) -> None:
    """Enter a row at its place: the young end, unless it comes out of order."""
    rows = desk.rows
    group = desk.groups[rows[row].group]
    elder = group.youngest
    younger = NONE
    while elder != NONE and is_younger(desk, elder, row):
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
def leave(desk: Desk, row: int) -> None:
    """Take a row out. O(1)."""
    rows = desk.rows
    group = desk.groups[rows[row].group]
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
