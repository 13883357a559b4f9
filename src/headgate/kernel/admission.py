"""Admission of arrivals: decide whether to store a row, evict to make room, enter it in indexes."""

from typing import Any

import numpy as np

from headgate.compiling import compiled
from headgate.kernel import ranking, settling, skipped_work
from headgate.kernel.departure import evict, is_past, next_retired
from headgate.kernel.layout import LEFT, NONE, NOT_KNOWN, Arrays, Count, Skip
from headgate.kernel.probe import indexes
from headgate.kernel.watching import FINISHED, OPEN
from headgate.policies.chance import draw_one
from headgate.policies.structures import thresholds

ADMITTED = int(Count.ADMITTED)
REFUSED = int(Count.REFUSED)
SHED = int(Count.SHED)
RETIRED = int(Count.RETIRED)
UNNEEDED = int(Count.UNNEEDED)
PEAK_ROWS = int(Count.PEAK_ROWS)
PEAK_BYTES = int(Count.PEAK_BYTES)
UNCHOSEN = int(Count.UNCHOSEN)
UNSTORED = int(Count.UNSTORED)
SATISFIED = int(Count.SATISFIED)
NOT_STORED = int(Skip.STORE)


@compiled
def is_fair_turn(arrays: Arrays, row: int) -> bool:
    """Whether fairness makes this arrival evict the oldest row, regardless of scores."""
    terms = arrays.terms[0]
    return draw_one(terms.seed, arrays.links[row].side, arrays.rows[row].sequence) < terms.fairness


@compiled
def row_to_shed(arrays: Arrays, row: int, pool: int) -> Any:
    """The stored row to evict for an arrival; NONE where the arrival itself scores lowest."""
    terms = arrays.terms[0]
    if terms.fairness > 0.0 and is_fair_turn(arrays, row):
        return ranking.eldest(arrays, pool)
    worst, score, order = ranking.worst_stored(arrays, pool)
    own_score, own_order = ranking.standing(arrays, row)
    is_least = own_score < score or (
        own_score == score and (own_order < order or terms.refuses_equals != 0)
    )
    is_refused = worst == NONE or (is_least and not terms.takes_newcomers)
    if terms.samples:
        thresholds.raise_threshold(arrays, pool, own_score if is_refused else score)
    return np.int64(NONE) if is_refused else worst


@compiled
def make_room(arrays: Arrays, row: int, past: bool) -> bool:
    """Evict rows of lower score until the arrival fits; False where it does not."""
    side = arrays.links[row].side
    number = arrays.sides[side].pool
    pool = arrays.pools[number]
    size = arrays.links[row].size
    if pool.most_rows < 1 or size > pool.most_bytes:
        arrays.tally[RETIRED if past else REFUSED, side] += 1
        return False
    if arrays.terms[0].samples and ranking.standing(arrays, row)[0] <= 0.0:
        arrays.tally[UNCHOSEN, side] += 1
        return False
    if arrays.terms[0].supersedes:
        settling.supersede(arrays, row)
    while pool.rows >= pool.most_rows or pool.bytes + size > pool.most_bytes:
        leaving, cause = next_retired(arrays, number), RETIRED
        if leaving == NONE and not past:
            leaving, cause = row_to_shed(arrays, row, number), SHED
        if leaving == NONE:
            arrays.tally[RETIRED if past else REFUSED, side] += 1
            return False
        evict(arrays, leaving, cause)
    return True


@compiled
def is_doubled(arrays: Arrays, row: int) -> bool:
    """Whether a row with the arrival's key is already stored on its side.

    A probe from the other side unlinks dead rows, so right after one, as in a lookup, the chain
    has at most one row.
    """
    other = arrays.newest[2 * arrays.rows[row].code + arrays.links[row].side].row
    while other != NONE:
        if arrays.links[other].alive:
            return True
        other = np.int64(arrays.links[other].older)
    return False


@compiled
def store(arrays: Arrays, row: int) -> None:
    """Store a row that fits: enter it in its index and in the policy's structure."""
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


@compiled
def make_found(arrays: Arrays, row: int) -> None:
    """Enter a stored row or a ghost in the index of its side, so that probes find it."""
    side = arrays.sides[arrays.links[row].side]
    if arrays.rows[row].side_index < side.pointer:
        side.pointer = arrays.rows[row].side_index  # it has yet to expire
        side.due = NOT_KNOWN
    side.eldest = min(side.eldest, arrays.rows[row].side_index)
    indexes.enter(arrays, row)


@compiled
def note_peak(arrays: Arrays) -> None:
    """Record the largest number of rows and bytes stored so far."""
    rows = arrays.pools[0].rows + arrays.pools[1].rows
    if rows > arrays.tally[PEAK_ROWS, LEFT]:
        arrays.tally[PEAK_ROWS, LEFT] = rows
    held = arrays.pools[0].bytes + arrays.pools[1].bytes
    if held > arrays.tally[PEAK_BYTES, LEFT]:
        arrays.tally[PEAK_BYTES, LEFT] = held


@compiled
def admit(arrays: Arrays, row: int) -> None:
    """Store an arrival if a later row can match it and room can be made for it."""
    terms = arrays.terms[0]
    own = arrays.links[row]
    side = arrays.sides[own.side]
    past = is_past(arrays, row)
    may_be_met_late = (
        terms.keep_late and not side.by_rows and own.mark + side.span > terms.watermark
    )
    if (past and not may_be_met_late) or (terms.unique and is_doubled(arrays, row)):
        arrays.tally[UNNEEDED, own.side] += 1
        settling.let_go(arrays, row)
        if own.watch == OPEN:
            own.watch = FINISHED
    elif own.skip & NOT_STORED or (
        terms.frees_left
        and (settling.is_satisfied(arrays, row) or settling.is_hopeless(arrays, row))
    ):
        if settling.is_satisfied(arrays, row):
            arrays.tally[SATISFIED, own.side] += 1
        elif settling.is_hopeless(arrays, row):
            arrays.tally[UNNEEDED, own.side] += 1
            settling.let_go(arrays, row)
        else:
            # Within a CPU budget, in inner joins; or a row that rival policies are not tried on.
            arrays.tally[UNSTORED, own.side] += 1
        if own.watch == OPEN:
            make_found(arrays, row)  # a ghost from the start
    elif make_room(arrays, row, past):
        arrays.tally[ADMITTED, own.side] += 1
        skipped_work.pay(arrays, terms.storing_costs)
        ranking.on_admission(arrays, row)
        store(arrays, row)
    else:
        settling.give_up(arrays, row)
        if own.watch == OPEN:
            make_found(arrays, row)  # a ghost from the start
