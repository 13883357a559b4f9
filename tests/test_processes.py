"""Stochastic processes: chances, simulation, frames, fits."""

import csv
import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.models import (
    AutoRegressive,
    Known,
    LinearTrend,
    Noise,
    Now,
    Process,
    ProcessFit,
    RandomWalk,
    SeasonalAutoRegressive,
    Stationary,
    best_fit,
)
from headgate.models.process.noise import normal_chance, stretch_chances
from headgate.spec import SpecError
from tests.thoroughness import examples

# The temperatures are not part of the project: they are looked for in HEADGATE_DATA, or beside it.
FILE = "melbourne-daily-max-temperatures.csv"
FOLDERS = [Path(os.environ["HEADGATE_DATA"])] if "HEADGATE_DATA" in os.environ else []
FOLDERS += Path(__file__).parents[2].glob("*/data")
TEMPERATURES = next((each / FILE for each in FOLDERS if (each / FILE).exists()), None)

PROCESSES: list[Process] = [
    Stationary({-3: 0.2, 0: 0.3, 7: 0.5}),
    Stationary([1, 2, 3], lowest=5),
    LinearTrend(1, -1, Noise.normal(1, 10)),
    LinearTrend(-2, 0.5, Noise.uniform(3)),
    LinearTrend(0.4, 0.1, Noise.uniform(2)),
    LinearTrend(0.3071, 0, Noise.normal(2)),
    RandomWalk(0, Noise.normal(1)),
    RandomWalk(2, Noise.of({-1: 0.3, 0: 0.1, 4: 0.6}), start=9),
    RandomWalk(-0.7, Noise.uniform(1)),
    AutoRegressive(0.72, 5.59, 4.22),
    AutoRegressive(-0.5, 30, 8),
    AutoRegressive(0.97, 1, 30),
    AutoRegressive(0.0, 3, 5),
    SeasonalAutoRegressive((20, 6, 2), 0.45, 4, period=40),
]
IDS = [repr(process)[:60] for process in PROCESSES]


def noises() -> st.SearchStrategy[Noise]:
    chances = st.lists(st.floats(0.01, 1), min_size=1, max_size=6)
    return st.builds(Noise, chances, st.integers(-6, 3))


@pytest.mark.parametrize("process", PROCESSES, ids=IDS)
def test_chances_add_up_to_one_within_reach(process: Process) -> None:
    low, high = process.reach(60)
    for moment in process.moments()[::7]:
        chances = process.chance(
            np.arange(low, high + 1) + moment.origin, moment.now, np.arange(1, 61)
        )
        assert chances.shape == (60, high - low + 1)
        assert chances.min() >= 0
        assert np.abs(chances.sum(axis=1) - 1).max() < 1e-9


@pytest.mark.parametrize("process", PROCESSES, ids=IDS)
def test_all_but_a_negligible_chance_is_within_the_spread(process: Process) -> None:
    now, ahead = process.moments()[0].now, np.array([1, 2, 5, 30])
    low, high = process.spread(now, ahead, 1e-6)
    for at, each in enumerate(ahead):
        values = np.arange(low[at], high[at] + 1)
        assert process.chance(values, now, np.array([each])).sum() > 1 - 2e-6


@pytest.mark.parametrize("process", PROCESSES, ids=IDS)
def test_what_is_simulated_comes_as_often_as_its_chance_says(process: Process) -> None:
    runs, start, ahead = 1500, 3, 4
    drawn = np.stack([process.simulate(start + ahead + 1, seed) for seed in range(runs)])
    values, counts = np.unique(drawn[:, start + ahead], return_counts=True)
    # The chance given what each run has shown, averaged over the runs.
    presents, times = np.unique(drawn[:, start], return_counts=True)
    expected = sum(
        many * process.chance(values, Now(start, int(present)), np.array([ahead]))[0]
        for present, many in zip(presents, times, strict=True)
    )
    assert np.all(np.abs(counts - expected) < 5 * np.sqrt(expected + 4))


@pytest.mark.parametrize("process", PROCESSES, ids=IDS)
def test_the_same_seed_draws_the_same_values_from_step_0(process: Process) -> None:
    drawn = process.simulate(20, 7)
    assert drawn.dtype == np.int64
    assert drawn.tolist() == process.simulate(20, 7).tolist()
    assert len(process.simulate(0, 7)) == 0
    if isinstance(process, RandomWalk):
        assert drawn[0] == process.start


