"""Scores by class of a row: key rate, matches so far, time since the last of them, and age.

A table gives the score of each class. Classes change at a match and at *ticks*, fixed moments of
event time, so between two ticks a row that meets nobody keeps its score. Rows that may be evicted
soon are in a heap by score. All others are safe (`structures/row_classes.py`): each waits in a list
of the tick at which it is so no longer, on a wheel of ticks. A match or a tick then costs O(1), or
O(log rows) where the score falls.
"""

from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar

import numpy as np

from headgate.compiling import compiled
from headgate.models.density_classes import AGES, MATCHES, NEWCOMER, DensityClasses
from headgate.models.match_density import MatchDensity
from headgate.policies.kinds.kind import Block, Given, Kind
from headgate.policies.kinds.plain_density import PlainDensityScore
from headgate.policies.policy import Policy
from headgate.policies.structures import heap
from headgate.policies.structures.no_row import LAST, NONE
from headgate.policies.structures.row_classes import (
    CELLS,
    FINE_RATES,
    LISTED,
    NEVER,
    SAMPLED,
    SHIFT,
    SLOTS,
    SPARE,
    TICK,
    RowClasses,
    ahead_of,
    cell_of,
    drop_gone,
    list_stored,
    next_tick,
    score_in,
    set_cutoff,
    tick_now,
)

MOST_MATCHES = 2**31 - 1
WAITS = SLOTS
"""Added to a row's slot in its record while it waits there."""
SAFE = np.inf
"""In place of the score of a row that is safe."""


@compiled
def wait(arrays: Any, own: RowClasses, row: int, tick: int) -> bool:
    """Let a row wait for a tick, if it does not wait for an earlier one; False without room.

    A row that waits for a later one is entered a second time.
    """
    if tick >= NEVER:
        return True
    record = arrays.rows[row]
    slot = tick & (SLOTS - 1)
    if record.group & WAITS == 0:
        record.group = WAITS + slot
        record.younger = own.slots[slot]
        own.slots[slot] = row
        return True
    now = own.clock[TICK]
    if (record.group - now) & (SLOTS - 1) <= tick - now:
        return True
    entry = own.clock[SPARE]
    if entry == own.more.shape[0]:
        return False
    own.clock[SPARE] = entry + 1
    own.more[entry, 0] = row
    own.more[entry, 1] = own.more_slots[slot]
    own.more_slots[slot] = entry
    return True


@compiled
def judge(arrays: Any, own: RowClasses, row: int) -> bool:
    """Score a stored row whose class may have changed; False where the wheel has no room.

    A row that is safe no longer, and one whose score fell, needs a new entry in the heap.
    """
    tick = own.clock[TICK]
    pool = arrays.sides[arrays.links[row].side].pool
    record = arrays.rows[row]
    score = score_in(own, cell_of(arrays, own, tick, row), own.place[row])
    if score >= own.cutoff[pool]:
        record.score = SAFE
        return wait(arrays, own, row, next_tick(arrays, own, tick, row, own.cutoff[pool]))
    before = record.score
    record.score = score
    if score < before:
        heap.enter(arrays, pool, row)
    return wait(arrays, own, row, next_tick(arrays, own, tick, row, np.inf))


@compiled
def follow(arrays: Any, own: RowClasses, row: int) -> None:
    """Judge a row of a pool that is ranked; where the wheel has no room, fill it anew."""
    if not judge(arrays, own, row):
        rank(arrays, own, arrays.sides[arrays.links[row].side].pool)


@compiled
def wake(arrays: Any, own: RowClasses, row: int) -> bool:
    """Judge a row that waited, if it is stored still; False where the wheel has no room."""
    if arrays.links[row].alive and arrays.pools[arrays.sides[arrays.links[row].side].pool].ranked:
        return judge(arrays, own, row)
    return True


@compiled
def turn(arrays: Any, own: RowClasses, tick: int) -> None:
    """Go through the rows that wait for ticks up to this one. Amortised O(1) a row."""
    first = max(own.clock[TICK] + 1, tick - SLOTS + 1)
    own.clock[TICK] = tick
    fits = True
    for slot_tick in range(first, tick + 1):
        slot = slot_tick & (SLOTS - 1)
        row = np.int64(own.slots[slot])
        own.slots[slot] = NONE
        while row != NONE:
            following = np.int64(arrays.rows[row].younger)
            arrays.rows[row].group = 0
            fits = wake(arrays, own, row) and fits
            row = following
        entry = np.int64(own.more_slots[slot])
        own.more_slots[slot] = NONE
        while entry != NONE:
            fits = wake(arrays, own, np.int64(own.more[entry, 0])) and fits
            entry = np.int64(own.more[entry, 1])
    if not fits:
        for pool in range(2):
            if arrays.pools[pool].ranked:
                rank(arrays, own, pool)


