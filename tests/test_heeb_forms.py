"""HEEB in all its forms: each gives what the direct sum gives."""

from importlib import import_module

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.models import (
    AutoRegressive,
    ExponentialLife,
    FixedLife,
    Forever,
    Known,
    LinearTrend,
    Noise,
    Now,
    PrecomputedCurve,
    PrecomputedSurface,
    Process,
    RandomWalk,
    SeasonalAutoRegressive,
    Stationary,
    Survival,
    by_value,
    curve_table,
    estimated_benefit,
    first_reference,
    next_caching,
    next_joining,
)
from headgate.spec import SpecError
from tests.thoroughness import examples

SURVIVALS: list[Survival] = [ExponentialLife(1.5), ExponentialLife(9), FixedLife(1), FixedLife(12)]


def noises() -> st.SearchStrategy[Noise]:
    chances = st.lists(st.integers(1, 20).map(float), min_size=1, max_size=5)
    return st.builds(Noise, chances, st.integers(-4, 2))


def trends() -> st.SearchStrategy[LinearTrend]:
    slopes = st.sampled_from([0, 1, -2, 3, 0.5, 0.1, -1.25])
    return st.builds(LinearTrend, slopes, st.sampled_from([0, 0.5, -3.2]), noises())


def walks() -> st.SearchStrategy[RandomWalk]:
    return st.builds(RandomWalk, st.sampled_from([0, 1, -2, 0.3]), noises())


def stationary() -> st.SearchStrategy[Stationary]:
    return st.builds(Stationary, st.lists(st.integers(1, 9), min_size=1, max_size=6))


def plain_sum(
    process: Process,
    now: Now,
    values: np.ndarray,
    survival: Survival,
    caching: bool,
    window: int | None,
) -> np.ndarray:
    """The definition of H, term by term."""
    lasts = survival.horizon(1e-14) or 4096
    horizon = lasts if window is None else min(lasts, window)
    if horizon == 0:
        return np.zeros(len(values))
    ahead = np.arange(1, horizon + 1)
    terms = (
        first_reference(process, now, values, horizon)
        if caching
        else process.chance(values, now, ahead)
    )
    total: np.ndarray = survival.at(ahead) @ terms
    return total


@given(
    process=st.one_of(trends(), walks(), stationary()),
    survival=st.sampled_from(SURVIVALS),
    caching=st.booleans(),
    window=st.sampled_from([None, 0, 1, 7, 40]),
    now=st.builds(Now, st.integers(0, 50), st.integers(-5, 5)),
)
@examples(150)
def test_h_is_the_sum_that_defines_it(
    process: Process, survival: Survival, caching: bool, window: int | None, now: Now
) -> None:
    values = np.array([3, -4, 0, 3, 40, 9, 1])
    found = estimated_benefit(process, now, values, survival, caching, window)
    expected = plain_sum(process, now, values, survival, caching, window)
    assert np.abs(found - expected).max() < 1e-9


@given(
    phi=st.sampled_from([-0.6, 0.0, 0.3, 0.72, 0.95]),
    sigma=st.floats(1, 12),
    season=st.booleans(),
    survival=st.sampled_from([ExponentialLife(2), ExponentialLife(11), FixedLife(20)]),
    caching=st.booleans(),
    window=st.sampled_from([None, 1, 33]),
    now=st.builds(Now, st.integers(0, 50), st.integers(-20, 20)),
)
@examples(60)
def test_h_of_an_autoregression_is_the_sum_that_defines_it(
    phi: float,
    sigma: float,
    season: bool,
    survival: Survival,
    caching: bool,
    window: int | None,
    now: Now,
) -> None:
    process = (
        SeasonalAutoRegressive((2, 8, 3), phi, sigma, period=9)
        if season
        else AutoRegressive(phi, 2, sigma)
    )
    values = np.array([-11, 0, 4, 19])
    found = estimated_benefit(process, now, values, survival, caching, window)
    expected = plain_sum(process, now, values, survival, caching, window)
    assert np.abs(found - expected).max() < 1e-8


