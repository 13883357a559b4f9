"""What followed rows meet, and how long they wait, by class of row (`models/density_classes.py`).

Followed are the watched rows, through their whole window; and, where the policy scores rows by just
these classes, a share of the stored rows for as long as they are stored. The latter are many more,
and are no less typical of their class: within a class all rows have the same score. All are whole
numbers of rows and microseconds of the clock, so sums come out the same wherever
steps are cut.
"""

from typing import Any, NamedTuple

import numpy as np

from headgate.compiling import compiled
from headgate.kernel.meeting_classes import MeetingClasses
from headgate.models.density_classes import SHAPE

LEFT = 0
STORED, PASSED = 1, 2
MOST = 2**31 - 1


class Meetings(NamedTuple):
    """Arrays of the kernel; empty where meetings are not counted."""

    rate: np.ndarray  # uint8 at twice the code plus the side: the class of the key's rate
    age_edges: np.ndarray  # int64 (side, class): where classes begin, and an end that none reaches
    gap_edges: np.ndarray  # int64 (side, class)
    partners: np.ndarray  # int32 (row): partners met so far, whether or not it was stored
    last: np.ndarray  # int64 (row): when it met the last of them, or came
    since: np.ndarray  # int64 (row): up to when its waiting is counted
    noted: np.ndarray  # int32 (row): the arrival it met last
    stored: np.ndarray  # uint8 (row): followed while it is STORED; empty for no row
    met: np.ndarray  # int64 (side, rate, matches, gap, age)
    spent: np.ndarray  # int64 (side, rate, matches, gap, age): microseconds


class MetBefore(NamedTuple):
    """What watched rows met before a step; an entry for each row of a group."""

    partners: np.ndarray  # int32
    last: np.ndarray  # int64


def no_meetings() -> Meetings:
    """Where nothing is counted."""
    edges, counts = np.zeros((2, 0), np.int64), np.zeros([0] * len(SHAPE), np.int64)
    times = np.zeros(0, np.int64)
    rows = np.zeros(0, np.int32)
    rate = np.zeros(0, np.uint8)
    return Meetings(
        rate=rate,
        age_edges=edges,
        gap_edges=edges,
        partners=rows,
        last=times,
        since=times,
        noted=rows,
        stored=rate,
        met=counts,
        spent=counts,
    )


def meetings_for(classes: MeetingClasses, time: np.ndarray, began_at: int) -> Meetings:
    """Nothing met yet, by rows of these times, in a step that begins at this time."""
    return Meetings(
        rate=classes.rate,
        age_edges=classes.age_edges,
        gap_edges=classes.gap_edges,
        partners=np.zeros(len(time), np.int32),
        last=time.copy(),
        since=np.maximum(time, began_at),
        noted=np.full(len(time), -1, np.int32),
        stored=np.zeros(0, np.uint8),
        met=np.zeros(SHAPE, np.int64),
        spent=np.zeros(SHAPE, np.int64),
    )


@compiled
def class_at(edges: np.ndarray, side: int, elapsed: int) -> Any:
    """The class that begins last before so much time has passed."""
    at = np.int64(0)
    while edges[side, at + 1] <= elapsed:
        at += 1
    return at


@compiled
def matches_class(count: int) -> Any:
    """As `models.density_classes.match_class`."""
    return np.int64(min(count, 2)) + (1 if count > 3 else 0)


@compiled
def is_over(arrays: Any, row: int) -> bool:
    """Whether a row brings nothing more: in a semi or anti join, a left row that met a partner."""
    if arrays.terms[0].frees_left == 0 or arrays.links[row].side != LEFT:
        return False
    return bool(arrays.meetings.partners[row] > 0)


@compiled
def spend(arrays: Any, row: int, until: int) -> None:
    """Count the time that a watched row has waited within its window. O(classes passed)."""
    own = arrays.meetings
    side = np.int64(arrays.links[row].side)
    time = arrays.rows[row].time
    until = min(until, time + arrays.sides[side].span)
    at = own.since[row]
    if at >= until:
        return
    own.since[row] = until
    if is_over(arrays, row):
        return
    rate = own.rate[2 * arrays.rows[row].code + side]
    met = matches_class(own.partners[row])
    last = own.last[row]
    while at < until:
        age = class_at(own.age_edges, side, at - time)
        gap = class_at(own.gap_edges, side, at - last)
        end = min(time + own.age_edges[side, age + 1], last + own.gap_edges[side, gap + 1])
        end = min(end, until)
        own.spent[side, rate, met, gap, age] += end - at
        at = end


@compiled
def note_meeting(arrays: Any, row: int, probe: int, count: int) -> None:
    """Count that a watched row meets an arrival.

    A probe that is taken back is made again, and counted the first time.
    """
    own = arrays.meetings
    if own.partners.size == 0 or count < 0 or own.noted[row] == probe:
        return
    now = max(arrays.terms[0].clock >> 1, arrays.rows[row].time)
    spend(arrays, row, now)
    own.noted[row] = probe
    if is_over(arrays, row):
        return
    side = np.int64(arrays.links[row].side)
    age = class_at(own.age_edges, side, now - arrays.rows[row].time)
    gap = class_at(own.gap_edges, side, now - own.last[row])
    rate = own.rate[2 * arrays.rows[row].code + side]
    own.met[side, rate, matches_class(own.partners[row]), gap, age] += count
    own.partners[row] = min(own.partners[row] + count, MOST)
    own.last[row] = max(own.last[row], arrays.rows[probe].time)


@compiled
def note_pairs(arrays: Any, row: int, pairs: np.ndarray, first: int, end: int) -> None:
    """Count what rows meet that are followed for being stored."""
    own = arrays.meetings
    for at in range(first, end):
        partner = np.int64(pairs[at].partner)
        if own.stored[partner] and arrays.links[partner].watch == 0:
            note_meeting(arrays, partner, row, np.int64(1))


@compiled
def let_go(arrays: Any, row: int) -> None:
    """Follow a row no longer that is not stored any more; a watched one is followed on."""
    own = arrays.meetings
    if own.stored[row] == STORED:
        own.stored[row] = 0
        if arrays.links[row].watch == 0:
            spend(arrays, row, arrays.terms[0].clock >> 1)


@compiled
def let_pass(arrays: Any, row: int) -> None:
    """Count a row's time to the end of its window, which has passed by the end of the step."""
    if arrays.meetings.stored[row] == STORED:
        arrays.meetings.stored[row] = PASSED


@compiled
def spend_all(arrays: Any) -> None:
    """Count the time that all followed rows have waited up to now."""
    own = arrays.meetings
    if own.partners.size == 0:
        return
    now = arrays.terms[0].clock >> 1
    for row in range(arrays.rows.size):
        link = arrays.links[row]
        followed = link.watch != 0
        if own.stored.size > 0:
            state = own.stored[row]
            followed = followed or state == PASSED or (state == STORED and link.alive != 0)
        if followed:
            spend(arrays, row, now)