@given(noise=noises(), drift=st.integers(-3, 3), other=noises())
@examples(60)
def test_steps_of_a_walk_add_up(noise: Noise, drift: int, other: Noise) -> None:
    walk = RandomWalk(drift, noise)
    by_hand = np.ones(1)
    lowest = 0
    for ahead in range(1, 6):
        by_hand = np.convolve(by_hand, noise.chances)
        lowest += noise.lowest + drift
        values = np.arange(lowest - 2, lowest + len(by_hand) + 2)
        found = walk.chance(values + 50, Now(3, 50), np.array([ahead]))[0]
        assert np.abs(found[2 : 2 + len(by_hand)] - by_hand).max() < 1e-12
        assert np.abs(found[:2]).max() + np.abs(found[-2:]).max() < 1e-12
    summed = walk.step.shifted(0.25)
    assert summed.mean == pytest.approx(walk.step.mean + 0.25)


@given(
    slope=st.one_of(st.integers(-3, 3), st.sampled_from([0.1, 0.5, 0.75, 1.7, -2.2, 1 / 3])),
    intercept=st.sampled_from([0.0, 0.5, -0.25, 17.3]),
    noise=noises(),
    step=st.integers(0, 5000),
)
@examples(80)
def test_a_trend_looks_the_same_from_every_state_of_a_moment(
    slope: float, intercept: float, noise: Noise, step: int
) -> None:
    trend = LinearTrend(slope, intercept, noise)
    moments, offsets, ahead = trend.moments(), np.arange(-60, 61), np.arange(1, 20)
    (origin,), (moment,) = trend.frame(np.array([step]), np.array([0]))
    one = trend.chance(offsets + origin, Now(step, 0), ahead)
    other = trend.chance(offsets + moments[moment].origin, moments[moment].now, ahead)
    assert np.array_equal(one, other)


def test_a_whole_slope_has_one_moment_and_others_no_more_than_64() -> None:
    noise = Noise.uniform(2)
    assert [len(LinearTrend(slope, 0.3, noise).moments()) for slope in (0, 3, 0.5, 0.3)] == [
        1, 1, 2, 10,
    ]  # fmt: skip
    assert len(LinearTrend(np.pi, 0, noise).moments()) == 64


def test_the_line_of_a_phase_is_seldom_off_and_by_one_at_most() -> None:
    trend = LinearTrend(np.sqrt(2) / 3, 0.2, Noise.uniform(0))
    steps, ahead = np.arange(1000, 1200), np.arange(1, 400)
    origin, moment = trend.frame(steps, steps)
    for step, start, each in zip(steps, origin, moment, strict=True):
        known = trend.moments()[each]
        off = (trend.line(step + ahead) - start) - (
            trend.line(known.now.step + ahead) - known.origin
        )
        assert np.abs(off).max() <= 1
        assert np.mean(off != 0) < 1 / 40


@pytest.mark.parametrize("process", PROCESSES, ids=IDS)
def test_a_moment_is_in_its_own_frame(process: Process) -> None:
    moments = process.moments()
    steps = np.array([moment.now.step for moment in moments])
    values = np.array([moment.now.value for moment in moments])
    origin, which = process.frame(steps, values)
    assert origin.dtype == np.int64
    assert which.dtype == np.int32
    assert which.tolist() == list(range(len(moments)))
    assert origin.tolist() == [moment.origin for moment in moments]


@given(
    phi=st.floats(-0.95, 0.95),
    sigma=st.floats(1.5, 60),
    present=st.floats(-4, 4),
    step=st.integers(0, 200),
    season=st.booleans(),
)
@examples(60)
def test_near_frames_expect_the_future_where_it_is(
    phi: float, sigma: float, present: float, step: int, season: bool
) -> None:
    process: AutoRegressive | SeasonalAutoRegressive = (
        SeasonalAutoRegressive((0, sigma, 0), phi, sigma, period=48)
        if season
        else AutoRegressive(phi, 10, sigma)
    )
    value = int(process.mean(np.array([step]))[0] + present * process.sd)
    (origin,), (which,) = process.frame(np.array([step]), np.array([value]))
    moment, ahead = process.moments()[which], np.arange(1, 30)
    mean, sd = process.future(step, np.array([value]), ahead)
    told, _ = process.future(moment.now.step, np.array([moment.now.value]), ahead)
    off = np.abs((mean - origin) - (told - moment.origin))
    # A lattice step for rounding, and a part of the spread that is left at that time.
    assert np.all(off <= 1 + (0.65 if season else 0.3 if phi < 0 else 0.12) * sd)
    if phi >= 0 and not season:
        assert off[0, 0] <= 0.5 + 1e-6


