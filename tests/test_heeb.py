"""HEEB and HIST as policies: scores as defined, the classic rankings, clear errors."""

from collections.abc import Callable
from datetime import UTC, datetime

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import headgate as hg
from headgate.models import (
    AutoRegressive,
    ExponentialLife,
    FixedLife,
    InverseTime,
    LinearTrend,
    Noise,
    Now,
    Process,
    RandomWalk,
    Stationary,
    estimated_benefit,
)
from headgate.policies import AdaptiveHeeb, Fifo, Heeb, Hist, Policy
from headgate.policies.heeb import AGE_CLASSES, compact
from headgate.policies.kinds.curve_score import Curves
from headgate.policies.policy import Arrivals
from headgate.policies.structures import curve_tables
from headgate.policies.structures.curve_tables import MOST_KEPT_TABLES, curve_tables_of
from headgate.spec import RowWindow, SpecError, TimeWindow
from tests.thoroughness import examples

STEP = TimeWindow(10)
TREND = LinearTrend(1, 0, Noise.normal(3.3, 10))
PROCESSES = (
    TREND,
    LinearTrend(-0.4, 7, Noise.uniform(4)),
    RandomWalk(0, Noise.normal(1)),
    RandomWalk(2, Noise.uniform(1)),
    Stationary({2: 0.5, 3: 0.2, 9: 0.3}),
)
SECOND = 1_000_000


@examples(60)
@given(
    process=st.sampled_from(PROCESSES),
    caching=st.booleans(),
    step=st.integers(0, 200),
    seen=st.integers(-5, 5),
    apart=st.integers(-20, 40),
    age=st.integers(0, AGE_CLASSES - 1),
)
def test_a_score_is_the_sum_over_the_future(
    process: Process, caching: bool, step: int, seen: int, apart: int, age: int
) -> None:
    """With a window of 16 steps, 2 a class of age, of which the middle is taken."""
    window, life = TimeWindow(16 * STEP.us), ExponentialLife(6)
    rates = (1.0, 1.0 if caching else 2.5)
    policy = Heeb(process, process, life, STEP, caching=caching, rates=rates)
    value = int(process.frame(np.array([step]), np.array([seen]))[0][0]) + seen
    row = Arrivals(
        np.array([step * STEP.us]),
        np.ones(1, np.uint8),
        np.zeros(1, np.int64),
        np.array([value]),
        np.ones(1),
    )
    heard = policy.frames(row)
    curves = policy.curves(0, window)
    at = value + apart - int(heard.origin[0]) - curves.lowest >> curves.grain
    curve = curves.table[heard.frame[0], age]
    score = curve[at] if 0 <= at < len(curve) else 0.0
    left = 16 - (2 * age + 1)
    wanted = estimated_benefit(
        process, Now(step, value), np.array([value + apart]), life, caching, left, rates[1]
    )
    assert score == pytest.approx(float(wanted[0]), abs=1e-8)


def ranking(policy: Heeb, values: list[int], now: int = 0) -> list[int]:
    """Left rows by worth, the best first."""
    curves = policy.curves(0, TimeWindow(10**9))
    none = np.zeros(1, int)
    row = Arrivals(none, np.ones(1, np.uint8), none, np.array([now]), np.ones(1))
    origin, frame = policy.frames(row)
    worth = {}
    for value in values:
        at = value - int(origin[0]) - curves.lowest
        curve = curves.table[frame[0], 0]
        worth[value] = float(curve[at]) if 0 <= at < len(curve) else 0.0
    return sorted(values, key=lambda value: -worth[value])


@pytest.mark.parametrize("caching", [False, True])
def test_known_rankings_come_out(caching: bool) -> None:
    life = ExponentialLife(10)
    stationary = Stationary({1: 0.1, 2: 0.4, 3: 0.2, 4: 0.3})
    as_prob = Heeb(stationary, stationary, life, STEP, caching=caching)
    assert ranking(as_prob, [1, 2, 3, 4]) == [2, 4, 3, 1]
    walk = RandomWalk(0, Noise.normal(2))
    by_distance = Heeb(walk, walk, life, STEP, caching=caching)
    assert ranking(by_distance, [100, 108, 95, 103], now=101) == [100, 103, 95, 108]
    trend = LinearTrend(1, 0, Noise.uniform(10))
    behind_goes_first = Heeb(trend, trend, life, STEP, caching=caching)
    assert ranking(behind_goes_first, [-9, 0, -4, 5]) == [5, 0, -4, -9]


