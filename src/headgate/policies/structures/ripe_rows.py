"""Heap of mature rows by residence priority.

Each priority falls differently as time passes, so a computed order goes stale. All priorities are
recomputed after a number of evictions, so that an eviction pays for a few rows on average, whatever
the budget; a row's own matches count at once. Only the lowest priorities are needed between two
recomputations, so rows above a *bound* stay out of the heap; where the bound is not above zero,
rows of clearly positive priority are not even computed. If the heap runs empty, the other rows are
inserted with the priority they had. So the bound, a guess, affects the cost and never the result.

Rows mature ("ripen") in order of arrival: a pointer moves along each side's rows.
"""

import math
from typing import Any

import numpy as np

from headgate.compiling import compiled
from headgate.policies.structures import heap as heaps
from headgate.policies.structures.count import Count
from headgate.policies.structures.no_row import LAST, NONE
from headgate.policies.structures.priority import (
    Rates,
    Resident,
    importance_of,
    is_surely_above_zero,
    maturity_us,
    priority,
    rates,
)

AS_FITS, AS_NEEDED = 0, -1
"""Recompute priorities rarely enough to cost next to nothing; or when the importance produced has
fallen."""
SHARE = 12
"""AS_FITS: recompute all priorities when this share of the stored rows has been replaced."""
RIPE, ASIDE, UNPRICED = 1, 2, 3
SAMPLE, WANTED = 64, 12
"""Rows sampled to guess the next bound, and how many of them should be below it."""
RECOMPUTED = int(Count.RECOMPUTED)
MOST_MATCHES = np.int64(2**31 - 1)


@compiled
def note_pairs(arrays: Resident, row: int, pairs: np.ndarray, first: int, made: int) -> None:
    """Update the history of an arrival and of its partners."""
    own = arrays.rows[row]
    own.matches = made - first
    own.recent = float(made - first)
    own.touched = own.time
    for at in range(first, made):
        partner = np.int64(pairs[at].partner)
        arrays.rows[partner].matches = min(arrays.rows[partner].matches + 1, MOST_MATCHES)
        note_match(arrays, partner, own.time)


@compiled
def note_arrival(arrays: Resident, row: int) -> None:
    """Count an arrival, for the expected stay and the mean importance."""
    own = arrays.residence[0]
    own.began = min(own.began, arrays.rows[row].time)
    own.importance += importance_of(arrays, row)


@compiled
def note_worth(arrays: Resident, worth: float) -> None:
    """Add the importance of pairs made."""
    arrays.rounds[0].made += worth
    arrays.rounds[1].made += worth


@compiled
def note_match(arrays: Resident, row: int, time: int) -> None:
    """Update a stored row that matched an arrival of that time."""
    own = arrays.rows[row]
    pool = arrays.sides[arrays.links[row].side].pool
    by = rates(arrays, pool)
    if time >= own.touched:
        own.recent = own.recent * math.exp(-by.decay * float(time - own.touched)) + 1.0
        own.touched = time
    else:
        own.recent += math.exp(-by.decay * float(own.touched - time))
    if arrays.links[row].ripe and arrays.residence[0].every == AS_FITS:
        before, apart = own.score, arrays.links[row].ripe != RIPE
        own.score = priority(arrays, row, by, arrays.terms[0].clock >> 1)
        arrays.links[row].ripe = RIPE
        # A raised score is corrected at the top of the heap; a lowered one needs a new entry.
        if apart or own.score < before:
            heaps.enter(arrays, pool, row)


@compiled
def enter(arrays: Resident, row: int) -> None:
    """Called when a row is stored; a late row may be mature before rows that came earlier."""
    arrays.links[row].ripe = 0
    side = arrays.links[row].side
    arrays.green[side] = min(arrays.green[side], arrays.rows[row].side_index)


@compiled
def begin(arrays: Resident, pool: int) -> None:
    """Start with no mature row."""
    arrays.pools[pool].heap_size = 0
    arrays.rounds[pool].apart = 0
    for side in range(2):
        own = arrays.sides[side]
        if own.pool == pool:
            arrays.green[side] = 0 if side == 0 else arrays.sides[0].end
            for at in range(arrays.green[side], own.end):
                arrays.links[arrays.side_rows[at]].ripe = 0


@compiled
def ripen(arrays: Resident, pool: int, limit: float) -> None:
    """Let rows older than ``limit`` be evicted from now on. Amortised O(1) per row."""
    now = arrays.terms[0].clock >> 1
    initial = arrays.residence[0].initial
    by = Rates(-1.0, 0.0, 0.0)
    for side in range(2):
        own = arrays.sides[side]
        if own.pool != pool:
            continue
        at = arrays.green[side]
        while at < own.end:
            row = np.int64(arrays.side_rows[at])
            link = arrays.links[row]
            if float(now - arrays.rows[row].time) <= limit:
                break
            if link.alive and not link.ripe:
                link.ripe = RIPE
                if by.decay < 0:
                    by = rates(arrays, pool)
                score = priority(arrays, row, by, now)
                if link.arriving and not math.isnan(initial):
                    score = initial * importance_of(arrays, row)
                arrays.rows[row].score = score
                heaps.enter(arrays, pool, row)
            at += 1
        arrays.green[side] = at


