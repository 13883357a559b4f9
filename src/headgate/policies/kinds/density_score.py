"""Scores by class of a row: key rate, matches so far, time since the last of them, and age.

A table gives the score of each class. Classes change at a match and at *ticks*, fixed moments of
event time, so between two ticks a row that meets nobody keeps its score. Rows are in a heap by
score; those whose class changes at a later tick are in a list of that tick, on a wheel of ticks.
A match or a tick then costs O(1), or O(log rows) where the score falls.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar, NamedTuple

import numpy as np

from headgate.compiling import compiled, inlined
from headgate.models.density_classes import NEWCOMER, SHAPE, TICKS, match_class
from headgate.models.match_density import MatchDensity
from headgate.policies.kinds.kind import Block, Given, Kind
from headgate.policies.kinds.plain_score import PlainRow, PlainScore, ScoreMoment
from headgate.policies.policy import Policy
from headgate.policies.structures import heap
from headgate.policies.structures.no_row import NONE

SLOTS = 2 * TICKS
"""Of the wheel: more than the ticks after which any class changes."""
MOST_MATCHES = 2**31 - 1
NEVER = np.int64(1 << 62)
"""As in `models/density_classes.py`: no class begins after the last."""
SHIFT, TICK = 0, 1
"""Places in `DensityArrays.clock`."""


class DensityArrays(NamedTuple):
    """The kind's own arrays."""

    table: np.ndarray  # float64 (side, rate, matches, gap, age)
    age_class: np.ndarray  # int64 (side, tick)
    gap_class: np.ndarray  # int64 (side, tick)
    next_age: np.ndarray  # int64 (side, tick): the tick at which the next class of age begins
    next_gap: np.ndarray  # int64 (side, tick)
    place: np.ndarray  # float64 (row): its key on the scale of rates
    slots: np.ndarray  # int32 (tick): the first row whose class may change then
    clock: np.ndarray  # int64: how long a tick is, as a power of two; the last tick gone through
    newcomer: np.ndarray  # float64, one: what arrivals count for beside rows that are stored


@inlined
def ticks_since(arrays: Any, own: DensityArrays, time: int) -> Any:
    """Whole ticks from a time to the last tick that has begun."""
    shift = own.clock[SHIFT]
    begun = ((arrays.terms[0].clock >> 1) >> shift) << shift
    return min(max(begun - time, 0) >> shift, own.age_class.shape[1] - 1)


@inlined
def density_of(arrays: Any, own: DensityArrays, row: int) -> float:
    """The score of a row now."""
    record = arrays.rows[row]
    side = np.int64(arrays.links[row].side)
    age = own.age_class[side, ticks_since(arrays, own, record.time)]
    gap = own.gap_class[side, ticks_since(arrays, own, record.touched)]
    met = min(record.matches, 2) + (1 if record.matches > 3 else 0)
    place = own.place[row]
    rate = np.int64(place)
    part = place - rate
    score = own.table[side, rate, met, gap, age]
    if part > 0.0:
        score += part * (own.table[side, rate + 1, met, gap, age] - score)
    return float(score)


@inlined
def next_tick(arrays: Any, own: DensityArrays, row: int) -> Any:
    """The tick at which the row's class changes next if it meets nobody; NEVER if it does not."""
    record = arrays.rows[row]
    side = np.int64(arrays.links[row].side)
    shift = own.clock[SHIFT]
    round_up = (np.int64(1) << shift) - 1
    age = own.next_age[side, ticks_since(arrays, own, record.time)]
    gap = own.next_gap[side, ticks_since(arrays, own, record.touched)]
    tick = NEVER
    if age != NEVER:
        tick = ((record.time + round_up) >> shift) + age
    if gap != NEVER:
        tick = min(tick, ((record.touched + round_up) >> shift) + gap)
    return tick


