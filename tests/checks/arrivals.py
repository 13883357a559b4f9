"""Generated inputs, and drivers that run them in one step or several.

Rows are known by their place in the whole input, so that runs cut differently can be compared.
Domains are small: keys collide, times tie, windows are unequal or empty, budgets are tight; rows
must be equal in key, satisfy a band or comparison, or both.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from hypothesis import strategies as st

from headgate.kernel.layout import Count, Watch
from headgate.kernel.progress import NO_WATERMARK, Progress
from headgate.kernel.relation import Bound, Relation
from headgate.kernel.rows import Batch
from headgate.kernel.step import Step
from headgate.kernel.step_input import StepInput
from headgate.kernel.terms import Terms
from headgate.kernel.twin.twin import PlainStep
from headgate.kernel.watched import Watched, Watching
from headgate.models import (
    AgeCurves,
    AutoRegressive,
    ExponentialLife,
    Frequencies,
    LinearTrend,
    Noise,
    Process,
    RandomWalk,
    Stationary,
)
from headgate.policies import Age, Heeb, Ijoin, JoinToLive, Policy, Random, Ttl
from headgate.sampling import Uniform
from headgate.spec import RowWindow, SpecError, TimeWindow, Window
from headgate.spec.budget import UNLIMITED
from headgate.spec.importance.combine import Combine
from tests.checks.bumpy import Bumpy, Observing

NULL = -1
KEYS = 4

GAPS = (1, 0, 0, 1, 2, 5)
ROW_KEYS = (0, 1, 2, 3, 0, 1, NULL)
SIZES = (1, 2, 3, 7)
DELAYS = (0, 0, 1, 3, 7)
VALUES = (0, 1, 2, 3, 5, 8, -2, 2, None)

RELATIONS = {
    "band": Relation(Bound.DIFFERENCE, Bound.DIFFERENCE, -1, 2),
    "band below": Relation(Bound.DIFFERENCE, Bound.DIFFERENCE, -6, -1),
    "band that nothing is in": Relation(Bound.DIFFERENCE, Bound.DIFFERENCE, 1, 0),
    "at least": Relation(Bound.DIFFERENCE, Bound.NONE, 2),
    "real band": Relation(Bound.DIFFERENCE, Bound.DIFFERENCE, -0.1, 0.2, real=True),
    "<": Relation(Bound.PASSED, Bound.NONE),
    "<=": Relation(Bound.REACHED, Bound.NONE),
    ">": Relation(Bound.NONE, Bound.PASSED),
    ">=": Relation(Bound.NONE, Bound.REACHED, 0.0, 0.0, real=True),
    "!=": Relation(Bound.REACHED, Bound.REACHED, inverted=True),
}
"""Bands and comparisons to try, beside equal keys or without."""

RISING, FALLING, WITH_MINIMUM = (1, 4, 9), (9, 4, 1), (3, 0, 2)
IMPORTANCES = (1.0, 3.0, 0.0, 1.0, 2.5, 8.0, 1.0)
MANY_MATCHES = AgeCurves.of_buckets((12, 12), ((25,), (25,)))
"""More than there are rows, so that coins are flipped for all."""


def heeb(left: Process, right: Process, lifetime: float = 3.0) -> Heeb:
    """HEEB with short steps, as times are here."""
    return Heeb(left, right, ExponentialLife.of_lifetime(lifetime), every=TimeWindow(2))


SETTINGS: dict[type[Policy], tuple[Policy, ...]] = {
    Age: (
        Age(AgeCurves.of_buckets((12, 12), (RISING, FALLING))),
        Age(AgeCurves.of_buckets((6, 12), (WITH_MINIMUM, RISING))),
        Age(AgeCurves.of_buckets((3, 3), (FALLING, WITH_MINIMUM))),
    ),
    Random: (Random(), Random(seed=7)),
    Uniform: tuple(Uniform(MANY_MATCHES, share, seed=9) for share in (1.0, 0.4, 0.05)),
    Ttl: (Ttl(), Ttl(timedelta(microseconds=2)), Ttl(timedelta(0))),
    JoinToLive: (JoinToLive(), JoinToLive(matches=3)),
    Observing: tuple(Observing(seed, classes) for seed in (1, 2) for classes in (1, 3)),
    Heeb: (
        heeb(LinearTrend(1, 0, Noise.uniform(1)), RandomWalk(0, Noise.uniform(1))),
        heeb(Stationary({0: 0.6, 1: 0.3, 3: 0.1}), AutoRegressive(0.7, 0.5, 1.0)),
        heeb(LinearTrend(-0.3, 2, Noise.normal(1.5, 3)), LinearTrend(0, 2, Noise.uniform(2)), 50),
    ),
    Ijoin: (
        Ijoin(),
        Ijoin(maturity=timedelta(0), unproductivity=timedelta(microseconds=2), decay=3e5),
        Ijoin(maturity=timedelta(microseconds=3), decay=0, penalty=2e6),
        Ijoin(maturity=timedelta(microseconds=1), initial=1e5, recompute="successive"),
    ),
    Bumpy: tuple(
        Bumpy(seed, classes, follows_time)
        for seed in (1, 2, 3)
        for classes in (1, 3)
        for follows_time in (False, True)
    ),
}
"""Policies with parameters worth trying; others are built without any."""


class Arrival(NamedTuple):
    """A row of the input."""

    time: int
    side: int
    key: int
    size: int
    delay: int
    """How much later than its time it may be handed over."""
    value: int | None = 0
    """What a band or comparison looks at."""


@dataclass(frozen=True)
class Case:
    """An input in event order, and the join to run it through."""

    arrivals: tuple[Arrival, ...]
    terms: Terms
    keyed: bool = True
    """Whether keys must be equal; otherwise the band or comparison alone decides."""
    importance: tuple[float, ...] | None = None
    """Of each row; None where all count alike."""
    effort: tuple[tuple[float, float], ...] | None = None
    """Shares to probe and to store of each row; None where all is done."""

    @property
    def windows(self) -> tuple[Window, Window]:
        """How long rows wait."""
        return self.terms.windows

    def is_null(self, row: Arrival) -> bool:
        """Whether the row can match nothing."""
        no_value = self.terms.where is not None and row.value is None
        return no_value or (self.keyed and row.key == NULL)

    def value(self, row: Arrival) -> float:
        """The number a band or comparison looks at; tenths where numbers are real."""
        value = row.value or 0
        return value / 10 if self.terms.where is not None and self.terms.where.real else value

    def may_meet(self, one: Arrival, other: Arrival) -> bool:
        """Whether two rows are partners if their times allow it."""
        if one.side == other.side or self.is_null(one) or self.is_null(other):
            return False
        left, right = (one, other) if one.side == 0 else (other, one)
        where = self.terms.where
        fits = where is None or where.holds(self.value(left), self.value(right))
        return fits and (not self.keyed or one.key == other.key)

    def with_ample_memory(self) -> "Case":
        """The same join without limits; a sample of single pairs then takes them all."""
        terms, policy = self.terms.unlimited(), self.terms.policy
        if isinstance(policy, Uniform):
            terms = replace(terms, policy=replace(policy, share=1.0))
        return replace(self, terms=terms)


class Part(NamedTuple):
    """What is handed over in one step: rows by their place in the input."""

    rows: Sequence[int]
    watermark: int = NO_WATERMARK
    terms: Terms | None = None
    """Where the budget changes on the way; else the terms of the case."""


class Snapshot(NamedTuple):
    """All that can be known after a step, in places of the input."""

    pairs: list[tuple[int, int]]
    weights: list[float]
    worths: list[float]
    """The importance of each pair."""
    lives: list[int]
    """Sums of the lifetimes of rows that left, and of their squares."""
    alive: list[int]
    counts: list[list[int]]
    histories: dict[int, tuple[int, int, float]]
    sequences: dict[int, int]
    watched: dict[int, tuple[int, float, float]]
    """State, partners met and pairs made of each row."""
    ages: list[list[int]]
    stored: tuple[int, int]
    after: Progress


class Kept(NamedTuple):
    """What a step hands to the next of a row that is stored or still watched."""

    sequence: int
    matches: int
    touched: int
    recent: float
    watch: int
    met: float
    made: float


class Run(NamedTuple):
    """The snapshots of all steps."""

    steps: list[Snapshot]

    @property
    def pairs(self) -> list[tuple[int, int]]:
        """All pairs, in order."""
        return [pair for step in self.steps for pair in step.pairs]

    @property
    def alive(self) -> list[int]:
        """Rows stored at the end."""
        return self.steps[-1].alive

    def count(self, what: Count, side: int) -> int:
        """How often something happened over all steps."""
        return sum(step.counts[what][side] for step in self.steps)


def run(
    case: Case,
    parts: Sequence[Part] | None = None,
    keep_late: bool = False,
    engine: type[Step] | type[PlainStep] = Step,
    watching: Watching | None = None,
) -> Run:
    """Run the parts, or the whole input at once, each step carrying on what the last one left."""
    parts = [Part(range(len(case.arrivals)))] if parts is None else parts
    weights = weigh(case)
    stored: tuple[list[int], list[int]] = ([], [])
    kept: dict[int, Kept] = {}
    progress = Progress()
    steps = []
    for part in parts:
        rows = tuple([i for i in part.rows if case.arrivals[i].side == side] for side in (0, 1))
        given = StepInput(
            part.terms or case.terms,
            tuple(_carried(case, weights, stored[side], kept) for side in (0, 1)),
            tuple(_arriving(case, weights, rows[side]) for side in (0, 1)),
            codes=KEYS,
            progress=progress,
            watermark=part.watermark,
            keep_late=keep_late,
            watching=watching,
        )
        snapshot = _snapshot(engine(given), (stored[0] + rows[0], stored[1] + rows[1]))
        steps.append(snapshot)
        open_rows = {i for i, (state, *_) in snapshot.watched.items() if state == Watch.OPEN}
        survivors = set(snapshot.alive) | open_rows
        stored = tuple([i for i in stored[s] + rows[s] if i in survivors] for s in (0, 1))
        kept = {
            i: Kept(
                snapshot.sequences[i],
                *snapshot.histories[i],
                Watch.GHOST if i not in snapshot.alive else snapshot.watched[i][0],
                *snapshot.watched[i][1:],
            )
            for i in survivors
        }
        progress = snapshot.after
    return Run(steps)


def count_pairs(case: Case) -> int:
    """How many pairs the engine counts when it does not list them."""
    weights = weigh(case)
    sides = tuple([i for i, row in enumerate(case.arrivals) if row.side == side] for side in (0, 1))
    arriving = tuple(_arriving(case, weights, rows) for rows in sides)
    nothing = (Batch.empty(), Batch.empty())
    return Step(StepInput(case.terms, nothing, arriving, codes=KEYS)).count_pairs()


def weigh(case: Case) -> np.ndarray:
    """What the policy makes of each row's key."""
    weights = np.zeros(len(case.arrivals))
    for side in (0, 1):
        mine = [i for i, row in enumerate(case.arrivals) if row.side == side]
        weights[mine] = case.terms.policy.weigh([_keys(case.arrivals[i] for i in mine)], side)
    return weights


