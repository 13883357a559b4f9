"""Generated inputs, and ways to hand them over.

Domains are small: keys collide, times tie, windows are unequal or empty, budgets are tight; rows
must be equal in key, satisfy a band or comparison, or both.
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from hypothesis import strategies as st

from headgate.kernel.given_up import hashes_of_codes
from headgate.kernel.key_draw import KeyDraw
from headgate.kernel.meeting_classes import MeetingClasses
from headgate.kernel.relation import Bound, Relation
from headgate.kernel.step_progress import NO_WATERMARK
from headgate.kernel.terms import Terms
from headgate.kernel.watched import Watching
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
from headgate.policies import (
    Age,
    Density,
    Features,
    Heeb,
    Ijoin,
    JoinToLive,
    Lfu,
    Policy,
    Random,
    Ttl,
)
from headgate.sampling import Uniform
from headgate.spec import RowWindow, SpecError, TimeWindow
from headgate.spec.budget import UNLIMITED
from headgate.spec.importance.combine import Combine
from tests.checks.arrivals import NULL, Arrival, Case, keys_of
from tests.checks.bumpy import Bumpy, Observing
from tests.checks.classed import CLASSED
from tests.checks.dense import DENSITIES
from tests.checks.runs import KEYS, Part

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
        Age(AgeCurves.of_buckets((12, 6), ((0.5, 0.1, 0.2), WITH_MINIMUM)), of_first=True),
    ),
    Density: DENSITIES,
    Features: CLASSED,
    Random: (Random(), Random(seed=7)),
    Uniform: tuple(Uniform(MANY_MATCHES, share, seed=9) for share in (1.0, 0.4, 0.05)),
    Ttl: (Ttl(), Ttl(timedelta(microseconds=2)), Ttl(timedelta(0))),
    JoinToLive: (JoinToLive(), JoinToLive(matches=3)),
    Lfu: (Lfu(), Lfu(share=0.3)),
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


class Scale(NamedTuple):
    """How large generated joins are."""

    fewest_rows: tuple[int, ...]
    most_rows: int
    longest_window: int
    most_stored: int


FEW_ROWS = Scale((0, 10, 20), 40, 12, 6)
MANY_ROWS = Scale((200, 400), 600, 400, 200)
"""Enough that structures grow to several levels, and run out of room that is sized by rows."""


@st.composite
def cases(
    draw: st.DrawFn, policy: type[Policy], time_windows: bool = False, scale: Scale = FEW_ROWS
) -> Case:
    """Inputs for joins under a policy; only with time windows where it serves no others."""
    rows = st.lists(
        st.integers(0, 65535),
        min_size=draw(st.sampled_from(scale.fewest_rows)),
        max_size=scale.most_rows,
    )
    arrivals = _decoded(draw(rows))
    span = st.integers(0, scale.longest_window)
    spans = draw(st.tuples(span, span))
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
    limits = draw(budgets(scale.most_stored))
    terms = Terms(windows, chosen, *limits, where, **draw(importances(policy)))
    terms = replace(terms, per_byte=terms.most_bytes[0] < UNLIMITED and draw(st.booleans()))
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
def budgets(
    draw: st.DrawFn, most: int = FEW_ROWS.most_stored
) -> tuple[tuple[int, int], tuple[int, int], bool]:
    """Most rows and most bytes of each pool, and whether the sides share the first."""
    limits = st.tuples(st.integers(0, most), st.integers(0, most))
    unlimited = (UNLIMITED, UNLIMITED)
    kind = draw(st.sampled_from(("rows", "bytes", "both")))
    rows = unlimited if kind == "bytes" else draw(limits)
    most_bytes = unlimited if kind == "rows" else tuple(3 * each for each in draw(limits))
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


BY_KEY = KeyDraw(5, 0.5, 0.7, block_us=4, sides=(True, False), hashes=hashes_of_codes(KEYS))
WEIGHTS = np.array([[0.0, 0.3], [0.02, 0.0], [1.0, 9.0], [0.5, 0.1]])
MEETINGS = MeetingClasses.of((12, 12), WEIGHTS, np.arange(len(WEIGHTS)))
watchings = st.sampled_from(
    (
        None,
        Watching(5, 0.3, 3),
        Watching(5, 0.7, 3, by_row=True),
        Watching(5, 1.0, 3, meetings=MEETINGS),
        Watching(5, 0.3, 3, keys=BY_KEY, meetings=MEETINGS, by_row=True),
    )
)
"""No row is watched, some, or all; or some by their key."""


def one_by_one(case: Case) -> list[Part]:
    """The input in order, each row a step of its own."""
    return [Part([i]) for i in range(len(case.arrivals))] or [Part([])]


def variants(policy: type[Policy], arrivals: Sequence[Arrival]) -> tuple[Policy, ...]:
    """A policy's settings to try; its frequency model, if it has one, is counted on the input."""
    if policy in SETTINGS or not policy.weighs_keys:
        return SETTINGS.get(policy) or (policy(),)
    left, right = (
        pa.table({"key": keys_of(row for row in arrivals if row.side == side)}) for side in (0, 1)
    )
    model = Frequencies.of_tables(left, right, ["key"], ["key"])
    return policy(model), policy(replace(model, rows_per_second=(2e5, 5e5)))


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
