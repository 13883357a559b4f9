"""The join itself: expire, probe, admit or shed, one arrival after the other.

The only place where rows enter, meet and leave. Compiled; works on positions alone. An arrival
costs what its windows' indexes cost plus, when memory is full, what its policy's kind of score
costs: O(pairs it makes) with chains, which run from the newest row to the oldest, so that a probe
stops at the first row out of reach and expired rows are never visited again.
"""

from typing import Any

import numpy as np

from headgate.compiling import compiled, inlined
from headgate.kernel import skipped_work, worth
from headgate.kernel.layout import LEFT, NONE, NULL_KEY, RIGHT, Arrays, Count, Skip
from headgate.kernel.probe import chains, indexes
from headgate.kernel.probe.windows import Windows
from headgate.kernel.rank import coins, curves, heap, ranking, residence, thresholds
from headgate.kernel.rank.priority import resident
from headgate.kernel.watching import FINISHED, GHOST, OPEN
from headgate.policies.policy import Kind
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
def is_past(arrays: Arrays, row: int) -> bool:
    """Whether no in-order arrival from now on can meet the row.

    A left row can last be met by a right row at its window's very end; a right row by a left one,
    which comes before the right rows of that time.
    """
    own = arrays.links[row]
    side = arrays.sides[own.side]
    if side.by_rows:
        return bool(side.seen > own.mark + side.span)
    last_meeting = 2 * (own.mark + side.span) + (1 if own.side == LEFT else 0)
    return bool(last_meeting < arrays.terms[0].clock)


@inlined
def note_life(arrays: Arrays, row: int) -> None:
    """Add up how long a row was stored within its window."""
    side = arrays.sides[arrays.links[row].side]
    stayed = (arrays.terms[0].clock >> 1) - arrays.rows[row].time
    if not side.by_rows:
        stayed = min(stayed, side.span)
    seconds = float(stayed) * 1e-6
    lives = arrays.lives[arrays.links[row].side]
    lives[0] += seconds
    lives[1] += seconds * seconds


@inlined
def remove(arrays: Arrays, row: int) -> None:
    """Let a stored row go."""
    own = arrays.links[row]
    pool = arrays.pools[arrays.sides[own.side].pool]
    own.alive = 0
    if arrays.terms[0].observes:
        arrays.rows[row].score = arrays.terms[0].clock >> 1
    note_life(arrays, row)
    pool.rows -= 1
    pool.bytes -= own.size
    if own.watch != OPEN:
        indexes.leave(arrays, row)
    if pool.ranked:
        ranking.leave(arrays, row)


@inlined
def expire(arrays: Arrays, row: int, side: int) -> None:
    """A row's window has passed."""
    own = arrays.links[row]
    if own.alive:
        arrays.tally[EXPIRED, side] += 1
        remove(arrays, row)
    if own.watch == OPEN:
        own.watch = FINISHED
        indexes.leave(arrays, row)


@inlined
def let_go_expired(arrays: Arrays, side: int) -> None:
    """Expire the side's rows whose window has passed. O(1) a row over its life."""
    own = arrays.sides[side]
    at = own.pointer
    while at < own.end:
        row = np.int64(arrays.side_rows[at])
        if not is_past(arrays, row):
            break
        expire(arrays, row, side)
        at += 1
    own.pointer = at


@compiled
def let_go_behind_watermark(arrays: Arrays) -> None:
    """Expire rows that no row still to come, however late, can meet."""
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


@inlined
def retire_one(arrays: Arrays, pool: int) -> bool:
    """Give up one row that only an out-of-order row could still meet; False when there is none."""
    for side in range(2):
        own = arrays.sides[side]
        if own.pool != pool:
            continue
        at = own.pointer
        while at < own.end:
            row = np.int64(arrays.side_rows[at])
            if not is_past(arrays, row):
                break
            at += 1
            if arrays.links[row].alive:
                own.pointer = at
                arrays.tally[RETIRED, side] += 1
                remove(arrays, row)
                return True
        own.pointer = at
    return False


@inlined
def is_fair_turn(arrays: Arrays, row: int) -> bool:
    """Whether the oldest row makes room for this arrival, whatever it is worth."""
    terms = arrays.terms[0]
    return draw_one(terms.seed, arrays.links[row].side, arrays.rows[row].sequence) < terms.fairness


