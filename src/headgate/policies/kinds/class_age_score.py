"""Scores by class of a row and its age, where classes come from the columns of rows.

Rows of a class form a list, oldest first, which is cut where ages pass from one class to the next.
All rows between two cuts have the same score: they are a *cell*. Cells are ranked by score once a
step, and a bitmap says which have rows, so the next row to evict is found in O(1). Ages change
class at *ticks*, fixed moments of event time; each row passes a cut once.
"""

from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar, NamedTuple

import numpy as np

from headgate.compiling import compiled
from headgate.models.class_ages import AGES, TICKS, ClassAges
from headgate.policies.kinds.kind import Given, Kind
from headgate.policies.kinds.plain_class_age import PlainClassAgeScore
from headgate.policies.policy import Arrivals, Policy
from headgate.policies.structures import lists, marks
from headgate.policies.structures.no_row import LAST, NONE

NEVER = np.int64(1 << 62)
SHIFT, TICK, CELLS = 0, 1, 2
"""Places in `Cells.clock`."""


class Cells(NamedTuple):
    """The kind's own arrays; a group is a side, class and level of importance."""

    score: np.ndarray  # float64 (cell)
    rises: np.ndarray  # uint8 (cell): whether the next older cell has a higher score
    rank: np.ndarray  # int64 (cell): its place by score
    at: np.ndarray  # int64 (place): the cell that has it
    filled: marks.Marks  # places of cells that have rows, of the first pool and of the second
    cuts: np.ndarray  # int32 (group, age): youngest row of that age or older; not for the first
    due: np.ndarray  # int64 (group): a tick before which no row passes a cut
    start: np.ndarray  # int64 (side, age): ticks at which it begins; after the last, NEVER
    age_at: np.ndarray  # int64 (side, tick): the class of age
    clock: np.ndarray  # int64: a tick's length as a power of two; the last tick; number of cells


@compiled
def tick_now(arrays: Any, own: Cells) -> Any:
    """The last tick that has begun."""
    return (arrays.terms[0].clock >> 1) >> own.clock[SHIFT]


@compiled
def came_at(own: Cells, time: int) -> Any:
    """The tick from which a row's age is counted."""
    shift = own.clock[SHIFT]
    return (time + (np.int64(1) << shift) - 1) >> shift


@compiled
def age_of(arrays: Any, own: Cells, tick: int, row: int) -> Any:
    """The class of a row's age at a tick."""
    waited = min(max(tick - came_at(own, arrays.rows[row].time), 0), TICKS - 1)
    return own.age_at[np.int64(arrays.links[row].side), waited]


@compiled
def place_of(arrays: Any, own: Cells, group: int, age: int) -> Any:
    """The place of a cell in the bitmap."""
    side = np.int64(0 if 2 * group < own.due.size else 1)
    place = own.rank[group * AGES + age]
    return place + (own.clock[CELLS] if arrays.sides[side].pool else 0)


@compiled
def youngest_in(arrays: Any, own: Cells, group: int, age: int) -> Any:
    """The youngest row of an age or older, in a group."""
    if age == 0:
        return np.int64(arrays.groups[group].youngest)
    return np.int64(NONE) if age == AGES else np.int64(own.cuts[group, age])


@compiled
def mark(arrays: Any, own: Cells, group: int, age: int) -> None:
    """Note whether a cell has rows."""
    place = place_of(arrays, own, group, age)
    if youngest_in(arrays, own, group, age) == youngest_in(arrays, own, group, age + 1):
        marks.free(own.filled, place)
    else:
        marks.take(own.filled, place)


@compiled
def move_cuts(arrays: Any, own: Cells, group: int, tick: int) -> None:
    """Let rows of a group pass the cuts that they are due to pass. Amortised O(1) a row and cut."""
    rows = arrays.rows
    side = 0 if 2 * group < own.due.size else 1
    due = NEVER
    moved = False
    for age in range(1, AGES):
        start = own.start[side, age]
        cut = np.int64(own.cuts[group, age])
        younger = np.int64(arrays.groups[group].eldest if cut == NONE else rows[cut].younger)
        while younger != NONE and came_at(own, rows[younger].time) + start <= tick:
            cut = younger
            younger = np.int64(rows[cut].younger)
            moved = True
        own.cuts[group, age] = cut
        if younger != NONE:
            due = min(due, came_at(own, rows[younger].time) + start)
    own.due[group] = due
    if moved:
        for age in range(AGES):
            mark(arrays, own, group, age)


@compiled
def catch_up(arrays: Any, own: Cells) -> None:
    """Bring the ages of all rows up to the last tick."""
    tick = tick_now(arrays, own)
    if tick > own.clock[TICK]:
        own.clock[TICK] = tick
        for group in range(own.due.size):
            if own.due[group] <= tick:
                move_cuts(arrays, own, np.int64(group), tick)


@compiled
def enter(arrays: Any, own: Cells, row: int) -> None:
    """Insert a row into its list, which is in event order."""
    catch_up(arrays, own)
    lists.join(arrays, row, False)
    side, group = np.int64(arrays.links[row].side), np.int64(arrays.rows[row].group)
    age = age_of(arrays, own, own.clock[TICK], row)
    for cut in range(1, age + 1):
        # A row that comes late may be older than others that passed before.
        if own.cuts[group, cut] == NONE or row > own.cuts[group, cut]:
            own.cuts[group, cut] = row
    if age + 1 < AGES:
        coming = came_at(own, arrays.rows[row].time) + own.start[side, age + 1]
        own.due[group] = min(own.due[group], coming)
    marks.take(own.filled, place_of(arrays, own, group, age))