@inlined
def wait(arrays: Any, own: DensityArrays, row: int) -> None:
    """Put a row on the wheel, at the tick at which its class changes next."""
    tick = next_tick(arrays, own, row)
    if tick != NEVER:
        slot = tick & (own.slots.size - 1)
        arrays.rows[row].younger = own.slots[slot]
        own.slots[slot] = row


@inlined
def rescore(arrays: Any, own: DensityArrays, row: int) -> None:
    """Score a stored row anew; a score that fell needs a new entry in the heap."""
    before = arrays.rows[row].score
    score = density_of(arrays, own, row)
    arrays.rows[row].score = score
    if score < before:
        heap.enter(arrays, arrays.sides[arrays.links[row].side].pool, row)


@compiled
def turn(arrays: Any, own: DensityArrays, tick: int) -> None:
    """Go through the rows whose class may have changed up to a tick. Amortised O(1) a class."""
    first = max(own.clock[TICK] + 1, tick - own.slots.size + 1)
    own.clock[TICK] = tick
    for slot_tick in range(first, tick + 1):
        slot = slot_tick & (own.slots.size - 1)
        row = np.int64(own.slots[slot])
        own.slots[slot] = NONE
        while row != NONE:
            following = np.int64(arrays.rows[row].younger)
            pool = arrays.sides[arrays.links[row].side].pool
            if arrays.links[row].alive and arrays.pools[pool].ranked:
                rescore(arrays, own, row)
                wait(arrays, own, row)
            row = following


@inlined
def enter(arrays: Any, own: DensityArrays, row: int) -> None:
    """Insert a row into the heap and on the wheel."""
    arrays.rows[row].score = density_of(arrays, own, row)
    heap.enter(arrays, arrays.sides[arrays.links[row].side].pool, row)
    wait(arrays, own, row)


@inlined
def build(arrays: Any, own: DensityArrays, pool: int) -> None:
    """Insert all stored rows of a pool."""
    tick = (arrays.terms[0].clock >> 1) >> own.clock[SHIFT]
    other = arrays.pools[1 - pool]
    if other.ranked:
        turn(arrays, own, tick)
    own.clock[TICK] = tick
    for row in range(arrays.rows.size):
        if arrays.links[row].alive and arrays.sides[arrays.links[row].side].pool == pool:
            arrays.rows[row].score = density_of(arrays, own, row)
            wait(arrays, own, row)
    heap.build(arrays, pool)


@inlined
def worst(arrays: Any, own: DensityArrays, pool: int) -> tuple[np.int64, float, np.int64]:
    """The row of least score, as of the last tick."""
    tick = (arrays.terms[0].clock >> 1) >> own.clock[SHIFT]
    if tick > own.clock[TICK]:
        turn(arrays, own, tick)
    return heap.worst(arrays, pool)


@inlined
def standing(arrays: Any, own: DensityArrays, row: int) -> tuple[float, np.int64]:
    """The score of an arrival, a little less than if it were stored."""
    return own.newcomer[0] * density_of(arrays, own, row), np.int64(row)


@inlined
def forget(arrays: Any, own: DensityArrays, definition: int) -> None:
    """Clear the wheel, to be filled again."""
    own.slots[:] = NONE


@inlined
def on_pairs(
    arrays: Any, own: DensityArrays, row: int, block: Block, first: int, end: int
) -> tuple[int, Any]:
    """Update the history of an arrival's partners; its own begins when it is stored."""
    if arrays.terms[0].count_only:
        return end, np.int64(0)
    time = arrays.rows[row].time
    for at in range(first, end):
        number = np.int64(block.pairs[at].partner)
        partner = arrays.rows[number]
        if partner.matches < MOST_MATCHES:
            partner.matches += 1
        partner.touched = max(partner.touched, time)
        if arrays.pools[arrays.sides[arrays.links[number].side].pool].ranked:
            rescore(arrays, own, number)
    return end, np.int64(0)


