"""The join itself: expire, probe, admit or shed, one arrival after the other.

The only place where rows enter, meet and leave. Compiled; works on positions alone. An arrival
costs what its windows' indexes cost plus, when memory is full, what its policy's kind of score
costs: O(pairs it makes) with chains, which run from the newest row to the oldest, so that a probe
stops at the first row out of reach and expired rows are never visited again.
"""

from typing import Any

import numpy as np

from headgate.compiling import compiled, inlined
from headgate.engine import (
    bars,
    curves,
    effort,
    flips,
    heap,
    indexing,
    probing,
    ranking,
    residence,
    worth,
)
from headgate.engine.indexes.windows import Windows
from headgate.engine.layout import LEFT, NONE, NULL_KEY, RIGHT, Count, Desk, Skip
from headgate.engine.priority import resident
from headgate.engine.watching import FINISHED, GHOST, OPEN
from headgate.policies.base import Kind
from headgate.policies.random import draw_one

HISTORY, FLIPS, CURVE = int(Kind.HISTORY), int(Kind.FLIPS), int(Kind.CURVE)
RESIDENCE = int(Kind.RESIDENCE)
PAIRS = int(Count.PAIRS)
ADMITTED = int(Count.ADMITTED)
REFUSED = int(Count.REFUSED)
SHED = int(Count.SHED)
EXPIRED = int(Count.EXPIRED)
RETIRED = int(Count.RETIRED)
NULL_KEYS = int(Count.NULL_KEYS)
UNNEEDED = int(Count.UNNEEDED)
PEAK_ROWS = int(Count.PEAK_ROWS)
PEAK_BYTES = int(Count.PEAK_BYTES)
UNCHOSEN = int(Count.UNCHOSEN)
UNPROBED = int(Count.UNPROBED)
UNSTORED = int(Count.UNSTORED)
NOT_PROBED, NOT_STORED = int(Skip.PROBE), int(Skip.STORE)
MOST_MATCHES = 2**31 - 1
FIRST: Any = np.int64(0)
LEFT_SIDE, RIGHT_SIDE = np.int64(LEFT), np.int64(RIGHT)
"""As numbers that vary: a constant would have what it is passed to compiled for it alone."""


@inlined
def is_past(desk: Desk, row: int) -> bool:
    """Whether no in-order arrival from now on can meet the row.

    A left row can last be met by a right row at its window's very end; a right row by a left one,
    which comes before the right rows of that time.
    """
    own = desk.links[row]
    side = desk.sides[own.side]
    if side.by_rows:
        return bool(side.seen > own.mark + side.span)
    last_meeting = 2 * (own.mark + side.span) + (1 if own.side == LEFT else 0)
    return bool(last_meeting < desk.terms[0].clock)


@inlined
def note_life(desk: Desk, row: int) -> None:
    """Add up how long a row was stored within its window."""
    side = desk.sides[desk.links[row].side]
    stayed = (desk.terms[0].clock >> 1) - desk.rows[row].time
    if not side.by_rows:
        stayed = min(stayed, side.span)
    seconds = float(stayed) * 1e-6
    lives = desk.lives[desk.links[row].side]
    lives[0] += seconds
    lives[1] += seconds * seconds


@inlined
def remove(desk: Desk, row: int) -> None:
    """Let a stored row go."""
    own = desk.links[row]
    pool = desk.pools[desk.sides[own.side].pool]
    own.alive = 0
    if desk.terms[0].observes:
        desk.rows[row].score = desk.terms[0].clock >> 1
    note_life(desk, row)
    pool.rows -= 1
    pool.bytes -= own.size
    if own.watch != OPEN:
        indexing.leave(desk, row)
    if pool.ranked:
        ranking.leave(desk, row)


@inlined
def expire(desk: Desk, row: int, side: int) -> None:
    """A row's window has passed."""
    own = desk.links[row]
    if own.alive:
        desk.tally[EXPIRED, side] += 1
        remove(desk, row)
    if own.watch == OPEN:
        own.watch = FINISHED
        indexing.leave(desk, row)