@compiled
def catch_up(arrays: Any, own: RowClasses) -> None:
    """Bring the classes of all rows up to the last tick."""
    tick = tick_now(arrays, own)
    if tick > own.clock[TICK]:
        turn(arrays, own, tick)


@compiled
def fill(arrays: Any, own: RowClasses, pool: int, every: bool) -> None:
    """Set a cutoff, and put the stored rows of a pool into the heap or on the wheel.

    The wheel is emptied first, so rows of the other pool are put on it again.
    """
    set_cutoff(arrays, own, pool, every)
    tick = own.clock[TICK]
    own.slots[:] = NONE
    own.more_slots[:] = NONE
    own.clock[SPARE] = 0
    arrays.pools[pool].heap_size = 0
    for at in range(own.clock[LISTED]):
        row = np.int64(own.listed[at])
        of = arrays.sides[arrays.links[row].side].pool
        if not arrays.pools[of].ranked:
            continue
        record = arrays.rows[row]
        record.group = 0
        if of == pool:
            record.score = score_in(own, cell_of(arrays, own, tick, row), own.place[row])
            if record.score < own.cutoff[pool]:
                heap.enter(arrays, pool, row)
            else:
                record.score = SAFE
        cutoff = own.cutoff[of] if record.score == SAFE else np.inf
        wait(arrays, own, row, next_tick(arrays, own, tick, row, cutoff))


@compiled
def rank(arrays: Any, own: RowClasses, pool: int) -> None:
    """Rank the stored rows of a pool: those worth least, or all where that would not tell. O(rows),
    for about a sixteenth as many rows to evict, match or expire."""
    drop_gone(arrays, own)
    fill(arrays, own, pool, False)
    drop_stale(arrays, pool)
    size = arrays.pools[pool].heap_size
    if size == 0 or arrays.heap[pool, heap.ROOT].score >= own.cutoff[pool]:
        fill(arrays, own, pool, True)


@compiled
def drop_stale(arrays: Any, pool: int) -> None:
    """As in `heap`, but rows that are safe leave it."""
    entries = arrays.heap[pool]
    own = arrays.pools[pool]
    while own.heap_size > 0:
        row = entries[heap.ROOT].row
        entered = entries[heap.ROOT].score
        score = arrays.rows[row].score
        if arrays.links[row].alive and entered <= score and score < SAFE:
            if entered == score:
                return
            heap.sift_down(entries, own.heap_size, heap.ROOT, score, row)
        else:
            heap.drop_top(arrays, pool)


@compiled
def enter(arrays: Any, own: RowClasses, row: int) -> None:
    """Insert a row that is stored."""
    # First of all: catching up may rank all rows anew, and then this one waits already.
    arrays.rows[row].group = 0
    arrays.rows[row].score = SAFE
    own.listed[own.clock[LISTED]] = row
    own.clock[LISTED] += 1
    catch_up(arrays, own)
    follow(arrays, own, row)


@compiled
def build(arrays: Any, own: RowClasses, pool: int) -> None:
    """Insert all stored rows of a pool."""
    if arrays.pools[1 - pool].ranked:
        catch_up(arrays, own)
    own.clock[TICK] = tick_now(arrays, own)
    list_stored(arrays, own)
    rank(arrays, own, pool)


@compiled
def worst(arrays: Any, own: RowClasses, pool: int) -> tuple[np.int64, float, np.int64]:
    """The row of least score, as of the last tick."""
    catch_up(arrays, own)
    drop_stale(arrays, pool)
    if own.cutoff[pool] < np.inf and (
        arrays.pools[pool].heap_size == 0 or arrays.heap[pool, heap.ROOT].score >= own.cutoff[pool]
    ):
        rank(arrays, own, pool)
        drop_stale(arrays, pool)
    if arrays.pools[pool].heap_size == 0:
        return np.int64(NONE), np.inf, LAST
    top = arrays.heap[pool, heap.ROOT]
    return top.row, top.score, top.row


