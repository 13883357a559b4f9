"""Outer, semi and anti joins: who has met a partner, who certainly has none, who is undecided.

A row that leaves at the end of its window without a partner certainly has none, unless it is
*doubtful*: when it came, a row that it could have met may have been given up already. Rows that
came later all looked for it. A row given up without a partner is undecided.

Who was given up is kept in a filter of fixed size for each side: a key has two slots, and each slot
the latest mark given up among the keys that share it. The lesser of its two slots is at least the
latest mark given up of the key itself; once that is out of reach, the key is as good as new.
"""

from typing import Any

import numpy as np

from headgate.compiling import compiled
from headgate.kernel import ranking
from headgate.kernel.layout import LEFT, NONE, Arrays, Count, Fate
from headgate.kernel.probe import chains
from headgate.policies.kinds.kind import Block

PAIRS = int(Count.PAIRS)
UNMATCHED = int(Count.UNMATCHED)
UNDECIDED = int(Count.UNDECIDED)
MATCHED = int(Fate.MATCHED)
DOUBTFUL = int(Fate.DOUBTFUL)
CERTAIN = int(Fate.CERTAIN)
NEVER = -(1 << 63)
"""The mark of a slot of which no key was given up."""
IN_TIME, GIVEN_UP = np.int64(1), np.int64(0)
ZERO, ONE = np.int64(0), np.int64(1)


@compiled
def put_out(terms: np.ndarray, gone: np.ndarray, row: int, certain: int) -> None:
    """Let a row come out alone."""
    entry = gone[terms[0].gone]
    entry.row = row
    entry.certain = certain
    terms[0].gone += ONE


@compiled
def settle(
    links: np.ndarray,
    terms: np.ndarray,
    tally: np.ndarray,
    gone: np.ndarray,
    row: int,
    in_time: int,
) -> None:
    """Decide on a row that leaves: at the end of its window, or given up before."""
    own, asked = links[row], terms[0]
    if own.fate & MATCHED or not (asked.outer >> own.side) & ONE:
        return
    certain = ZERO if own.fate & DOUBTFUL else in_time
    tally[UNMATCHED if certain else UNDECIDED, own.side] += 1
    if certain:
        own.fate |= CERTAIN
    if certain or asked.shows_undecided:
        put_out(terms, gone, row, certain)


@compiled
def note_given_up(given_up: np.ndarray, slots: np.ndarray, side: int, code: int, mark: int) -> None:
    """Enter a row's key in its side's filter."""
    for which in range(2):
        slot = slots[code, which]
        if given_up[side, slot] < mark:
            given_up[side, slot] = mark


@compiled
def let_go(arrays: Arrays, row: int) -> None:
    """A row leaves that no later row can meet."""
    if arrays.terms[0].settles:
        settle(arrays.links, arrays.terms, arrays.tally, arrays.settling.gone, row, IN_TIME)


@compiled
def give_up(arrays: Arrays, row: int) -> None:
    """A row leaves, or is not stored, that a later row might have met."""
    if arrays.terms[0].settles:
        kept, side = arrays.settling, np.int64(arrays.links[row].side)
        settle(arrays.links, arrays.terms, arrays.tally, kept.gone, row, GIVEN_UP)
        if (arrays.terms[0].outer >> (ONE - side)) & ONE:
            code, mark = np.int64(arrays.rows[row].code), arrays.links[row].mark
            note_given_up(kept.given_up, kept.slots, side, code, mark)


@compiled
def is_satisfied(arrays: Arrays, row: int) -> bool:
    """Whether an arrival needs no partner beyond those it has met."""
    own = arrays.links[row]
    return bool(arrays.terms[0].frees_left and own.side == LEFT and own.fate & MATCHED)


@compiled
def is_hopeless(arrays: Arrays, row: int) -> bool:
    """Whether an arrival of an anti join can come out no more: it is doubtful, and that is not
    asked for."""
    own, terms = arrays.links[row], arrays.terms[0]
    if not terms.frees_left or own.side != LEFT or terms.shows_undecided:
        return False
    return bool(own.fate & DOUBTFUL)