def exact_pairs(case: Case) -> list[tuple[int, int]]:
    """The join by brute force: of each two rows the earlier one's window must reach the later."""
    order = sorted(
        range(len(case.arrivals)), key=lambda i: (case.arrivals[i].time, case.arrivals[i].side)
    )
    pairs = []
    for place, one in enumerate(order):
        first = case.arrivals[one]
        window = case.windows[first.side]
        rows_of_side = 1
        for other in order[place + 1 :]:
            second = case.arrivals[other]
            rows_of_side += second.side == first.side
            waited = rows_of_side if isinstance(window, RowWindow) else second.time - first.time
            if case.may_meet(first, second) and waited <= window.span:
                pairs.append((one, other) if first.side == 0 else (other, one))
    return sorted(pairs)


@st.composite
def cases(draw: st.DrawFn, policy: type[Policy], time_windows: bool = False) -> Case:
    """Inputs for joins under a policy; only with time windows where it serves no others."""
    fewest = draw(st.sampled_from((0, 10, 20)))
    arrivals = _decoded(draw(st.lists(st.integers(0, 65535), min_size=fewest, max_size=40)))
    spans = draw(st.tuples(st.integers(0, 12), st.integers(0, 12)))
    by_rows = (False, False) if time_windows else draw(st.tuples(st.booleans(), st.booleans()))
    windows = tuple(
        RowWindow(span) if rows else TimeWindow(span)
        for span, rows in zip(spans, by_rows, strict=True)
    )
    chosen = draw(st.sampled_from(variants(policy, arrivals)))
    try:
        chosen.check(windows)
    except SpecError:
        windows = tuple(TimeWindow(span) for span in spans)
    where, keyed = None, True
    if draw(st.booleans()):
        where = RELATIONS[draw(st.sampled_from(list(RELATIONS)))]
        keyed = draw(st.booleans())
    terms = Terms(windows, chosen, *draw(budgets()), where, **draw(importances(policy)))
    return Case(arrivals, terms, keyed)