@inlined
def let_go_expired(desk: Desk, side: int) -> None:
    """Expire the side's rows whose window has passed. O(1) a row over its life."""
    own = desk.sides[side]
    at = own.pointer
    while at < own.end:
        row = np.int64(desk.side_rows[at])
        if not is_past(desk, row):
            break
        expire(desk, row, side)
        at += 1
    own.pointer = at


@compiled
def let_go_behind_watermark(desk: Desk) -> None:
    """Expire rows that no row still to come, however late, can meet."""
    for side in range(2):
        own = desk.sides[side]
        if own.by_rows:
            continue
        at = own.pointer
        while at < own.end:
            row = np.int64(desk.side_rows[at])
            if desk.links[row].mark + own.span > desk.terms[0].watermark:
                break
            expire(desk, row, side)
            at += 1
        own.pointer = at


@inlined
def retire_one(desk: Desk, pool: int) -> bool:
    """Give up one row that only an out-of-order row could still meet; False when there is none."""
    for side in range(2):
        own = desk.sides[side]
        if own.pool != pool:
            continue
        at = own.pointer
        while at < own.end:
            row = np.int64(desk.side_rows[at])
            if not is_past(desk, row):
                break
            at += 1
            if desk.links[row].alive:
                own.pointer = at
                desk.tally[RETIRED, side] += 1
                remove(desk, row)
                return True
        own.pointer = at
    return False


@inlined
def is_fair_turn(desk: Desk, row: int) -> bool:
    """Whether the oldest row makes room for this arrival, whatever it is worth."""
    terms = desk.terms[0]
    return draw_one(terms.seed, desk.links[row].side, desk.rows[row].sequence) < terms.fairness


@inlined
def make_room(desk: Desk, row: int, past: bool) -> bool:
    """Whether the arrival can be stored, after giving up what is worth less."""
    side = desk.links[row].side
    number = desk.sides[side].pool
    pool = desk.pools[number]
    size = desk.links[row].size
    if pool.most_rows < 1 or size > pool.most_bytes:
        desk.tally[RETIRED if past else REFUSED, side] += 1
        return False
    samples = desk.terms[0].samples
    if samples and ranking.standing(desk, row)[0] <= 0.0:
        desk.tally[UNCHOSEN, side] += 1
        return False
    while pool.rows >= pool.most_rows or pool.bytes + size > pool.most_bytes:
        if retire_one(desk, number):
            continue
        if past:
            desk.tally[RETIRED, side] += 1
            return False
        if desk.terms[0].fairness > 0.0 and is_fair_turn(desk, row):
            worst = ranking.eldest(desk, number)
            desk.tally[SHED, desk.links[worst].side] += 1
            remove(desk, worst)
            continue
        worst, score, order = ranking.worst_stored(desk, number)
        own_score, own_order = ranking.standing(desk, row)
        is_least = own_score < score or (
            own_score == score and (own_order < order or desk.terms[0].refuses_equals != 0)
        )
        if worst == NONE or (is_least and not desk.terms[0].takes_newcomers):
            desk.tally[REFUSED, side] += 1
            if samples:
                bars.raise_bar(desk, number, own_score)
            return False
        desk.tally[SHED, desk.links[worst].side] += 1
        if samples:
            bars.raise_bar(desk, number, score)
        remove(desk, worst)
    return True


@inlined
def is_doubled(desk: Desk, row: int) -> bool:
    """Whether a row of the arrival's key is stored on its side.

    The probe of a row of the other side unlinks the dead, so where one came just before, as in a
    lookup, the chain has one row at most.
    """
    other = desk.newest[2 * desk.rows[row].code + desk.links[row].side].row
    while other != NONE:
        if desk.links[other].alive:
            return True
        other = np.int64(desk.links[other].older)
    return False


@inlined
def store(desk: Desk, row: int) -> None:
    """Store a row for which there is room: where probes find it, and in its policy's structure."""
    own = desk.links[row]
    side = desk.sides[own.side]
    pool = desk.pools[side.pool]
    own.alive = 1
    pool.rows += 1
    pool.bytes += own.size
    make_found(desk, row)
    if pool.ranked:
        ranking.enter(desk, row)
    note_peak(desk)