def test_temperatures_have_64_present_values() -> None:
    assert len(AutoRegressive(0.72, 55.9, 42.2).moments()) == 64
    assert len(AutoRegressive(0.72, 2, 1).moments()) < 64


def test_chances_settle_as_promised() -> None:
    for process in PROCESSES:
        settles = process.settles(np.array([-40, 40]))
        if settles is None:
            continue
        steps, period = settles
        values = np.arange(-60, 60)
        for present in (-40, 40):
            one = process.chance(values, Now(3, present), np.array([steps]))
            later = process.chance(values, Now(3, -present), np.array([steps + period]))
            assert np.abs(one - later).max() < 1e-13


def test_returns_are_chances_of_each_value_after_itself() -> None:
    values, ahead = np.array([-4, 0, 21, 30]), np.array([1, 2, 9])
    for process in PROCESSES:
        found = process.returns(values, 3, ahead)
        assert np.allclose(found, Process.returns(process, values, 3, ahead), atol=1e-15)


def test_a_known_stream_has_chances_of_0_and_1_and_no_frame() -> None:
    known = Known([4, 5, 4])
    chances = known.chance(np.array([4, 5]), Now(0, 4), np.array([1, 2, 3]))
    assert chances.tolist() == [[0, 1], [1, 0], [0, 0]]
    for ask in (known.moments, lambda: known.reach(3), lambda: known.frame(1, 4)):
        with pytest.raises(SpecError, match="no frame"):
            ask()


def test_stationary_fits_count() -> None:
    fit = Stationary.fit([3, 3, 5, 3])
    assert fit.process == Stationary({3: 3, 5: 1})
    assert fit.parameters == 1


@pytest.mark.parametrize("noise", ["normal", "uniform", "empirical"])
def test_a_trend_is_found_again(noise: str) -> None:
    true = LinearTrend(1, -7, Noise.uniform(10))
    fit = LinearTrend.fit(true.simulate(5000, seed=3), noise)
    assert isinstance(fit.process, LinearTrend)
    assert fit.process.slope == 1
    assert fit.process.intercept == pytest.approx(-7, abs=0.4)
    assert fit.process.noise.sd == pytest.approx(true.noise.sd, rel=0.1)
    assert fit.rmse == pytest.approx(true.noise.sd, rel=0.05)


def test_a_slope_that_is_not_whole_is_left_alone() -> None:
    fit = LinearTrend.fit(LinearTrend(0.31, 4, Noise.normal(3)).simulate(3000, seed=1))
    assert isinstance(fit.process, LinearTrend)
    assert fit.process.slope == pytest.approx(0.31, abs=1e-3)


@pytest.mark.parametrize("drift", [-2, 0, 0.4])
def test_a_walk_is_found_again(drift: float) -> None:
    true = RandomWalk(drift, Noise.normal(1.5), start=40)
    fit = RandomWalk.fit(true.simulate(8000, seed=5))
    assert isinstance(fit.process, RandomWalk)
    assert fit.process.start == 40
    assert fit.process.step.mean == pytest.approx(drift, abs=0.06)
    assert fit.process.step.sd == pytest.approx(true.step.sd, rel=0.03)


def test_an_autoregression_is_found_again_in_any_unit() -> None:
    values = AutoRegressive(0.72, 55.9, 42.2).simulate(30_000, seed=5)
    fit = AutoRegressive.fit(values)
    assert fit.process.phi == pytest.approx(0.72, abs=0.01)
    assert fit.process.sigma == pytest.approx(42.2, rel=0.01)
    scaled = AutoRegressive.fit(values / 10).process.scaled(10)
    assert scaled.constant == pytest.approx(fit.process.constant)
    assert scaled.sigma == pytest.approx(fit.process.sigma)


def test_a_season_is_found_again() -> None:
    true = SeasonalAutoRegressive((200, 50, 20, -7, 5), 0.45, 39, period=365)
    fit = SeasonalAutoRegressive.fit(true.simulate(36_500, seed=2), period=365, degree=2)
    found = fit.process
    assert isinstance(found, SeasonalAutoRegressive)
    assert found.phi == pytest.approx(0.45, abs=0.02)
    assert np.allclose(found.season, true.season, atol=2)
    assert fit.parameters == 7