@st.composite
def importances(draw: st.DrawFn, policy: type[Policy]) -> dict[str, object]:
    """How pairs count, when that is redefined, and how often the oldest row goes."""
    if policy.samples or draw(st.booleans()):
        return {}
    return {
        "combine": draw(st.sampled_from(list(Combine))),
        "changes": tuple(sorted(draw(st.lists(st.integers(0, 40), max_size=2)))),
        "fairness": draw(st.sampled_from((0.0, 0.0, 0.5, 1.0))),
        "seed": 3,
    }


@st.composite
def budgets(draw: st.DrawFn) -> tuple[tuple[int, int], tuple[int, int], bool]:
    """Most rows and most bytes of each pool, and whether the sides share the first."""
    limits = st.tuples(st.integers(0, 6), st.integers(0, 6))
    unlimited = (UNLIMITED, UNLIMITED)
    kind = draw(st.sampled_from(("rows", "bytes", "both")))
    rows = unlimited if kind == "bytes" else draw(limits)
    most_bytes = unlimited if kind == "rows" else tuple(3 * most for most in draw(limits))
    return rows, most_bytes, draw(st.booleans())


@st.composite
def cuts(draw: st.DrawFn, case: Case) -> list[Part]:
    """The input in order, cut anywhere; watermarks as far on as they may be, or absent."""
    rows = range(len(case.arrivals))
    follow = draw(st.booleans())
    return [
        Part(part, case.arrivals[part[0]].time - 1 if follow and part else NO_WATERMARK)
        for part in _slices(draw, rows)
    ]