def test_sums_end_early_where_the_present_no_longer_matters_and_are_the_same() -> None:
    process, life = AutoRegressive(0.3, 2, 4), ExponentialLife(60)
    settles = process.settles(np.array([9]))
    horizon = life.horizon(1e-12)
    assert settles is not None
    assert horizon is not None
    assert settles[0] * 10 < horizon
    values = np.arange(-10, 15)
    for caching in (False, True):
        found = estimated_benefit(process, Now(0, 9), values, life, caching)
        expected = plain_sum(process, Now(0, 9), values, life, caching, None)
        assert np.abs(found - expected).max() < 1e-9


def test_caching_under_exponential_life_has_a_closed_form() -> None:
    alpha = 8.0
    life = ExponentialLife(alpha)
    for process in (RandomWalk(1, Noise.normal(1.5)), AutoRegressive(0.72, 3, 4)):
        now, values = Now(5, 12), np.arange(0, 40)
        all_visits = estimated_benefit(process, now, values, life)
        back = np.array(
            [estimated_benefit(process, Now(5, int(v)), np.array([v]), life)[0] for v in values]
        )
        closed = all_visits / (1 + back)
        assert np.abs(estimated_benefit(process, now, values, life, True) - closed).max() < 1e-12
        direct = plain_sum(process, now, values, life, True, None)
        assert np.abs(closed - direct).max() < 1e-9


@given(
    process=st.one_of(trends(), walks(), stationary()),
    caching=st.booleans(),
    alpha=st.sampled_from([1.5, 6.0]),
    states=st.lists(st.tuples(st.integers(0, 400), st.integers(-300, 300)), min_size=1, max_size=4),
)
@examples(80)
def test_the_table_has_h_at_the_offset_from_the_origin(
    process: Process, caching: bool, alpha: float, states: list[tuple[int, int]]
) -> None:
    windows, rate = (None, 3, 0, 25), 1.0 if caching else 2.5
    table, lowest = curve_table(process, ExponentialLife(alpha), caching, windows, rate)
    steps, values = np.array(states).T
    origins, moments = process.frame(steps, values)
    assert table.shape[:2] == (len(process.moments()), 4)
    offsets = np.arange(lowest, lowest + table.shape[2])
    for step, value, origin, moment in zip(steps, values, origins, moments, strict=True):
        now = Now(int(step), int(value))
        for place, window in enumerate(windows):
            direct = estimated_benefit(
                process, now, origin + offsets, ExponentialLife(alpha), caching, window, rate
            )
            assert np.abs(table[moment, place] - direct).max() < 1e-9
        outside = origin + np.array([lowest - 1, lowest + table.shape[2]])
        missed = estimated_benefit(process, now, outside, ExponentialLife(alpha), caching)
        assert missed.max() < 1e-9


@pytest.mark.parametrize("caching", [False, True])
@pytest.mark.parametrize(
    "process",
    [
        AutoRegressive(0.72, 55.9, 42.2),
        AutoRegressive(0.95, 5, 8),
        AutoRegressive(0.5, 5, 1.5),
        SeasonalAutoRegressive((200, 60, 10), 0.45, 39, period=48),
    ],
    ids=["temperatures", "slow", "narrow", "seasonal"],
)
def test_near_frames_have_nearly_the_h_of_the_state(
    process: AutoRegressive | SeasonalAutoRegressive, caching: bool
) -> None:
    life, rng = ExponentialLife(30), np.random.default_rng(3)
    table, lowest = curve_table(process, life, caching)
    steps = rng.integers(0, 500, 8)
    values = (process.mean(steps) + process.sd * rng.standard_normal(8)).astype(np.int64)
    origins, moments = process.frame(steps, values)
    offsets = np.arange(lowest, lowest + table.shape[2], 5)
    for step, value, origin, moment in zip(steps, values, origins, moments, strict=True):
        now = Now(int(step), int(value))
        direct = estimated_benefit(process, now, origin + offsets, life, caching)
        off = np.abs(table[moment, 0, ::5] - direct)
        allowed = 2 if process.season_length() > 1 else 1
        assert off.max() < allowed * 0.05 * direct.max()
        assert off.mean() < allowed * 0.01 * direct.max()


