"""A kind of score and an index that are no part of Headgate, added the way their docs say.

Run as a process of its own: the kernel is compiled with them, and kept apart from the usual one.
"""

import importlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from headgate.compiling import compiled
from headgate.compiling.kernel_mode import MODE, PYTHON
from headgate.kernel import ranking, setup
from headgate.kernel import step as step_module
from headgate.kernel.probe import index_list, indexes
from headgate.kernel.probe.index import Index, IndexEntry, IndexRoom, Look
from headgate.policies import kinds
from headgate.policies.kinds.kind import Block, Given, Kind
from headgate.policies.kinds.plain_score import PlainRow, PlainScore, ScoreMoment
from headgate.policies.policy import Policy
from tests.uncompiled import run_uncompiled


class Bases(NamedTuple):
    base: np.ndarray  # float64, a row in event order


@compiled
def score(arrays: Any, own: Bases, row: int) -> Any:
    return own.base[row] - arrays.rows[row].matches


@compiled
def nothing(arrays: Any, own: Bases, number: int) -> None:
    pass


@compiled
def worst(arrays: Any, own: Bases, pool: int) -> Any:
    least, found = np.inf, np.int64(-1)
    for row in range(arrays.rows.size):
        if arrays.links[row].alive and arrays.sides[arrays.links[row].side].pool == pool:
            own_score = score(arrays, own, row)
            if own_score < least:
                least, found = own_score, np.int64(row)
    return found, least, found


@compiled
def standing(arrays: Any, own: Bases, row: int) -> Any:
    return score(arrays, own, row), np.int64(row)


@compiled
def on_pairs(arrays: Any, own: Bases, row: int, block: Block, first: int, end: int) -> Any:
    if not arrays.terms[0].count_only:
        for at in range(first, end):
            arrays.rows[block.pairs[at].partner].matches += 1
    return end, np.int64(0)


def base_of(sequence: Any, side: Any) -> Any:
    return (5 * sequence + 3 * side) % 7


class PlainWearing(PlainScore):
    def pairs(
        self,
        row: PlainRow,
        other: PlainRow,
        worth: float,
        rows: Sequence[PlainRow],
        now: ScoreMoment,
    ) -> None:
        other.matches += 1

    def worth(self, row: PlainRow, now: ScoreMoment) -> tuple[float, int]:
        return base_of(row.sequence, row.side) - row.matches, row.position


class WearingKind(Kind):
    """A row is worth less for every match it has made."""

    name = "wearing"
    keeps_history = True
    uses_heap = False
    plain = PlainWearing
    enter, build, worst = nothing, nothing, worst
    standing, on_pairs = standing, on_pairs

    @staticmethod
    def arrays(given: Given) -> Bases:
        rows = given.arrivals
        base = base_of(rows.sequence, rows.side.astype(np.int64))
        return Bases(base[given.order].astype(np.float64))

    @staticmethod
    def no_arrays() -> Bases:
        return Bases(np.empty(0))


@dataclass(frozen=True)
class Wearing(Policy):
    name: ClassVar[str] = "wearing"
    kind: ClassVar[type[Kind]] = WearingKind


class Pile(NamedTuple):
    groups: np.ndarray  # int64 (side, place)
    rows: np.ndarray  # int64 (side, place)
    sizes: np.ndarray  # int64 (side)


@compiled
def throw_on(pile: Pile, entry: IndexEntry) -> None:
    at = pile.sizes[entry.side]
    pile.groups[entry.side, at] = entry.group
    pile.rows[entry.side, at] = entry.row
    pile.sizes[entry.side] = at + 1


@compiled
def pull_out(pile: Pile, entry: IndexEntry) -> None:
    last = pile.sizes[entry.side] - 1
    for at in range(last + 1):
        if pile.rows[entry.side, at] == entry.row:
            pile.groups[entry.side, at] = pile.groups[entry.side, last]
            pile.rows[entry.side, at] = pile.rows[entry.side, last]
            break
    pile.sizes[entry.side] = last


@compiled
def look_through(pile: Pile, look: Look, found: np.ndarray, count: Any) -> Any:
    for at in range(pile.sizes[look.side]):
        if look.first <= pile.groups[look.side, at] < look.end:
            found[count] = pile.rows[look.side, at]
            count += np.int64(1)
    return count


class PileIndex(Index):
    """Rows on a pile, in no order at all."""

    name = "pile"
    insert, delete, find = throw_on, pull_out, look_through

    @staticmethod
    def empty(room: IndexRoom) -> Pile:
        most = max(room.rows)
        return Pile(
            np.empty((2, most), np.int64), np.empty((2, most), np.int64), np.zeros(2, np.int64)
        )


def add() -> None:
    """The one line each, and the modules that have read the lists before."""
    kinds.KINDS = (*kinds.KINDS, WearingKind)
    index_list.INDEXES = (*index_list.INDEXES, PileIndex)
    for module in (ranking, indexes, setup, step_module):
        importlib.reload(module)


def check() -> None:
    """A join ranked by the one and kept in the other, against plain Python."""
    from headgate.kernel.twin.twin import Twin
    from headgate.policies import Fifo
    from tests.checks.generated import cases, cuts, watchings
    from tests.checks.runs import run

    if MODE == PYTHON:
        run_uncompiled()
    careful = settings(
        max_examples=30 if MODE == PYTHON else 150,
        deadline=None,
        derandomize=True,
        database=None,
    )

    @careful
    @given(data=st.data())
    def kernel_agrees(data: st.DataObject) -> None:
        case = data.draw(cases(Wearing))
        parts, watching = data.draw(cuts(case)), data.draw(watchings)
        kernel = run(case, parts, watching=watching)
        plain = run(case, parts, engine=Twin, watching=watching)
        assert kernel == plain

    @careful
    @given(data=st.data())
    def index_agrees(data: st.DataObject) -> None:
        case = data.draw(cases(data.draw(st.sampled_from((Wearing, Fifo)))))
        parts, watching = data.draw(cuts(case)), data.draw(watchings)
        names = data.draw(st.sampled_from((("pile", "pile"), ("pile", "hash"), ("scan", "pile"))))
        piled = replace(case, terms=replace(case.terms, indexes=names))
        kernel = run(piled, parts, watching=watching)
        plain = run(case, parts, engine=Twin, watching=watching)
        for made, twin in zip(kernel.steps, plain.steps, strict=True):
            assert sorted(made.pairs) == sorted(twin.pairs)
            assert made.alive == twin.alive
            assert made.watched == twin.watched

    kernel_agrees()
    index_agrees()
