"""The main loop of the join: for each arrival, expire rows, probe, then admit or evict.

All rows enter, match and leave here. The code is compiled and works on row positions only. An
arrival costs what the window's index costs plus, when memory is full, what the policy's kind of
score costs. With chains that is O(pairs made): they run from the newest row to the oldest, so a
probe stops at the first row out of reach and never visits expired rows again.
"""

from typing import Any

import numpy as np

from headgate.compiling import compiled
from headgate.kernel import meetings, ranking, settling, skipped_work, worth
from headgate.kernel.admission import admit, make_found, note_peak, store
from headgate.kernel.departure import (
    evict,
    let_go_behind_watermark,
    let_go_expired,
    next_retired,
    remove,
)
from headgate.kernel.layout import LEFT, NONE, NULL_KEY, Arrays, Count
from headgate.kernel.probe import chains, indexes
from headgate.kernel.probe.windows import Windows
from headgate.kernel.watching import FINISHED, GHOST, OPEN
from headgate.policies.kinds.kind import Block
from headgate.policies.structures import thresholds

PAIRS = int(Count.PAIRS)
SHED = int(Count.SHED)
RETIRED = int(Count.RETIRED)
NULL_KEYS = int(Count.NULL_KEYS)
PEAK_ROWS = int(Count.PEAK_ROWS)
PEAK_BYTES = int(Count.PEAK_BYTES)
UNCHOSEN = int(Count.UNCHOSEN)
UNPROBED = int(Count.UNPROBED)
SATISFIED = int(Count.SATISFIED)
FIRST: Any = np.int64(0)
"""A variable on purpose: a literal constant would compile its callee once more, just for it."""


@compiled
def move_clock(arrays: Arrays, row: int) -> None:
    """Advance the clock to an arrival: expire rows and apply redefinitions that are due."""
    terms = arrays.terms[0]
    own = arrays.links[row]
    if own.watch == FINISHED:
        own.watch = OPEN  # its window had passed before it came
    ranking.on_arrival(arrays, row)
    terms.clock = max(terms.clock, 2 * arrays.rows[row].time + own.side)
    arrays.sides[own.side].seen = arrays.rows[row].sequence + 1
    if worth.is_due(arrays):
        worth.redefine(arrays)
    for side in range(2):
        waiting = arrays.sides[side]
        if waiting.due < terms.clock and (waiting.by_rows or not terms.keep_late):
            let_go_expired(arrays, side)


@compiled
def find_partners(arrays: Arrays, windows: Windows, row: int, pairs: np.ndarray, made: int) -> Any:
    """Write the arrival's pairs from index ``made`` on; return the new end, or -1 when full."""
    terms = arrays.terms[0]
    is_left_out = skipped_work.leaves_out(arrays, row)
    end = made
    if not is_left_out or terms.missing:
        within = chains.reach_of(arrays, row)
        end = indexes.probe(arrays, windows, row, within, pairs, made)
    if is_left_out:
        arrays.tally[UNPROBED, arrays.links[row].side] += 1
        terms.missing = 0
        end = made
    if end < 0:
        skipped_work.take_back(arrays)
    else:
        skipped_work.pay(arrays, terms.pairing_costs * (end - made))
    return end


@compiled
def note_thresholds(arrays: Arrays, block: Block, first: int, end: int) -> None:
    """Write the sampling threshold of the stored row of each pair."""
    for at in range(first, end):
        partner = np.int64(block.pairs[at].partner)
        block.passed[at] = thresholds.threshold_of(arrays, partner)


@compiled
def let_go_spent(arrays: Arrays, spent: np.ndarray, count: int) -> None:
    """Drop rows that need no further match: all were made that a sample has, or the only one."""
    cause = SATISFIED if arrays.terms[0].settles else UNCHOSEN
    for at in range(count):
        arrays.tally[cause, arrays.links[spent[at]].side] += 1
        remove(arrays, spent[at])


@compiled
def look_at_pairs(arrays: Arrays, row: int, block: Block, first: int, end: int) -> Any:
    """What an arrival's pairs change; the new end of the pairs that stay."""
    if arrays.meetings.stored.size:
        meetings.note_pairs(arrays, row, block.pairs, first, end)
    end, spent = ranking.on_pairs(arrays, row, block, first, end)
    if arrays.terms[0].settles:
        end, spent = settling.on_pairs(arrays, row, block, first, end)
    let_go_spent(arrays, block.spent, spent)
    return end


@compiled
def advance(arrays: Arrays, windows: Windows, block: Block, start: int) -> tuple[int, int]:
    """Process arrivals from position ``start`` on, until all are done or the block is full.

    Arrays of the block that the policy does not need may be empty. Returns the position to resume
    from (the number of rows when done) and the number of pairs written. An arrival whose pairs do
    not fit is left for the next call.
    """
    made = FIRST
    terms = arrays.terms[0]
    for row in range(start, arrays.links.size):
        own = arrays.links[row]
        if not own.arriving:
            continue
        chains.look_ahead(arrays, row)
        move_clock(arrays, row)
        if arrays.rows[row].code == NULL_KEY:
            arrays.tally[NULL_KEYS, own.side] += 1
            settling.let_go(arrays, row)
            continue
        end = find_partners(arrays, windows, row, block.pairs, made)
        if end < 0:
            return row, made
        if terms.looks_at_pairs:
            end = look_at_pairs(arrays, row, block, made, end)
        arrays.tally[PAIRS, own.side] += end - made
        if not terms.count_only:
            if terms.samples:
                note_thresholds(arrays, block, made, end)
            made = end
        admit(arrays, row)
    return arrays.links.size, made


@compiled
def restore(arrays: Arrays) -> None:
    """Load the rows stored by earlier steps, except those behind the watermark.

    If the budget has shrunk since then, rows are evicted before the first arrival.
    """
    for row in range(arrays.rows.size):
        own = arrays.links[row]
        if own.watch == GHOST:
            own.watch = OPEN
            make_found(arrays, row)
        elif not own.arriving:
            if arrays.terms[0].falls and settling.cannot_be_alone(arrays, row):
                ranking.fall(arrays, row)
            if arrays.terms[0].supersedes:
                settling.supersede(arrays, row)
            store(arrays, row)
    let_go_behind_watermark(arrays)
    for number in range(2):
        pool = arrays.pools[number]
        while pool.rows > pool.most_rows or pool.bytes > pool.most_bytes:
            leaving, cause = next_retired(arrays, number), RETIRED
            if leaving == NONE:
                leaving, score, _ = ranking.worst_stored(arrays, number)
                if leaving == NONE:  # no row has been stored long enough
                    leaving = ranking.eldest(arrays, number)
                if arrays.terms[0].samples:
                    thresholds.raise_threshold(arrays, number, score)
                cause = SHED
            evict(arrays, leaving, cause)
    arrays.tally[PEAK_ROWS, LEFT] = 0
    arrays.tally[PEAK_BYTES, LEFT] = 0
    note_peak(arrays)