@compiled
def meet(
    links: np.ndarray,
    terms: np.ndarray,
    gone: np.ndarray,
    row: int,
    block: Block,
    ends: tuple[int, int],
) -> tuple[Any, Any]:
    """Note that an arrival and its partners have met; how many pairs it has made, and how many rows
    in ``block.spent`` need no other."""
    first, end = ends
    own, asked = links[row], terms[0]
    if not asked.frees_left:
        for at in range(first, end):
            links[block.pairs[at].partner].fate |= MATCHED
        if end > first:
            own.fate |= MATCHED
        return end - first, ZERO
    if own.side == LEFT:
        if end == first:
            return ZERO, ZERO
        own.fate |= MATCHED
        if asked.shows_met:
            put_out(terms, gone, row, ONE)
        return asked.shows_met, ZERO
    for at in range(first, end):
        partner = np.int64(block.pairs[at].partner)
        links[partner].fate |= MATCHED
        block.spent[at - first] = partner
        if asked.shows_met:
            put_out(terms, gone, partner, ONE)
    return asked.shows_met * (end - first), end - first


@compiled
def supersede(arrays: Arrays, row: int) -> None:
    """Before a right row is stored: the older of its key, or it, is needed no more. O(1)."""
    if arrays.links[row].side == LEFT:
        return
    kept, terms, code = arrays.settling, arrays.terms[0], arrays.rows[row].code
    other = np.int64(kept.latest[code])
    if other != NONE and arrays.links[other].alive:
        kept.superseded[terms.superseded] = min(other, row)
        terms.superseded += ONE
        kept.latest[code] = max(other, row)
    else:
        kept.latest[code] = row


@compiled
def next_superseded(arrays: Arrays) -> Any:
    """A stored right row that is superseded, the first first; NONE where there is none."""
    terms = arrays.terms[0]
    while terms.retired < terms.superseded:
        row = np.int64(arrays.settling.superseded[terms.retired])
        if arrays.links[row].alive:
            return row
        terms.retired += ONE
    return np.int64(NONE)


@compiled
def cannot_be_alone(arrays: Arrays, row: int) -> bool:
    """Whether a row of an outer side has met a partner, or may have lost one."""
    own = arrays.links[row]
    is_outer = (arrays.terms[0].outer >> np.int64(own.side)) & ONE
    return bool(is_outer and own.fate & (MATCHED | DOUBTFUL))


@compiled
def lower_partners(arrays: Arrays, block: Block, first: int, end: int) -> None:
    """Before an arrival's partners are noted as matched: those not yet so are worth less now."""
    for at in range(first, end):
        partner = np.int64(block.pairs[at].partner)
        own = arrays.links[partner]
        is_outer = (arrays.terms[0].outer >> np.int64(own.side)) & ONE
        if is_outer and not own.fate & (MATCHED | DOUBTFUL):
            ranking.fall(arrays, partner)


@compiled
def on_pairs(arrays: Arrays, row: int, block: Block, first: int, end: int) -> tuple[Any, Any]:
    """What comes of an arrival's pairs: the end of those listed, and how many rows in
    ``block.spent`` to remove. An arrival that met nobody may be doubtful."""
    own, terms = arrays.links[row], arrays.terms[0]
    if terms.falls:
        lower_partners(arrays, block, first, end)
    made, spent = meet(arrays.links, arrays.terms, arrays.settling.gone, row, block, (first, end))
    if terms.frees_left:
        arrays.tally[PAIRS, own.side] += made
        end = first
    if not own.fate & MATCHED and (terms.outer >> own.side) & ONE:
        reach, _ = chains.reach_of(arrays, row)
        if latest_given_up(arrays, row) >= reach:
            own.fate |= DOUBTFUL
    if terms.falls and cannot_be_alone(arrays, row):
        ranking.fall(arrays, row)
    return end, spent


@compiled
def latest_given_up(arrays: Arrays, row: int) -> Any:
    """The latest mark of a row given up on the other side that may have had the row's key."""
    code, other = np.int64(arrays.rows[row].code), 1 - np.int64(arrays.links[row].side)
    one, two = arrays.settling.slots[code, 0], arrays.settling.slots[code, 1]
    given_up = arrays.settling.given_up
    return min(given_up[other, one], given_up[other, two])