@compiled
def leave(arrays: Any, own: Cells, row: int) -> None:
    """Remove a row from its list; cuts at it move to the next older row."""
    group = np.int64(arrays.rows[row].group)
    age = age_of(arrays, own, own.clock[TICK], row)
    for cut in range(1, age + 1):
        if own.cuts[group, cut] == row:
            own.cuts[group, cut] = arrays.rows[row].elder
    lists.leave(arrays, row)
    mark(arrays, own, group, age)


@compiled
def build(arrays: Any, own: Cells, pool: int) -> None:
    """Insert all stored rows of a pool."""
    for row in range(arrays.rows.size):
        if arrays.links[row].alive and arrays.sides[arrays.links[row].side].pool == pool:
            enter(arrays, own, row)


@compiled
def first_to_go(arrays: Any, own: Cells, group: int, age: int) -> Any:
    """The row of a cell that is evicted first, and its order among equal scores."""
    if own.rises[group * AGES + age]:
        row = youngest_in(arrays, own, group, age)
        return row, np.int64(-row)
    beyond = youngest_in(arrays, own, group, age + 1)
    row = np.int64(arrays.groups[group].eldest if beyond == NONE else arrays.rows[beyond].younger)
    return row, row


@compiled
def worst(arrays: Any, own: Cells, pool: int) -> tuple[np.int64, float, np.int64]:
    """The row of the first cell by score; of cells of equal score, the row that goes first."""
    catch_up(arrays, own)
    cells = own.clock[CELLS]
    base, end = pool * cells, (pool + 1) * cells
    place = marks.next_taken(own.filled, base, end)
    if place >= end:
        return np.int64(NONE), np.inf, LAST
    cell = own.at[place - base]
    score = own.score[cell]
    row, order = first_to_go(arrays, own, cell // AGES, cell % AGES)
    while place + 1 < end and own.score[own.at[place + 1 - base]] == score:
        place = marks.next_taken(own.filled, place + 1, end)
        if place >= end:
            break
        cell = own.at[place - base]
        if own.score[cell] != score:
            break
        other, its_order = first_to_go(arrays, own, cell // AGES, cell % AGES)
        if its_order < order:
            row, order = other, its_order
    return row, score, order


@compiled
def standing(arrays: Any, own: Cells, row: int) -> tuple[float, np.int64]:
    """The score of an arrival by its class and age."""
    age = age_of(arrays, own, tick_now(arrays, own), row)
    cell = arrays.rows[row].group * AGES + age
    return own.score[cell], np.int64(-row if own.rises[cell] else row)


@compiled
def forget(arrays: Any, own: Cells, definition: int) -> None:
    """Clear the lists, to be rebuilt."""
    own.cuts[:] = NONE
    own.due[:] = NEVER
    own.filled.words[:] = 0


class ClassAgeKind(Kind):
    """Lists by class, cut by age, and a bitmap of the cells that have rows."""

    name = "class age"
    uses_heap = False
    plain = PlainClassAgeScore
    enter, leave, build = enter, leave, build
    worst, standing, forget = worst, standing, forget

    @staticmethod
    def classes(policy: Any, arrivals: Arrivals) -> tuple[np.ndarray, np.ndarray]:
        """The class that each row has as its weight."""
        most = np.array([len(rates) - 1 for rates in policy.ages.rates])
        found = np.clip(arrivals.weight, 0, most[arrivals.side]).astype(np.int32)
        return found, np.ones(policy.ages.classes)

    @staticmethod
    def arrays(given: Given) -> Cells:
        """The cells ranked by score, and no rows in them."""
        ages: ClassAges = given.policy.ages
        score = np.zeros((2, given.levels, AGES))
        rises = np.zeros((2, given.levels, AGES), np.uint8)
        of_class = given.levels // ages.classes
        for side in (0, 1):
            known = ages.scores(side)
            groups = slice(0, len(known) * of_class)
            by_group = np.repeat(known, of_class, axis=0)
            score[side, groups] = given.weights[groups, None] * by_group
            rises[side, groups, :-1] = by_group[:, 1:] > by_group[:, :-1]
        start = np.stack([np.append(ages.starts(side), NEVER) for side in (0, 1)])
        ticks = np.arange(TICKS)
        at = np.argsort(score.ravel(), kind="stable")
        rank = np.empty(score.size, np.int64)
        rank[at] = np.arange(score.size)
        return Cells(
            score=score.ravel(),
            rises=rises.ravel(),
            rank=rank,
            at=at.astype(np.int64),
            filled=marks.no_marks(2 * score.size),
            cuts=np.full((2 * given.levels, AGES), NONE, np.int32),
            due=np.full(2 * given.levels, NEVER, np.int64),
            start=start,
            age_at=np.stack([np.searchsorted(side[:-1], ticks, "right") - 1 for side in start]),
            clock=np.array([ages.shift, 0, score.size], np.int64),
        )

    @staticmethod
    @cache
    def no_arrays() -> Cells:
        """No cells."""
        numbers = np.zeros(0, np.int64)
        return Cells(
            score=np.zeros(0),
            rises=np.zeros(0, np.uint8),
            rank=numbers,
            at=numbers,
            filled=marks.no_marks(0),
            cuts=np.zeros((0, AGES), np.int32),
            due=numbers,
            start=np.zeros((2, AGES + 1), np.int64),
            age_at=np.zeros((2, TICKS), np.int64),
            clock=np.zeros(3, np.int64),
        )


@dataclass(frozen=True)
class ClassAgeScore(Policy):
    """Base of policies whose score follows from a row's class and age; its class is its weight."""

    ages: ClassAges

    kind: ClassVar[type[Kind]] = ClassAgeKind
    weighs_keys: ClassVar[bool] = True
    weighs_importance: ClassVar[bool] = True