@inlined
def make_room(arrays: Arrays, row: int, past: bool) -> bool:
    """Whether the arrival can be stored, after giving up what is worth less."""
    side = arrays.links[row].side
    number = arrays.sides[side].pool
    pool = arrays.pools[number]
    size = arrays.links[row].size
    if pool.most_rows < 1 or size > pool.most_bytes:
        arrays.tally[RETIRED if past else REFUSED, side] += 1
        return False
    samples = arrays.terms[0].samples
    if samples and ranking.standing(arrays, row)[0] <= 0.0:
        arrays.tally[UNCHOSEN, side] += 1
        return False
    while pool.rows >= pool.most_rows or pool.bytes + size > pool.most_bytes:
        if retire_one(arrays, number):
            continue
        if past:
            arrays.tally[RETIRED, side] += 1
            return False
        if arrays.terms[0].fairness > 0.0 and is_fair_turn(arrays, row):
            worst = ranking.eldest(arrays, number)
            arrays.tally[SHED, arrays.links[worst].side] += 1
            remove(arrays, worst)
            continue
        worst, score, order = ranking.worst_stored(arrays, number)
        own_score, own_order = ranking.standing(arrays, row)
        is_least = own_score < score or (
            own_score == score and (own_order < order or arrays.terms[0].refuses_equals != 0)
        )
        if worst == NONE or (is_least and not arrays.terms[0].takes_newcomers):
            arrays.tally[REFUSED, side] += 1
            if samples:
                thresholds.raise_threshold(arrays, number, own_score)
            return False
        arrays.tally[SHED, arrays.links[worst].side] += 1
        if samples:
            thresholds.raise_threshold(arrays, number, score)
        remove(arrays, worst)
    return True


@inlined
def is_doubled(arrays: Arrays, row: int) -> bool:
    """Whether a row of the arrival's key is stored on its side.

    The probe of a row of the other side unlinks the dead, so where one came just before, as in a
    lookup, the chain has one row at most.
    """
    other = arrays.newest[2 * arrays.rows[row].code + arrays.links[row].side].row
    while other != NONE:
        if arrays.links[other].alive:
            return True
        other = np.int64(arrays.links[other].older)
    return False


@inlined
def store(arrays: Arrays, row: int) -> None:
    """Store a row for which there is room: where probes find it, and in its policy's structure."""
    own = arrays.links[row]
    side = arrays.sides[own.side]
    pool = arrays.pools[side.pool]
    own.alive = 1
    pool.rows += 1
    pool.bytes += own.size
    make_found(arrays, row)
    if pool.ranked:
        ranking.enter(arrays, row)
    note_peak(arrays)


@inlined
def make_found(arrays: Arrays, row: int) -> None:
    """Enter a row where probes look for partners: a stored one, or a ghost."""
    side = arrays.sides[arrays.links[row].side]
    if arrays.rows[row].side_index < side.pointer:
        side.pointer = arrays.rows[row].side_index  # it has yet to expire
    side.eldest = min(side.eldest, arrays.rows[row].side_index)
    indexes.enter(arrays, row)


@inlined
def note_peak(arrays: Arrays) -> None:
    """Keep the greatest number of rows and bytes ever stored."""
    rows = arrays.pools[0].rows + arrays.pools[1].rows
    if rows > arrays.tally[PEAK_ROWS, LEFT]:
        arrays.tally[PEAK_ROWS, LEFT] = rows
    held = arrays.pools[0].bytes + arrays.pools[1].bytes
    if held > arrays.tally[PEAK_BYTES, LEFT]:
        arrays.tally[PEAK_BYTES, LEFT] = held


@inlined
def note_matches(
    arrays: Arrays, rescore: Any, row: int, pairs: np.ndarray, first: int, made: int
) -> None:
    """Bring the history of an arrival and of its partners up to date."""
    parameter = arrays.terms[0].parameter
    own = arrays.rows[row]
    own.matches = made - first
    own.touched = own.time
    own.score = rescore(own.matches, own.touched, own.time, parameter)
    for at in range(first, made):
        number = np.int64(pairs[at].partner)
        partner = arrays.rows[number]
        if partner.matches < MOST_MATCHES:  # a row that never expires may meet more
            partner.matches += 1
        partner.touched = max(partner.touched, own.time)
        before = partner.score
        partner.score = rescore(partner.matches, partner.touched, partner.time, parameter)
        pool = arrays.sides[arrays.links[number].side].pool
        # A risen score is put right when the row surfaces in the heap; a fallen one would not be.
        if partner.score < before and arrays.pools[pool].ranked:
            heap.enter(arrays, pool, number)


@inlined
def note_worth(arrays: Arrays, row: int, pairs: np.ndarray, first: int, made: int) -> None:
    """Add up the importance of an arrival's pairs, for policies that look at it."""
    for at in range(first, made):
        residence.note_worth(
            resident(arrays), worth.pair_worth(arrays, row, np.int64(pairs[at].partner))
        )


@inlined
def note_thresholds(
    arrays: Arrays, pairs: np.ndarray, passed: np.ndarray, first: int, made: int
) -> None:
    """Write the threshold that each pair's stored row has passed."""
    for at in range(first, made):
        passed[at] = thresholds.threshold_of(arrays, np.int64(pairs[at].partner))


@inlined
def let_go_unchosen(arrays: Arrays, spent: np.ndarray, count: int) -> None:
    """Let go of rows all of whose chosen matches are made."""
    for at in range(count):
        arrays.tally[UNCHOSEN, arrays.links[spent[at]].side] += 1
        remove(arrays, spent[at])