@given(
    phi=st.sampled_from([-0.5, 0.05, 0.4, 0.8]),
    sigma=st.floats(1, 50),
    season=st.booleans(),
    caching=st.booleans(),
    window=st.sampled_from([None, 9]),
)
@examples(12)
def test_the_table_of_an_autoregression_has_h_of_its_moments(
    phi: float, sigma: float, season: bool, caching: bool, window: int | None
) -> None:
    process = (
        SeasonalAutoRegressive((2, 2 * sigma, 0), phi, sigma, period=5)
        if season
        else AutoRegressive(phi, 7, sigma)
    )
    life = ExponentialLife(12)
    table, lowest = curve_table(process, life, caching, [window])
    offsets = np.arange(lowest, lowest + table.shape[2], 3)
    for place, moment in list(enumerate(process.moments()))[::11]:
        values = moment.origin + offsets
        direct = estimated_benefit(process, moment.now, values, life, caching, window)
        assert np.abs(table[place, 0, ::3] - direct).max() < 1e-4 * table.max()


@given(
    trend=trends(),
    step=st.integers(0, 30),
    alpha=st.sampled_from([2.0, 10.0]),
    ahead=st.integers(1, 10),
)
@examples(60)
def test_h_goes_from_step_to_step(trend: LinearTrend, step: int, alpha: float, ahead: int) -> None:
    """Corollaries 3 and 4."""
    values, life = np.arange(-8, 50), ExponentialLife(alpha)
    joining, caching = (
        estimated_benefit(trend, Now(step, 0), values, life, each) for each in (False, True)
    )
    certain = np.zeros(len(values), bool)
    for later in range(step + 1, step + ahead + 1):
        chance = trend.chance(values, Now(step, 0), np.array([later - step]))[0]
        joining, caching = (
            next_joining(joining, chance, alpha),
            next_caching(caching, chance, alpha),
        )
        certain |= chance == 1
        allowed = 1e-9 * np.exp((later - step) / alpha)
        direct = estimated_benefit(trend, Now(later, 0), values, life)
        assert np.abs(joining - direct).max() < allowed
        direct = estimated_benefit(trend, Now(later, 0), values, life, caching=True)
        # Every division by 1 − chance makes a rounding error larger.
        assert np.all(np.abs(caching - direct)[~certain] < 1e-5)
        assert np.all(np.isnan(caching[certain]))


