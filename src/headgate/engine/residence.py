"""The structure behind residence priorities: rows ripe to be given up, in a heap.

A priority is importance × matches of late ÷ age, less a penalty for rows that have brought nothing
for long. Each falls in its own way as time passes, so an order computed once goes stale. All are
computed anew every so many decisions; on average a decision then pays for a few rows, whatever the
budget. What a row itself brings is taken note of at once.

Rows grow ripe in the order in which they came: a pointer moves along each side's rows.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from headgate.compiling import compiled, inlined
from headgate.engine import heap as heaps
from headgate.engine.layout import NONE, Count
from headgate.policies.base import AS_FITS, AS_NEEDED

SECONDS = 1e-6
"""In a microsecond."""
SHARE = 8
"""Where it fits: all priorities are computed anew when that part of the stored rows has gone."""
MATURITY, UNPRODUCTIVE, DECAY, PENALTY = 0.1, 0.6, 1.0, 1.0
"""Thresholds and rates in units of the expected stay; the penalty also in units of importance."""
LAST = np.int64(1 << 62)
RECOMPUTED = int(Count.RECOMPUTED)
MOST_MATCHES = np.int64(2**31 - 1)


class Resident(NamedTuple):
    """The part of the desk that residence priorities are about.

    Large functions are not inlined, and a whole `Desk` is dear to pass.
    """

    links: np.ndarray
    rows: np.ndarray
    sides: np.ndarray
    pools: np.ndarray
    terms: np.ndarray
    side_rows: np.ndarray
    heap: np.ndarray
    residence: np.ndarray
    importance: np.ndarray
    tally: np.ndarray


@inlined
def resident(desk: Any) -> Resident:
    """That part of a desk."""
    return Resident(
        desk.links,
        desk.rows,
        desk.sides,
        desk.pools,
        desk.terms,
        desk.side_rows,
        desk.heap,
        desk.residence,
        desk.worth.importance,
        desk.tally,
    )


class Rates(NamedTuple):
    """What priorities are made of, as told or by the expected stay."""

    decay: float  # of matches, per microsecond
    unproductive_us: float
    penalty: float  # per second without a match


@inlined
def stay_us(desk: Resident, pool: int) -> float:
    """How long a row of the pool stays on average: rows stored ÷ rows that come (Little's law).

    No longer than the longest window.
    """
    arrived = 0
    longest = 1.0
    for side in range(2):
        own = desk.sides[side]
        if own.pool == pool:
            arrived += own.seen
            longest = max(longest, float(own.span))
    elapsed = float((desk.terms[0].clock >> 1) - desk.residence[0].began)
    stay = elapsed * float(desk.pools[pool].rows) / float(max(arrived, 1))
    return max(min(stay, longest), 1.0)


@inlined
def maturity_us(desk: Resident, pool: int) -> float:
    """The age up to which rows of the pool are not given up."""
    told = desk.residence[0].maturity_us
    return float(told) if told >= 0 else MATURITY * stay_us(desk, pool)


@inlined
def rates(desk: Resident, pool: int) -> Rates:
    """As told, or by the expected stay."""
    told = desk.residence[0]
    stay = stay_us(desk, pool)
    decay = told.decay * SECONDS if told.decay >= 0 else DECAY / stay
    unproductive = UNPRODUCTIVE * stay
    if told.unproductive_us >= 0:
        unproductive = float(told.unproductive_us)
    penalty = told.penalty
    if penalty < 0:
        arrived = max(desk.sides[0].seen + desk.sides[1].seen, 1)
        seconds = stay * SECONDS
        penalty = PENALTY * (told.importance / float(arrived)) / (seconds * seconds)
    return Rates(decay, unproductive, penalty)


@inlined
def importance_of(desk: Resident, row: int) -> Any:
    """What the row matters, as defined now."""
    return desk.importance[desk.terms[0].definition, row]


@inlined
def priority(desk: Resident, row: int, by: Rates) -> float:
    """What a row is worth keeping now."""
    now = desk.terms[0].clock >> 1
    own = desk.rows[row]
    idle = float(now - own.touched)
    worth = 0.0
    if own.recent > 0.0:
        age = max(float(now - own.time), 1.0) * SECONDS
        matches = own.recent * math.exp(-by.decay * idle) if idle > 0.0 else own.recent
        worth = importance_of(desk, row) * matches / age
    if idle >= by.unproductive_us:
        worth -= by.penalty * (idle * SECONDS)
    return worth


@compiled
def note_pairs(desk: Resident, row: int, pairs: np.ndarray, first: int, made: int) -> None:
    """An arrival has made these pairs: bring its history and its partners' up to date."""
    own = desk.rows[row]
    own.matches = made - first
    own.recent = float(made - first)
    own.touched = own.time
    for at in range(first, made):
        partner = np.int64(pairs[at].partner)
        desk.rows[partner].matches = min(desk.rows[partner].matches + 1, MOST_MATCHES)
        note_match(desk, partner, own.time)


@inlined
def note_arrival(desk: Resident, row: int) -> None:
    """Count an arrival, for the expected stay and the mean importance."""
    own = desk.residence[0]
    own.began = min(own.began, desk.rows[row].time)
    own.importance += importance_of(desk, row)


@inlined
def note_worth(desk: Resident, worth: float) -> None:
    """Pairs of that importance were made."""
    desk.pools[0].made += worth
    desk.pools[1].made += worth


@inlined
def note_match(desk: Resident, row: int, time: int) -> None:
    """A stored row has found a partner that came at that time."""
    own = desk.rows[row]
    pool = desk.sides[desk.links[row].side].pool
    by = rates(desk, pool)
    if time >= own.touched:
        own.recent = own.recent * math.exp(-by.decay * float(time - own.touched)) + 1.0
        own.touched = time
    else:
        own.recent += math.exp(-by.decay * float(own.touched - time))
    if desk.links[row].ripe and desk.residence[0].every == AS_FITS:
        before = own.score
        own.score = priority(desk, row, by)
        # A risen score is put right when the row surfaces; a fallen one would not be.
        if own.score < before and desk.pools[pool].ranked:
            heaps.enter(desk, pool, row)


@inlined
def enter(desk: Resident, row: int) -> None:
    """A row was stored; one that comes late may be ripe before others that were there."""
    desk.links[row].ripe = 0
    side = desk.sides[desk.links[row].side]
    side.green = min(side.green, desk.rows[row].side_index)


@inlined
def begin(desk: Resident, pool: int) -> None:
    """Nobody is ripe."""
    desk.pools[pool].heap_size = 0
    for side in range(2):
        own = desk.sides[side]
        if own.pool == pool:
            own.green = 0 if side == 0 else desk.sides[0].end
            for at in range(own.green, own.end):
                desk.links[desk.side_rows[at]].ripe = 0


@inlined
def ripen(desk: Resident, pool: int, limit: float) -> None:
    """Let rows older than ``limit`` compete. O(1) a row over its life."""
    now = desk.terms[0].clock >> 1
    initial = desk.residence[0].initial
    by = Rates(-1.0, 0.0, 0.0)
    for side in range(2):
        own = desk.sides[side]
        if own.pool != pool:
            continue
        at = own.green
        while at < own.end:
            row = np.int64(desk.side_rows[at])
            link = desk.links[row]
            if float(now - desk.rows[row].time) <= limit:
                break
            if link.alive and not link.ripe:
                link.ripe = 1
                if by.decay < 0:
                    by = rates(desk, pool)
                score = priority(desk, row, by)
                if link.arriving and not math.isnan(initial):
                    score = initial * importance_of(desk, row)
                desk.rows[row].score = score
                heaps.enter(desk, pool, row)
            at += 1
        own.green = at


@inlined
def compute_all(desk: Resident, pool: int) -> None:
    """Bring every ripe row's priority up to date. O(rows)."""
    heap = desk.heap[pool]
    by = rates(desk, pool)
    end = heaps.ROOT
    for side in range(2):
        own = desk.sides[side]
        if own.pool != pool:
            continue
        while own.eldest < own.green and not desk.links[desk.side_rows[own.eldest]].alive:
            own.eldest += 1
        # In event order, as they lie in memory; the heap's order is anything but.
        for at in range(own.eldest, own.green):
            row = np.int64(desk.side_rows[at])
            if desk.links[row].alive and desk.links[row].ripe:
                desk.rows[row].score = priority(desk, row, by)
                heap[end].row = row
                heap[end].score = desk.rows[row].score
                end += 1
    desk.pools[pool].heap_size = end - heaps.ROOT
    heaps.heapify(heap, end - heaps.ROOT)


@inlined
def is_time_to_compute(desk: Resident, pool: int) -> bool:
    """Whether this decision calls for all priorities anew."""
    own = desk.pools[pool]
    every = desk.residence[0].every
    if every == AS_NEEDED:
        return bool(own.made < (1.0 - desk.residence[0].epsilon) * own.made_before)
    if every == AS_FITS:
        every = max(own.rows // SHARE, 1)
    return bool(own.decisions >= every)


@inlined
def decide(desk: Resident, pool: int) -> Any:
    """Get ready for a decision: who is ripe, and what they are worth. Returns the age of ripeness.

    O(1) on average where priorities are computed as fits, O(rows) at worst.
    """
    own = desk.pools[pool]
    limit = maturity_us(desk, pool)
    ripen(desk, pool, limit)
    if is_time_to_compute(desk, pool):
        compute_all(desk, pool)
        desk.tally[RECOMPUTED, pool] += 1
        own.decisions = 0
    own.decisions += 1
    own.made_before = own.made
    own.made = 0.0
    return limit


@compiled
def worst(desk: Resident, pool: int) -> tuple[np.int64, float, np.int64]:
    """The ripe row of least priority (or NONE), its priority, and its order among equals."""
    now = desk.terms[0].clock >> 1
    limit = decide(desk, pool)
    heaps.drop_stale(desk, pool)
    while desk.pools[pool].heap_size > 0:
        top = desk.heap[pool, heaps.ROOT]
        row, score = top.row, top.score
        link = desk.links[row]
        if link.ripe and float(now - desk.rows[row].time) > limit:
            return row, score, row
        # Stays have grown longer since it was ripe.
        link.ripe = 0
        side = desk.sides[link.side]
        side.green = min(side.green, desk.rows[row].side_index)
        heaps.drop_top(desk, pool)
        heaps.drop_stale(desk, pool)
    return np.int64(NONE), np.inf, LAST