class PlainDensityScore(PlainScore):
    """Density scores in plain Python."""

    def pairs(
        self,
        row: PlainRow,
        other: PlainRow,
        worth: float,
        rows: Sequence[PlainRow],
        now: ScoreMoment,
    ) -> None:
        """Count the match for the row that was stored."""
        other.matches += 1
        other.touched = max(other.touched, row.time)

    def worth(self, row: PlainRow, now: ScoreMoment) -> tuple[float, int]:
        """The score of the row's class at the last tick; the older of equals goes first."""
        density: MatchDensity = self.policy.density
        classes = density.classes
        tick = 1 << classes.shift
        begun = now.time // tick * tick
        age, gap = (
            sum(edge <= max(begun - since, 0) // tick * tick for edge in edges[1:].tolist())
            for since, edges in (
                (row.time, classes.age_edges(row.side)),
                (row.touched, classes.gap_edges(row.side)),
            )
        )
        place = float(classes.rate_places(row.side, np.array([row.weight]))[0])
        rate = math.floor(place)
        of_rate = density.table[row.side, :, match_class(row.matches), gap, age].tolist()
        score = of_rate[rate]
        if place > rate:
            score += (place - rate) * (of_rate[rate + 1] - score)
        return score, row.position

    def least(
        self, pool: int, stored: list[PlainRow], newcomer: PlainRow | None, now: ScoreMoment
    ) -> PlainRow | None:
        """The row of lowest score; an arrival counts for a little less than if it were stored."""
        worths = {row.position: self.worth(row, now) for row in stored}
        if newcomer is not None:
            score, order = self.worth(newcomer, now)
            worths[newcomer.position] = NEWCOMER * score, order
            stored = [*stored, newcomer]
        return min(stored, key=lambda row: worths[row.position])


class DensityKind(Kind):
    """A heap of rows by the score of their class, and a wheel of the ticks at which it changes."""

    name = "density"
    keeps_history = True
    goes_by_history = True
    tells_of_classes = True
    reads_partners = True
    plain = PlainDensityScore
    enter, build, worst = enter, build, worst
    standing, forget, on_pairs = standing, forget, on_pairs

    @staticmethod
    def arrays(given: Given) -> DensityArrays:
        """The table, the classes by ticks, and the rates of the rows' keys."""
        density: MatchDensity = given.policy.density
        classes = density.classes
        ages, gaps = (
            [edges(side) for side in (0, 1)] for edges in (classes.age_edges, classes.gap_edges)
        )
        weight, side = given.arrivals.weight, given.arrivals.side
        place = np.zeros(len(given.order))
        if weight.size:
            for which in (0, 1):
                mine = side == which
                place[mine] = classes.rate_places(which, weight[mine])
        return DensityArrays(
            table=np.ascontiguousarray(density.table),
            age_class=np.stack([classes.class_of_tick(edges) for edges in ages]),
            gap_class=np.stack([classes.class_of_tick(edges) for edges in gaps]),
            next_age=np.stack([classes.next_edge(edges) for edges in ages]),
            next_gap=np.stack([classes.next_edge(edges) for edges in gaps]),
            place=place[given.order],
            slots=np.full(SLOTS, NONE, np.int32),
            clock=np.array([classes.shift, 0], np.int64),
            newcomer=np.array([NEWCOMER]),
        )

    @staticmethod
    @cache
    def no_arrays() -> DensityArrays:
        """No classes."""
        none = np.zeros((2, 0), np.int64)
        return DensityArrays(
            table=np.zeros([0] * len(SHAPE)),
            age_class=none,
            gap_class=none,
            next_age=none,
            next_gap=none,
            place=np.zeros(0),
            slots=np.zeros(0, np.int32),
            clock=np.zeros(2, np.int64),
            newcomer=np.ones(1),
        )


@dataclass(frozen=True)
class DensityScore(Policy):
    """Base of policies whose score is that of the row's class."""

    density: MatchDensity

    kind: ClassVar[type[Kind]] = DensityKind