def test_the_kind_a_stream_was_made_by_is_the_best_fit() -> None:
    for true in (
        Stationary({3: 0.2, 4: 0.5, 9: 0.3}),
        LinearTrend(1, 0, Noise.normal(3)),
        AutoRegressive(0.7, 50, 30),
    ):
        fits = best_fit(true.simulate(3000, seed=4))
        assert type(fits[0].process) is type(true)
        assert [fit.aic for fit in fits] == sorted(fit.aic for fit in fits)
        assert "AIC" in str(fits[0])


def test_of_a_walk_only_an_autoregression_that_is_nearly_one_makes_as_much() -> None:
    fits = best_fit(RandomWalk(0.5, Noise.normal(2)).simulate(3000, seed=4))
    (walk,) = (fit for fit in fits if isinstance(fit.process, RandomWalk))
    better = fits[: fits.index(walk)]
    assert all(fit.process.phi > 0.99 and fit.aic > walk.aic - 4 for fit in better)


def test_candidates_may_be_functions_and_those_that_cannot_be_are_left_out() -> None:
    def seasonal(values: np.ndarray) -> ProcessFit:
        return SeasonalAutoRegressive.fit(values, period=50, degree=1)

    true = SeasonalAutoRegressive((200, 90, 0), 0.3, 30, period=50)
    fits = best_fit(true.simulate(4000, seed=1), [AutoRegressive, seasonal])
    assert isinstance(fits[0].process, SeasonalAutoRegressive)
    constant = best_fit(np.full(9, 4), [AutoRegressive, Stationary])
    assert [type(fit.process) for fit in constant] == [Stationary]
    with pytest.raises(SpecError, match="no process fits"):
        best_fit(np.full(9, 4), [AutoRegressive])


@pytest.mark.skipif(TEMPERATURES is None, reason="the Melbourne temperatures are not here")
def test_melbourne_temperatures_have_the_papers_parameters() -> None:
    assert TEMPERATURES is not None
    with TEMPERATURES.open() as lines:
        degrees = np.array([float(row[1]) for row in list(csv.reader(lines))[1:]])
    found = AutoRegressive.fit(degrees).process
    assert isinstance(found, AutoRegressive)
    assert (found.phi, found.constant, found.sigma) == pytest.approx(
        (0.720, 5.593, 4.227), abs=1e-3
    )
    seasonal = SeasonalAutoRegressive.fit(degrees)
    assert seasonal.aic < AutoRegressive.fit(degrees).aic


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        (lambda: Noise([]), "at least one"),
        (lambda: Noise([0.5, -0.1]), "not negative"),
        (lambda: Noise.of({}), "empty"),
        (lambda: Noise.of({0.5: 1}), "whole"),
        (lambda: Noise.normal(0), "sigma=0"),
        (lambda: Noise.uniform(-1), "bound=-1"),
        (lambda: Stationary({1: 1}, lowest=3), "leave lowest out"),
        (lambda: LinearTrend(np.inf, 0, Noise.uniform(1)), "slope=inf"),
        (lambda: RandomWalk(0, Noise.uniform(1), start=0.5), "start=0.5"),
        (lambda: AutoRegressive(1, 0, 1), "RandomWalk"),
        (lambda: AutoRegressive(0.5, 0, 0), "sigma=0"),
        (lambda: SeasonalAutoRegressive((1, 2), 0.5, 1, 12), "cosine and a sine"),
        (lambda: SeasonalAutoRegressive((1, 2, 3), 0.5, 1, 1), "period=1"),
        (lambda: Known([1.5]), "whole"),
        (lambda: Known([1]).simulate(2, 0), "1 are known"),
        (lambda: RandomWalk.fit([1, 2, 3], noise="loud"), "normal, uniform, empirical"),
        (lambda: LinearTrend.fit([1, 2]), "at least 3"),
        (lambda: AutoRegressive.fit([1, np.nan, 2, 3]), "finite"),
    ],
)
def test_what_cannot_be_is_refused_with_a_reason(wrong: Callable[[], object], says: str) -> None:
    with pytest.raises(SpecError, match=says):
        wrong()


@given(first=st.floats(-60, 60), sigma=st.floats(0.05, 30), count=st.integers(2, 80))
@examples(60)
def test_neighbours_have_the_chances_they_have_alone(
    first: float, sigma: float, count: int
) -> None:
    together = stretch_chances(np.array([first]), np.array([sigma]), count)[0]
    alone = normal_chance(first + np.arange(count), sigma)
    assert np.allclose(together, alone, rtol=1e-9, atol=1e-300)