@inlined
def make_found(desk: Desk, row: int) -> None:
    """Enter a row where probes look for partners: a stored one, or a ghost."""
    side = desk.sides[desk.links[row].side]
    if desk.rows[row].side_index < side.pointer:
        side.pointer = desk.rows[row].side_index  # it has yet to expire
    side.eldest = min(side.eldest, desk.rows[row].side_index)
    indexing.enter(desk, row)


@inlined
def note_peak(desk: Desk) -> None:
    """Keep the greatest number of rows and bytes ever stored."""
    rows = desk.pools[0].rows + desk.pools[1].rows
    if rows > desk.tally[PEAK_ROWS, LEFT]:
        desk.tally[PEAK_ROWS, LEFT] = rows
    held = desk.pools[0].bytes + desk.pools[1].bytes
    if held > desk.tally[PEAK_BYTES, LEFT]:
        desk.tally[PEAK_BYTES, LEFT] = held


@inlined
def note_matches(
    desk: Desk, rescore: Any, row: int, pairs: np.ndarray, first: int, made: int
) -> None:
    """Bring the history of an arrival and of its partners up to date."""
    parameter = desk.terms[0].parameter
    own = desk.rows[row]
    own.matches = made - first
    own.touched = own.time
    own.score = rescore(own.matches, own.touched, own.time, parameter)
    for at in range(first, made):
        number = np.int64(pairs[at].partner)
        partner = desk.rows[number]
        if partner.matches < MOST_MATCHES:  # a row that never expires may meet more
            partner.matches += 1
        partner.touched = max(partner.touched, own.time)
        before = partner.score
        partner.score = rescore(partner.matches, partner.touched, partner.time, parameter)
        pool = desk.sides[desk.links[number].side].pool
        # A risen score is put right when the row surfaces in the heap; a fallen one would not be.
        if partner.score < before and desk.pools[pool].ranked:
            heap.enter(desk, pool, number)


@inlined
def note_worth(desk: Desk, row: int, pairs: np.ndarray, first: int, made: int) -> None:
    """Add up the importance of an arrival's pairs, for policies that look at it."""
    for at in range(first, made):
        residence.note_worth(
            resident(desk), worth.pair_worth(desk, row, np.int64(pairs[at].partner))
        )


@inlined
def note_bars(desk: Desk, pairs: np.ndarray, passed: np.ndarray, first: int, made: int) -> None:
    """Write the bar that each pair's stored row has passed."""
    for at in range(first, made):
        passed[at] = bars.bar_of(desk, np.int64(pairs[at].partner))


@inlined
def let_go_unchosen(desk: Desk, spent: np.ndarray, count: int) -> None:
    """Let go of rows all of whose chosen matches are made."""
    for at in range(count):
        desk.tally[UNCHOSEN, desk.links[spent[at]].side] += 1
        remove(desk, spent[at])