def moving_join(policy: Policy, process: Process, rows: int) -> hg.Outcome:
    """Two streams of one process, a row a second each, within so many rows."""
    count = 1500
    seconds = np.arange(1, count + 1) * SECOND
    tables = [
        pa.table({"key": process.simulate(count, seed), "at": at.astype("M8[us]")})
        for seed, at in ((1, seconds), (2, seconds + SECOND // 2))
    ]
    return hg.WindowJoin(
        on="key",
        left=hg.Side(time="at", window="30 seconds"),
        right=hg.Side(time="at", window="30 seconds"),
        budget=hg.Budget(rows=rows, monitor=0),
        policy=policy,
    ).run(*tables)


@pytest.mark.parametrize("process", [TREND, RandomWalk(0, Noise.normal(1))], ids=["trend", "walk"])
def test_who_knows_how_values_move_makes_more(process: Process) -> None:
    start = datetime(1970, 1, 1, 0, 0, 1, tzinfo=UTC)
    form = "trend" if process is TREND else "walk"
    made = {
        policy.label: moving_join(policy, process, rows=10).recall
        for policy in (
            Heeb(process, process, start=start),
            AdaptiveHeeb(process, process, FixedLife(1), start=start),
            Hist(form),
            hg.policies.Random(),
            Fifo(),
        )
    }
    assert made["HEEB"] > made["FIFO"] + 0.1
    assert made["HEEB"] > made["HIST"] > made["RANDOM"]
    # It began with the wrong idea of how long rows stay, and saw for itself.
    assert made["ADAPTIVE-HEEB"] > 0.95 * made["HEEB"]


def test_survival_follows_from_the_budget_where_it_is_not_given() -> None:
    policy = Heeb(TREND, TREND, rates=(1, 3))
    assert policy.within(100).survival == ExponentialLife.of_lifetime(25)
    assert Heeb(TREND, TREND, FixedLife(9)).within(100).survival == FixedLife(9)


def test_long_curves_are_told_in_grains() -> None:
    hill = 1.0 / (1 + np.abs(np.arange(-100_000, 300_000)) / 1000)
    curves = compact(hill.reshape(1, 1, -1), -100_000, 1)
    assert curves.grain == 3
    assert curves.table.shape[2] == 50_000
    assert curve_tables_of(curves, curves).pieces.tolist() == [[[2]], [[2]]]
    for offset in (-99_993, -1000, 0, 1000, 299_990):
        at = (offset - curves.lowest) >> curves.grain
        assert curves.table[0, 0, at] == pytest.approx(1 / (1 + abs(offset) / 1000), rel=0.01)


def test_curves_are_laid_out_once_and_the_latest_kept() -> None:
    policy = Heeb(TREND, TREND, ExponentialLife(5), STEP)
    left, right = (policy.curves(side, TimeWindow(80)) for side in (0, 1))
    first = curve_tables_of(left, right)
    for seed in range(3 * MOST_KEPT_TABLES):
        drawn = np.random.default_rng(seed).random((1, 1, 9))
        curve_tables_of(Curves(drawn, 0, 0, 1), right)
        assert curve_tables_of(left, right) is first
    assert len(curve_tables._KEPT_TABLES) == MOST_KEPT_TABLES


def request(policy: object, **more: object) -> hg.WindowJoin:
    window = more.pop("window", "1 minute")
    return hg.WindowJoin(
        on="key",
        left=hg.Side(time="at", window=window),
        right=hg.Side(time="at", window=window),
        budget=more.pop("budget", hg.Budget(rows=10)),
        policy=policy,
    )


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: request("heeb"), "needs a model of how values move"),
        (lambda: request("hist"), "needs a model of how values move"),
        (lambda: Heeb("trend", TREND), "give a process, such as"),
        (lambda: Heeb(TREND, TREND, 12), "give hg.models.ExponentialLife"),
        (lambda: Heeb(TREND, TREND, InverseTime()), "is for caching"),
        (lambda: Heeb(TREND, TREND, every="0 seconds"), "has no length"),
        (lambda: Heeb(TREND, TREND, unit=0), "give numbers above 0"),
        (lambda: Heeb(TREND, TREND, rates=(1, -1)), "give numbers above 0"),
        (lambda: request(Heeb(TREND, TREND), window=RowWindow(9)), "give windows in time"),
        (lambda: Hist("season"), 'give "trend" or "walk"'),
        (lambda: Hist(buckets=1), "2 or more"),
        (lambda: Hist(unit=-1), "a number above 0"),
    ],
)
def test_what_cannot_be_is_said(call: Callable[[], object], says: str) -> None:
    with pytest.raises(SpecError, match=says):
        call()


def test_keys_must_be_numbers_and_budgets_say_how_long_rows_stay() -> None:
    policy = Heeb(TREND, TREND)
    at = pa.array([1], pa.timestamp("us"))
    texts = pa.table({"key": ["a"], "at": at})
    with pytest.raises(SpecError, match="one key column of numbers, dates or times, and the keys"):
        request(policy).run(texts, texts)
    numbers = pa.table({"key": [1], "at": at})
    in_bytes = request(policy, budget=hg.Budget(memory="1 MB"))
    with pytest.raises(SpecError, match="a budget in bytes does not say"):
        in_bytes.run(numbers, numbers)


def test_values_may_be_fractions_of_a_unit() -> None:
    warm = AutoRegressive(0.7, 50, 10)
    policy = Heeb(warm, warm, ExponentialLife(5), unit=0.1)
    assert policy.weigh([pa.chunked_array([[16.7, None, 20.0]])], 0).tolist() == [167, 0, 200]