@st.composite
def deliveries(draw: st.DrawFn, case: Case) -> list[Part]:
    """The input handed over late, row by row as much as its delay, in several steps.

    Watermarks are as far on as they may be: just before the earliest row still to come.
    """
    by_delivery = sorted(
        range(len(case.arrivals)), key=lambda i: case.arrivals[i].time + case.arrivals[i].delay
    )
    parts, left = [], len(by_delivery)
    for rows in _slices(draw, by_delivery):
        to_come = [case.arrivals[i].time for i in by_delivery[len(by_delivery) - left :]]
        parts.append(Part(rows, min(to_come, default=NO_WATERMARK + 1) - 1))
        left -= len(rows)
    return parts


watchings = st.sampled_from((None, *(Watching(5, share, 3) for share in (0.3, 0.7, 1.0))))
"""No row is watched, some, or all."""
EVERY_ROW = Watching(5, 1.0, 3)


def one_by_one(case: Case) -> list[Part]:
    """The input in order, each row a step of its own."""
    return [Part([i]) for i in range(len(case.arrivals))] or [Part([])]


def variants(policy: type[Policy], arrivals: Sequence[Arrival]) -> tuple[Policy, ...]:
    """A policy's settings to try; its frequency model, if it has one, is counted on the input."""
    if policy in SETTINGS or not policy.weighs_keys:
        return SETTINGS.get(policy) or (policy(),)
    left, right = (
        pa.table({"key": _keys(row for row in arrivals if row.side == side)}) for side in (0, 1)
    )
    return (policy(Frequencies.of_tables(left, right, ["key"], ["key"])),)


def _decoded(choices: Sequence[int]) -> tuple[Arrival, ...]:
    """One number a row keeps generation quick; zeros are the plainest rows."""
    arrivals, time = [], 0
    for choice in choices:
        choice, side = divmod(choice, 2)
        choice, key = divmod(choice, len(ROW_KEYS))
        choice, gap = divmod(choice, len(GAPS))
        choice, size = divmod(choice, len(SIZES))
        time += GAPS[gap]
        choice, delay = divmod(choice, len(DELAYS))
        value = VALUES[choice % len(VALUES)]
        arrivals.append(Arrival(time, side, ROW_KEYS[key], SIZES[size], DELAYS[delay], value))
    return tuple(sorted(arrivals, key=lambda row: (row.time, row.side)))