@compiled
def advance(
    desk: Desk,
    windows: Windows,
    rescore: Any,
    pairs: np.ndarray,
    passed: np.ndarray,
    spent: np.ndarray,
    start: int,
) -> tuple[int, int]:
    """Process arrivals from position ``start`` on, until done or ``pairs`` is full.

    A sample writes the bars that pairs have passed into ``passed``, and needs ``spent`` to work
    in; otherwise both may be empty. Returns the position to go on from (the number of rows when
    done) and the pairs written. An arrival whose pairs do not fit is left whole for the next call.
    """
    made = FIRST
    terms = desk.terms[0]
    for row in range(start, desk.links.size):
        own = desk.links[row]
        if not own.arriving:
            continue
        probing.look_ahead(desk, row)
        if own.watch == FINISHED:
            own.watch = OPEN  # its window had passed before it came
        side = desk.sides[own.side]
        if terms.kind == CURVE and 2 * desk.rows[row].time + own.side >= terms.clock:
            curves.hear(desk, row)
        terms.clock = max(terms.clock, 2 * desk.rows[row].time + own.side)
        side.seen = desk.rows[row].sequence + 1
        if worth.is_due(desk):
            worth.redefine(desk)
        if desk.sides[LEFT].by_rows or not terms.keep_late:
            let_go_expired(desk, LEFT_SIDE)
        if desk.sides[RIGHT].by_rows or not terms.keep_late:
            let_go_expired(desk, RIGHT_SIDE)
        if desk.rows[row].code == NULL_KEY:
            desk.tally[NULL_KEYS, own.side] += 1
            continue

        is_left_out = effort.leaves_out(desk, row)
        end = made
        if not is_left_out or terms.missing:
            reach, limit = probing.reach_of(desk, row)
            end = indexing.probe(desk, windows, row, reach, limit, pairs, made)
        if is_left_out:
            desk.tally[UNPROBED, own.side] += 1
            terms.missing = 0
            end = made
        if end < 0:
            effort.take_back(desk)
            return row, made
        effort.pay(desk, terms.pairing_costs * (end - made))
        if terms.kind == RESIDENCE:
            residence.note_arrival(resident(desk), row)
        if terms.kind == FLIPS and not terms.count_only:
            end, done = flips.keep_chosen(desk, pairs, passed, made, end, spent)
            let_go_unchosen(desk, spent, done)
        elif terms.samples and not terms.count_only:
            note_bars(desk, pairs, passed, made, end)
        desk.tally[PAIRS, own.side] += end - made
        if not terms.count_only:
            if terms.kind == HISTORY:
                note_matches(desk, rescore, row, pairs, made, end)
            elif terms.kind == RESIDENCE:
                note_worth(desk, row, pairs, made, end)
                residence.note_pairs(resident(desk), row, pairs, made, end)
            elif terms.observes:
                for at in range(made, end):
                    desk.rows[pairs[at].partner].matches += 1
            made = end

        past = is_past(desk, row)
        may_be_met_late = (
            terms.keep_late and not side.by_rows and own.mark + side.span > terms.watermark
        )
        if (past and not may_be_met_late) or (terms.unique and is_doubled(desk, row)):
            desk.tally[UNNEEDED, own.side] += 1
            if own.watch == OPEN:
                own.watch = FINISHED
        elif own.skip & NOT_STORED:
            desk.tally[UNSTORED, own.side] += 1
            if own.watch == OPEN:
                make_found(desk, row)  # a ghost from the start
        elif make_room(desk, row, past):
            desk.tally[ADMITTED, own.side] += 1
            effort.pay(desk, terms.storing_costs)
            if terms.observes:
                desk.rows[row].touched = desk.shelf.value[row] - side.origin
            store(desk, row)
        elif own.watch == OPEN:
            make_found(desk, row)  # a ghost from the start
    return desk.links.size, made


@compiled
def restore(desk: Desk) -> None:
    """Take up the rows stored by earlier steps, less those behind the watermark.

    A budget made smaller since then is met by shedding, before any arrival.
    """
    for row in range(desk.rows.size):
        own = desk.links[row]
        if own.watch == GHOST:
            own.watch = OPEN
            make_found(desk, row)
        elif not own.arriving:
            store(desk, row)
    let_go_behind_watermark(desk)
    for number in range(2):
        pool = desk.pools[number]
        while pool.rows > pool.most_rows or pool.bytes > pool.most_bytes:
            if not retire_one(desk, number):
                worst, score, _ = ranking.worst_stored(desk, number)
                if worst == NONE:  # nobody has been there long enough
                    worst = ranking.eldest(desk, number)
                desk.tally[SHED, desk.links[worst].side] += 1
                if desk.terms[0].samples:
                    bars.raise_bar(desk, number, score)
                remove(desk, worst)
    desk.tally[PEAK_ROWS, LEFT] = 0
    desk.tally[PEAK_BYTES, LEFT] = 0
    note_peak(desk)


@compiled
def rescore_stored(desk: Desk, rescore: Any) -> None:
    """Give stored rows the score their history earned them."""
    parameter = desk.terms[0].parameter
    for row in range(desk.rows.size):
        own = desk.rows[row]
        if not desk.links[row].arriving:
            own.score = rescore(own.matches, own.touched, own.time, parameter)
