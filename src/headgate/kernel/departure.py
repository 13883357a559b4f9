"""Removal of stored rows: by expiry, by eviction, or behind the watermark.

Removing a row involves the operations of every kind of score, so there are few places in the kernel
that do it: one for rows that expire, one for rows evicted, one for rows that need no further match.
"""

from typing import Any

import numpy as np

from headgate.compiling import compiled
from headgate.kernel import meetings, ranking, settling
from headgate.kernel.layout import LEFT, NONE, RIGHT, Arrays, Count
from headgate.kernel.probe import indexes
from headgate.kernel.watching import FINISHED, OPEN

EXPIRED = int(Count.EXPIRED)


@compiled
def is_past(arrays: Arrays, row: int) -> bool:
    """Whether no in-order arrival from now on can match the row.

    The last match of a left row is a right row at the very end of its window; that of a right row
    is a left row, which precedes the right rows of the same time.
    """
    own = arrays.links[row]
    side = arrays.sides[own.side]
    if side.by_rows:
        return bool(side.seen > own.mark + side.span)
    return bool(last_meeting(arrays, row) < arrays.terms[0].clock)


@compiled
def last_meeting(arrays: Arrays, row: int) -> Any:
    """The event key of the last row that a row with a window in time can match."""
    own = arrays.links[row]
    return 2 * (own.mark + arrays.sides[own.side].span) + (1 if own.side == LEFT else 0)


@compiled
def note_life(arrays: Arrays, row: int) -> None:
    """Add the time that a row was stored within its window to the lifetime sums."""
    side = arrays.sides[arrays.links[row].side]
    stayed = (arrays.terms[0].clock >> 1) - arrays.rows[row].time
    if not side.by_rows:
        stayed = min(stayed, side.span)
    seconds = float(stayed) * 1e-6
    lives = arrays.lives[arrays.links[row].side]
    lives[0] += seconds
    lives[1] += seconds * seconds


@compiled
def remove(arrays: Arrays, row: int) -> None:
    """Remove a stored row."""
    own = arrays.links[row]
    pool = arrays.pools[arrays.sides[own.side].pool]
    own.alive = 0
    ranking.on_removal(arrays, row)
    if arrays.meetings.stored.size:
        meetings.let_go(arrays, row)
    note_life(arrays, row)
    pool.rows -= 1
    pool.bytes -= own.size
    if own.watch != OPEN:
        indexes.leave(arrays, row)
    if pool.ranked:
        ranking.leave(arrays, row)


@compiled
def expire(arrays: Arrays, row: int, side: int) -> None:
    """Remove a row whose window has passed."""
    own = arrays.links[row]
    if own.alive:
        arrays.tally[EXPIRED, side] += 1
        settling.let_go(arrays, row)
        if arrays.meetings.stored.size:
            meetings.let_pass(arrays, row)
        remove(arrays, row)
    if own.watch == OPEN:
        own.watch = FINISHED
        indexes.leave(arrays, row)


@compiled
def let_go_expired(arrays: Arrays, side: int) -> None:
    """Expire the side's rows whose window has passed. Amortised O(1) per row."""
    own = arrays.sides[side]
    at = own.pointer
    while at < own.end:
        row = np.int64(arrays.side_rows[at])
        if not is_past(arrays, row):
            if not own.by_rows:
                own.due = last_meeting(arrays, row)
            break
        expire(arrays, row, side)
        at += 1
    own.pointer = at


@compiled
def let_go_behind_watermark(arrays: Arrays) -> None:
    """Expire rows that no future row, however late, can match."""
    for side in range(2):
        own = arrays.sides[side]
        if own.by_rows:
            continue
        at = own.pointer
        while at < own.end:
            row = np.int64(arrays.side_rows[at])
            if arrays.links[row].mark + own.span > arrays.terms[0].watermark:
                break
            expire(arrays, row, side)
            at += 1
        own.pointer = at


@compiled
def next_retired(arrays: Arrays, pool: int) -> Any:
    """A stored row that only an out-of-order row could still need, or that is superseded; or NONE.

    Amortised O(1).
    """
    for side in range(2):
        own = arrays.sides[side]
        if own.pool != pool or own.due >= arrays.terms[0].clock:
            continue
        at = own.pointer
        while at < own.end:
            row = np.int64(arrays.side_rows[at])
            if not is_past(arrays, row):
                break
            at += 1
            if arrays.links[row].alive:
                own.pointer = at
                return row
        own.pointer = at
    if arrays.terms[0].supersedes and arrays.sides[RIGHT].pool == pool:
        return settling.next_superseded(arrays)
    return np.int64(NONE)


@compiled
def evict(arrays: Arrays, row: int, cause: int) -> None:
    """Remove a stored row that a later row might have met, and count why."""
    arrays.tally[cause, arrays.links[row].side] += 1
    settling.give_up(arrays, row)
    remove(arrays, row)