def _slices(draw: st.DrawFn, rows: Sequence[int]) -> list[Sequence[int]]:
    steps = draw(st.integers(1, 6))
    places = sorted(draw(st.integers(0, len(rows))) for _ in range(steps - 1))
    return [rows[start:end] for start, end in zip([0, *places], [*places, len(rows)], strict=True)]


def _keys(rows: "Sequence[Arrival] | object") -> pa.ChunkedArray:
    keys = [None if row.key == NULL else row.key for row in rows]
    return pa.chunked_array([pa.array(keys, pa.int64())])


def _arriving(case: Case, weights: np.ndarray, rows: list[int]) -> Batch:
    mine = [case.arrivals[i] for i in rows]
    where = case.terms.where
    codes = [NULL if case.is_null(row) else row.key if case.keyed else 0 for row in mine]
    return Batch.of_arrivals(
        np.array([row.time for row in mine], np.int64),
        np.array(codes, np.int32),
        np.array([row.size for row in mine], np.int64),
        weights[rows],
        None
        if where is None
        else np.array([case.value(row) for row in mine], np.float64 if where.real else np.int64),
    )._replace(importance=_importance(case, rows), effort=_effort(case, rows))


def _effort(case: Case, rows: list[int]) -> np.ndarray | None:
    if case.effort is None:
        return None
    return np.array([case.effort[i] for i in rows], np.float64).reshape(-1, 2).T


def _importance(case: Case, rows: list[int]) -> np.ndarray | None:
    """By definition and row; all count alike where nothing is said."""
    if case.importance is not None:
        drawn = np.array([case.importance[i] for i in rows], np.float64)
        return np.tile(drawn, (len(case.terms.changes) + 1, 1))
    if not case.terms.combine:
        return None
    which = np.arange(len(case.terms.changes) + 1)[:, None]
    return np.array(IMPORTANCES)[(5 * np.array(rows, int) + 3 * which) % len(IMPORTANCES)]


def _carried(case: Case, weights: np.ndarray, rows: list[int], kept: dict[int, Kept]) -> Batch:
    return _arriving(case, weights, rows)._replace(
        sequence=np.array([kept[i].sequence for i in rows], np.int64),
        matches=np.array([kept[i].matches for i in rows], np.int32),
        touched=np.array([kept[i].touched for i in rows], np.int64),
        recent=np.array([kept[i].recent for i in rows], np.float64),
        watched=Watched(
            np.array([kept[i].watch for i in rows], np.uint8),
            np.array([kept[i].met for i in rows], np.float64),
            np.array([kept[i].made for i in rows], np.float64),
        ),
    )


def _snapshot(step: Step | PlainStep, places: tuple[list[int], list[int]]) -> Snapshot:
    if isinstance(step, Step):
        blocks = list(step.pairs())
        pairs = [pair for block in blocks for pair in np.stack(block[:2], axis=1).tolist()]
        weights = [weight for block in blocks for weight in block.weight.tolist()]
        worths = [worth for block in blocks for worth in block.importance.tolist()]
    else:
        pairs, weights, worths = step.pairs, step.weights, step.worths
    left, right = places
    alive, histories, sequences, watched = [], {}, {}, {}
    for side in (0, 1):
        own = places[side]
        alive += [i for i, is_alive in zip(own, step.alive(side), strict=True) if is_alive]
        matches, touched = (values.tolist() for values in step.histories(side))
        recent = step.recent(side).tolist()
        histories |= dict(zip(own, zip(matches, touched, recent, strict=True), strict=True))
        sequences |= dict(zip(own, step.sequences(side).tolist(), strict=True))
        states = zip(*(column.tolist() for column in step.watched(side)), strict=True)
        watched |= dict(zip(own, states, strict=True))
    return Snapshot(
        pairs=[(left[a], right[b]) for a, b in pairs],
        weights=weights,
        worths=worths,
        # Whole microseconds and their squares, whatever order they were added up in.
        lives=[round(total * unit) for total, unit in zip(step.lives, (1e6, 1e12), strict=True)],
        alive=alive,
        counts=step.counts.tolist(),
        histories=histories,
        sequences=sequences,
        watched=watched,
        ages=step.ages.tolist(),
        stored=(step.stored_rows, step.stored_bytes),
        after=step.after,
    )