@compiled
def advance(
    arrays: Arrays,
    windows: Windows,
    rescore: Any,
    pairs: np.ndarray,
    passed: np.ndarray,
    spent: np.ndarray,
    start: int,
) -> tuple[int, int]:
    """Process arrivals from position ``start`` on, until done or ``pairs`` is full.

    A sample writes the thresholds that pairs have passed into ``passed``, and needs ``spent`` to
    work in; otherwise both may be empty. Returns the position to go on from (the number of rows
    when done) and the pairs written. An arrival whose pairs do not fit is left for the next call.
    """
    made = FIRST
    terms = arrays.terms[0]
    for row in range(start, arrays.links.size):
        own = arrays.links[row]
        if not own.arriving:
            continue
        chains.look_ahead(arrays, row)
        if own.watch == FINISHED:
            own.watch = OPEN  # its window had passed before it came
        side = arrays.sides[own.side]
        if terms.kind == CURVE and 2 * arrays.rows[row].time + own.side >= terms.clock:
            curves.hear(arrays, row)
        terms.clock = max(terms.clock, 2 * arrays.rows[row].time + own.side)
        side.seen = arrays.rows[row].sequence + 1
        if worth.is_due(arrays):
            worth.redefine(arrays)
        if arrays.sides[LEFT].by_rows or not terms.keep_late:
            let_go_expired(arrays, LEFT_SIDE)
        if arrays.sides[RIGHT].by_rows or not terms.keep_late:
            let_go_expired(arrays, RIGHT_SIDE)
        if arrays.rows[row].code == NULL_KEY:
            arrays.tally[NULL_KEYS, own.side] += 1
            continue

        is_left_out = skipped_work.leaves_out(arrays, row)
        end = made
        if not is_left_out or terms.missing:
            reach, limit = chains.reach_of(arrays, row)
            end = indexes.probe(arrays, windows, row, reach, limit, pairs, made)
        if is_left_out:
            arrays.tally[UNPROBED, own.side] += 1
            terms.missing = 0
            end = made
        if end < 0:
            skipped_work.take_back(arrays)
            return row, made
        skipped_work.pay(arrays, terms.pairing_costs * (end - made))
        if terms.kind == RESIDENCE:
            residence.note_arrival(resident(arrays), row)
        if terms.kind == FLIPS and not terms.count_only:
            end, done = coins.keep_chosen(arrays, pairs, passed, made, end, spent)
            let_go_unchosen(arrays, spent, done)
        elif terms.samples and not terms.count_only:
            note_thresholds(arrays, pairs, passed, made, end)
        arrays.tally[PAIRS, own.side] += end - made
        if not terms.count_only:
            if terms.kind == HISTORY:
                note_matches(arrays, rescore, row, pairs, made, end)
            elif terms.kind == RESIDENCE:
                note_worth(arrays, row, pairs, made, end)
                residence.note_pairs(resident(arrays), row, pairs, made, end)
            elif terms.observes:
                for at in range(made, end):
                    arrays.rows[pairs[at].partner].matches += 1
            made = end

        past = is_past(arrays, row)
        may_be_met_late = (
            terms.keep_late and not side.by_rows and own.mark + side.span > terms.watermark
        )
        if (past and not may_be_met_late) or (terms.unique and is_doubled(arrays, row)):
            arrays.tally[UNNEEDED, own.side] += 1
            if own.watch == OPEN:
                own.watch = FINISHED
        elif own.skip & NOT_STORED:
            arrays.tally[UNSTORED, own.side] += 1
            if own.watch == OPEN:
                make_found(arrays, row)  # a ghost from the start
        elif make_room(arrays, row, past):
            arrays.tally[ADMITTED, own.side] += 1
            skipped_work.pay(arrays, terms.storing_costs)
            if terms.observes:
                arrays.rows[row].touched = arrays.sorted_values.value[row] - side.origin
            store(arrays, row)
        elif own.watch == OPEN:
            make_found(arrays, row)  # a ghost from the start
    return arrays.links.size, made


@compiled
def restore(arrays: Arrays) -> None:
    """Take up the rows stored by earlier steps, less those behind the watermark.

    A budget made smaller since then is met by shedding, before any arrival.
    """
    for row in range(arrays.rows.size):
        own = arrays.links[row]
        if own.watch == GHOST:
            own.watch = OPEN
            make_found(arrays, row)
        elif not own.arriving:
            store(arrays, row)
    let_go_behind_watermark(arrays)
    for number in range(2):
        pool = arrays.pools[number]
        while pool.rows > pool.most_rows or pool.bytes > pool.most_bytes:
            if not retire_one(arrays, number):
                worst, score, _ = ranking.worst_stored(arrays, number)
                if worst == NONE:  # nobody has been there long enough
                    worst = ranking.eldest(arrays, number)
                arrays.tally[SHED, arrays.links[worst].side] += 1
                if arrays.terms[0].samples:
                    thresholds.raise_threshold(arrays, number, score)
                remove(arrays, worst)
    arrays.tally[PEAK_ROWS, LEFT] = 0
    arrays.tally[PEAK_BYTES, LEFT] = 0
    note_peak(arrays)


@compiled
def rescore_stored(arrays: Arrays, rescore: Any) -> None:
    """Give stored rows the score their history earned them."""
    parameter = arrays.terms[0].parameter
    for row in range(arrays.rows.size):
        own = arrays.rows[row]
        if not arrays.links[row].arriving:
            own.score = rescore(own.matches, own.touched, own.time, parameter)