@compiled
def compute_all(arrays: Resident, pool: int) -> None:
    """Recompute the priority of every mature row, and put the lowest into the heap. O(rows)."""
    heap = arrays.heap[pool]
    ours = arrays.rounds[pool]
    by = rates(arrays, pool)
    now = arrays.terms[0].clock >> 1
    eager = arrays.residence[0].every != AS_FITS
    bound = np.inf if eager else ours.bound
    end, apart, sampled = heaps.ROOT, np.int64(0), np.int64(0)
    scratch = heap.size - SAMPLE
    every = max(arrays.pools[pool].rows // SAMPLE, 1)
    wait = every
    for side in range(2):
        own = arrays.sides[side]
        if own.pool != pool:
            continue
        green = arrays.green[side]
        while own.eldest < green and not arrays.links[arrays.side_rows[own.eldest]].alive:
            own.eldest += 1
        # In event order, as they lie in memory; the heap's order is anything but.
        for at in range(own.eldest, green):
            row = np.int64(arrays.side_rows[at])
            link = arrays.links[row]
            if not link.alive or not link.ripe:
                continue
            wait -= 1
            if bound <= 0.0 and wait > 0 and is_surely_above_zero(arrays, row, by, now):
                link.ripe = UNPRICED
                apart += 1
                continue
            score = priority(arrays, row, by, now)
            arrays.rows[row].score = score
            if wait <= 0 and sampled < SAMPLE and not eager:
                heap[scratch + sampled].score = score
                sampled += 1
                wait = every
            if score > bound:
                link.ripe = ASIDE
                apart += 1
            else:
                link.ripe = RIPE
                heap[end].row = row
                heap[end].score = score
                end += 1
    ours.apart = apart
    ours.as_of = now
    ours.decay = by.decay
    ours.kept_below = bound
    if not eager:
        ours.bound = lowest_of(heap, scratch, sampled)
    arrays.pools[pool].heap_size = end - heaps.ROOT
    heaps.heapify(heap, end - heaps.ROOT)


@compiled
def lowest_of(heap: np.ndarray, first: int, count: int) -> Any:
    """A bound with WANTED of every SAMPLE sampled scores below it; infinite for few samples."""
    wanted = WANTED * count // SAMPLE
    if wanted < 1:
        return np.inf
    for place in range(wanted):
        least = place
        for at in range(place + 1, count):
            if heap[first + at].score < heap[first + least].score:
                least = at
        score = heap[first + least].score
        heap[first + least].score = heap[first + place].score
        heap[first + place].score = score
    return heap[first + wanted - 1].score


@compiled
def take_up_the_rest(arrays: Resident, pool: int) -> None:
    """Insert all rows kept out of the heap, with the priority they had. O(rows)."""
    heap = arrays.heap[pool]
    ours = arrays.rounds[pool]
    heaps.rebuild(arrays, pool)
    end = heaps.ROOT + arrays.pools[pool].heap_size
    by = Rates(ours.decay, np.inf, 0.0)
    for side in range(2):
        own = arrays.sides[side]
        if own.pool != pool:
            continue
        for at in range(own.eldest, arrays.green[side]):
            row = np.int64(arrays.side_rows[at])
            link = arrays.links[row]
            if link.alive and link.ripe > RIPE:
                if link.ripe == UNPRICED:
                    arrays.rows[row].score = priority(arrays, row, by, ours.as_of)
                link.ripe = RIPE
                heap[end].row = row
                heap[end].score = arrays.rows[row].score
                end += 1
    ours.apart = 0
    arrays.pools[pool].heap_size = end - heaps.ROOT
    heaps.heapify(heap, end - heaps.ROOT)


@compiled
def is_time_to_compute(arrays: Resident, pool: int) -> bool:
    """Whether this eviction recomputes all priorities."""
    own = arrays.rounds[pool]
    every = arrays.residence[0].every
    if every == AS_NEEDED:
        return bool(own.made < (1.0 - arrays.residence[0].epsilon) * own.made_before)
    if every == AS_FITS:
        every = max(arrays.pools[pool].rows // SHARE, 1)
    return bool(own.decisions >= every)


@compiled
def decide(arrays: Resident, pool: int) -> Any:
    """Prepare an eviction: update mature rows and priorities. Returns the maturity age.

    Amortised O(1) with AS_FITS, O(rows) at worst.
    """
    own = arrays.rounds[pool]
    limit = maturity_us(arrays, pool)
    ripen(arrays, pool, limit)
    if is_time_to_compute(arrays, pool):
        compute_all(arrays, pool)
        arrays.tally[RECOMPUTED, pool] += 1
        own.decisions = 0
    own.decisions += 1
    own.made_before = own.made
    own.made = 0.0
    return limit


@compiled
def worst(arrays: Resident, pool: int) -> tuple[np.int64, float, np.int64]:
    """The mature row of lowest priority (or NONE), its priority, and its order among equals."""
    now = arrays.terms[0].clock >> 1
    limit = decide(arrays, pool)
    while True:
        heaps.drop_stale(arrays, pool)
        size = arrays.pools[pool].heap_size
        top = arrays.heap[pool, heaps.ROOT]
        if arrays.rounds[pool].apart > 0 and (
            size == 0 or top.score > arrays.rounds[pool].kept_below
        ):
            take_up_the_rest(arrays, pool)
            continue
        if size == 0:
            return np.int64(NONE), np.inf, LAST
        row, score = top.row, top.score
        link = arrays.links[row]
        if link.ripe and float(now - arrays.rows[row].time) > limit:
            return row, score, row
        # The stay has grown since it became mature.
        link.ripe = 0
        side = link.side
        arrays.green[side] = min(arrays.green[side], arrays.rows[row].side_index)
        heaps.drop_top(arrays, pool)