@compiled
def standing(arrays: Any, own: RowClasses, row: int) -> tuple[float, np.int64]:
    """The score of an arrival, a little less than if it were stored."""
    cell = cell_of(arrays, own, tick_now(arrays, own), row)
    return own.newcomer[0] * score_in(own, cell, own.place[row]), np.int64(row)


@compiled
def stays_safe(arrays: Any, own: RowClasses, row: int) -> bool:
    """Whether a safe row that has just matched is so for as long as it waits in any case."""
    record = arrays.rows[row]
    if record.score != SAFE:
        return False
    tick = own.clock[TICK]
    ahead = ahead_of(arrays, own, tick, row)
    if record.group & WAITS == 0:
        return bool(ahead >= NEVER)
    return bool((record.group - tick) & (SLOTS - 1) <= ahead)


@compiled
def on_pairs(
    arrays: Any, own: RowClasses, row: int, block: Block, first: int, end: int
) -> tuple[int, Any]:
    """Update the history of an arrival's partners; its own begins when it is stored."""
    if arrays.terms[0].count_only or first == end:
        return end, np.int64(0)
    time = arrays.rows[row].time
    if arrays.pools[0].ranked or arrays.pools[1].ranked:
        catch_up(arrays, own)
    in_order = time >> own.clock[SHIFT] >= own.clock[TICK]
    for at in range(first, end):
        number = np.int64(block.pairs[at].partner)
        partner = arrays.rows[number]
        if partner.matches < MOST_MATCHES:
            partner.matches += 1
        partner.touched = max(partner.touched, time)
        if arrays.pools[arrays.sides[arrays.links[number].side].pool].ranked and not (
            in_order and stays_safe(arrays, own, number)
        ):
            follow(arrays, own, number)
    return end, np.int64(0)


class DensityKind(Kind):
    """A heap of the rows worth least, and a wheel of the ticks at which others join them."""

    name = "density"
    keeps_history = True
    goes_by_history = True
    tells_of_classes = True
    reads_partners = True
    plain = PlainDensityScore
    enter, build, worst = enter, build, worst
    standing, on_pairs = standing, on_pairs

    @staticmethod
    def arrays(given: Given) -> RowClasses:
        """The table, the classes by ticks, and the rates of the rows' keys."""
        density: MatchDensity = given.policy.density
        total = len(given.order)
        return _classes(density.classes)._replace(
            table=np.ascontiguousarray(density.table).ravel(),
            place=_places(given, density.classes),
            more=np.empty((total // 4 + 64, 2), np.int32),
            listed=np.empty(total, np.int32),
        )

    @staticmethod
    @cache
    def no_arrays() -> RowClasses:
        """No classes."""
        return _classes(DensityClasses((0, 0)))


def _places(given: Given, classes: DensityClasses) -> np.ndarray:
    """Where the keys of all rows are on the scale of rates."""
    weight, side = given.arrivals.weight, given.arrivals.side
    place = np.zeros(len(given.order))
    if weight.size:
        for which in (0, 1):
            mine = side == which
            place[mine] = classes.rate_places(which, weight[mine])
    placed: np.ndarray = place[given.order]
    return placed


def _classes(classes: DensityClasses) -> RowClasses:
    """Classes of no rows, all with the score 0."""
    ages, gaps = (
        [edges(side) for side in (0, 1)] for edges in (classes.age_edges, classes.gap_edges)
    )
    return RowClasses(
        table=np.zeros(CELLS),
        ahead=np.zeros((2, FINE_RATES, MATCHES, AGES), np.int64),
        sample=np.zeros(SAMPLED),
        age_class=np.stack([classes.class_of_tick(edges) for edges in ages]),
        gap_class=np.stack([classes.class_of_tick(edges) for edges in gaps]),
        age_start=np.stack([classes.in_ticks(edges) for edges in ages]),
        gap_start=np.stack([classes.in_ticks(edges) for edges in gaps]),
        place=np.zeros(0),
        slots=np.full(SLOTS, NONE, np.int32),
        more_slots=np.full(SLOTS, NONE, np.int32),
        more=np.zeros((0, 2), np.int32),
        listed=np.zeros(0, np.int32),
        clock=np.array([classes.shift, 0, 0, 0], np.int64),
        cutoff=np.full(2, np.inf),
        newcomer=np.array([NEWCOMER]),
    )


@dataclass(frozen=True)
class DensityScore(Policy):
    """Base of policies whose score is that of the row's class."""

    density: MatchDensity

    kind: ClassVar[type[Kind]] = DensityKind