@given(
    slope=st.sampled_from([1, -1, 2, 0.5]),
    noise=noises(),
    apart=st.integers(-8, 8),
    value=st.integers(-5, 40),
    caching=st.booleans(),
)
@examples(60)
def test_h_goes_from_value_to_value(
    slope: float, noise: Noise, apart: int, value: int, caching: bool
) -> None:
    """Corollary 5."""
    if apart * slope != int(apart * slope) or (caching and len(noise.chances) < 2):
        return
    trend, now, life = LinearTrend(slope, 0, noise), Now(10, 10), ExponentialLife(5)
    if slope == 0.5:
        now, apart = Now(10, 5), 2 * (apart // 2)
    other = int(value + apart * slope)
    known, wanted = estimated_benefit(trend, now, np.array([other, value]), life, caching)
    found = by_value(trend, now, other, known, value, 5, caching)
    assert found == pytest.approx(wanted, abs=1e-6)


def test_values_between_steps_of_the_trend_are_refused() -> None:
    trend = LinearTrend(2, 0, Noise.uniform(3))
    with pytest.raises(SpecError, match="whole number of steps apart"):
        by_value(trend, Now(0, 0), 5, 0.1, 4, 3.0)
    with pytest.raises(SpecError, match="slope 0"):
        by_value(LinearTrend(0, 0, Noise.uniform(3)), Now(0, 0), 5, 0.1, 4, 3.0)


@pytest.mark.parametrize("caching", [False, True])
@pytest.mark.parametrize("drift", [0, 2, 4])
def test_a_curve_is_the_direct_sum_of_a_walk(drift: int, caching: bool) -> None:
    curve = PrecomputedCurve.of(RandomWalk(drift, Noise.normal(1)), ExponentialLife(10), caching)
    assert curve.error() < 1e-10
    assert curve.error(Now(77, -1234)) < 1e-10
    assert curve(np.array([10**9])).tolist() == [0]
    # Figure 6: drift makes values to the right worth more, and those a few drifts away most.
    right, left = curve(np.array([4])), curve(np.array([-4]))
    assert right == pytest.approx(left) if drift == 0 else right > left
    if drift == 4:
        heights = curve(np.arange(3, 10))
        assert heights[1] > heights[0]
        assert heights[5] > heights[3]


def test_a_curve_of_few_points_is_near() -> None:
    walk, life = RandomWalk(0, Noise.normal(3)), ExponentialLife(20)
    few, more = (PrecomputedCurve.of(walk, life, points=points) for points in (40, 200))
    top = PrecomputedCurve.of(walk, life).heights.max()
    assert more.error() < few.error() < 0.2 * top
    assert more.error() < 0.02 * top
    with pytest.raises(SpecError, match="points=3"):
        PrecomputedCurve.of(walk, life, points=3)
    with pytest.raises(SpecError, match="2 moments"):
        PrecomputedCurve.of(LinearTrend(0.5, 0, Noise.uniform(2)), life)


@pytest.mark.parametrize("caching", [False, True])
def test_a_surface_of_25_points_is_near_and_of_more_is_nearer(caching: bool) -> None:
    process, life = AutoRegressive(0.72, 55.9, 42.2), ExponentialLife(100)
    papers, finer = (
        PrecomputedSurface.of(process, life, caching, points=points)
        for points in ((5, 5), (17, 17))
    )
    top = papers.heights.max()
    assert papers.heights.shape == (5, 5)
    assert finer.error() < papers.error() < 0.05 * top
    assert finer.error(mean=False) < 0.02 * top
    # Control points are hit.
    at, present = papers.values[1], papers.presents[3]
    direct = estimated_benefit(process, Now(0, int(present)), papers.values[[1]], life, caching)
    assert papers(at, present) == pytest.approx(direct[0])
    assert papers(np.arange(5), np.arange(5)).shape == (5,)
    with pytest.raises(SpecError, match="4 each way"):
        PrecomputedSurface.of(process, life, points=(3, 5))


def test_requests_that_mean_nothing_are_refused() -> None:
    process, now, values = Stationary({1: 1}), Now(0, 1), np.array([1])
    with pytest.raises(SpecError, match="the rate is 1"):
        estimated_benefit(process, now, values, ExponentialLife(2), caching=True, rate=2)
    with pytest.raises(SpecError, match="rate=0"):
        estimated_benefit(process, now, values, ExponentialLife(2), rate=0)
    with pytest.raises(SpecError, match="window=-1"):
        estimated_benefit(process, now, values, ExponentialLife(2), window=-1)
    with pytest.raises(SpecError, match="caching alone"):
        curve_table(process, Forever())
    with pytest.raises(SpecError, match="no frame"):
        curve_table(Known([1, 2]), ExponentialLife(2))


@pytest.mark.parametrize("windows", [[None], [None, 0, 1, 7, 50]], ids=["endless", "windows"])
@pytest.mark.parametrize("caching", [False, True], ids=["joining", "caching"])
@pytest.mark.parametrize(
    "process",
    [
        LinearTrend(1, 0, Noise.uniform(15)),
        LinearTrend(-2, 3, Noise.normal(3.3, 10)),
        LinearTrend(0.3, 0.4, Noise.normal(3.3, 10)),
        LinearTrend(-1.25, 0.1, Noise.uniform(4)),
        LinearTrend(0, 0, Noise.uniform(3)),
        RandomWalk(0, Noise.normal(1)),
        RandomWalk(-1.5, Noise.uniform(1)),
    ],
    ids=repr,
)
def test_the_short_way_to_a_table_is_the_sum(
    process: Process, caching: bool, windows: list[int | None], monkeypatch: pytest.MonkeyPatch
) -> None:
    short, lowest = curve_table(process, ExponentialLife(12.5), caching, windows)
    module = import_module("headgate.models.heeb.benefit_curves")  # a function is named like it
    monkeypatch.setattr(module, "endless_table", lambda *_: None)
    summed, same_lowest = curve_table(process, ExponentialLife(12.5), caching, windows)
    assert lowest == same_lowest
    np.testing.assert_allclose(short, summed, atol=1e-11)
