"""Sharing a budget among running joins: their expectations, and the order in which limits move."""

from collections import deque
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.models import AgeCurve, AgeCurves, Frequencies
from headgate.models.memory_curve import MemoryCurve
from headgate.planner.balancer import EVERY, Balancer, Member, MostResults, WorstOff
from headgate.planner.live_curve import (
    EXACT,
    FULL,
    PASSED,
    TIMES,
    StreamModel,
    expected_figures,
    live_curve,
)
from headgate.planner.quality_curve import QualityCurve
from headgate.planner.total_allocation import most_output
from headgate.policies.policy import RanksBy
from headgate.spec.quantity import SECOND_US
from tests.thoroughness import examples

WHOLE = 1000


class Pretended:
    """A running join: it takes up limits some batches late, and tells what a curve says."""

    def __init__(self, curve: QualityCurve, limit: int, late: int) -> None:
        self.curve, self.limit = curve, limit
        self._told: deque[int] = deque()
        self._late = late

    def tell(self, limit: int) -> None:
        self._told.append(limit)

    def batch(self, exact: float = 100.0) -> dict[str, Any]:
        """Figures of a batch, with the limit that holds in it."""
        if self._told and self._late <= 0:
            self.limit = self._told.popleft()
        self._late -= 1
        expected = {
            f"expected_{name}": self.curve.at(times * self.limit) for name, times in TIMES.items()
        }
        return {
            "limit": self.limit,
            "left_rows": 50,
            "right_rows": 50,
            "pairs": exact * self.curve.at(self.limit),
            "exact_pairs": exact,
            EXACT: 1.0,
            FULL: self.curve.full,
            PASSED: 0.5,
            **expected,
        }


def line(full: float) -> QualityCurve:
    return QualityCurve([0, full], [0.0, 1.0])  # type: ignore[arg-type]


def members(limits: dict[str, int], shards: int = 1) -> dict[str, Member]:
    return {name: Member(limit, limit, shards) for name, limit in limits.items()}


def drive(balancer: Balancer, joins: dict[str, Pretended], order: list[str]) -> list[int]:
    """Let joins have batches in this order; returns the limits in force together after each."""
    together = []
    for name in order:
        for told, limit in balancer.hear(name, joins[name].batch()).items():
            joins[told].tell(limit)
        together.append(sum(join.limit for join in joins.values()))
    return together


class TestBalancer:
    def test_recall_is_made_equal_while_joins_run(self) -> None:
        joins = {"easy": Pretended(line(500), 500, 0), "hard": Pretended(line(2000), 500, 0)}
        balancer = Balancer(
            WHOLE, WorstOff(dict.fromkeys(joins, 1.0)), members({"easy": 500, "hard": 500})
        )
        together = drive(balancer, joins, ["easy", "hard"] * 20)
        assert joins["easy"].limit == pytest.approx(200, abs=10)
        assert joins["hard"].limit == pytest.approx(800, abs=10)
        assert max(together) <= WHOLE

    def test_weights_are_kept_to(self) -> None:
        joins = {name: Pretended(line(1500), 500, 0) for name in "ab"}
        balancer = Balancer(WHOLE, WorstOff({"a": 2.0, "b": 1.0}), members({"a": 500, "b": 500}))
        drive(balancer, joins, ["a", "b"] * 20)
        assert joins["a"].limit == pytest.approx(2 * joins["b"].limit, rel=0.02)

    def test_drift_moves_limits_back_again(self) -> None:
        joins = {name: Pretended(line(500 + 1500 * (name == "b")), 500, 0) for name in "ab"}
        balancer = Balancer(WHOLE, WorstOff({"a": 1.0, "b": 1.0}), members({"a": 500, "b": 500}))
        drive(balancer, joins, ["a", "b"] * 20)
        joins["a"].curve, joins["b"].curve = joins["b"].curve, joins["a"].curve
        drive(balancer, joins, ["a", "b"] * 30)
        assert joins["a"].limit == pytest.approx(800, abs=30)

    @examples(60)
    @given(data=st.data())
    def test_limits_in_force_never_exceed_the_budget(self, data: st.DataObject) -> None:
        """Whoever takes long to hear, whoever has batches when, and however needs change."""
        names = "abc"[: data.draw(st.integers(2, 3))]
        even = WHOLE // len(names)
        joins = {
            name: Pretended(
                line(data.draw(st.floats(100, 5000))), even, data.draw(st.integers(0, 9))
            )
            for name in names
        }
        balancer = Balancer(
            WHOLE, WorstOff(dict.fromkeys(names, 1.0)), members(dict.fromkeys(names, even))
        )
        for _ in range(3):
            order = data.draw(st.lists(st.sampled_from(names), min_size=10, max_size=40))
            assert max(drive(balancer, joins, order)) <= WHOLE
            name = data.draw(st.sampled_from(names))
            joins[name].curve = line(data.draw(st.floats(100, 5000)))

    def test_small_gains_move_nothing(self) -> None:
        joins = {"a": Pretended(line(2000), 500, 0), "b": Pretended(line(2050), 500, 0)}
        balancer = Balancer(WHOLE, WorstOff({"a": 1.0, "b": 1.0}), members({"a": 500, "b": 500}))
        drive(balancer, joins, ["a", "b"] * 10)
        assert joins["a"].limit == 500

    def test_nobody_is_left_without_what_it_needs_to_tell_how_it_fares(self) -> None:
        joins = {"a": Pretended(line(10), 500, 0), "b": Pretended(line(50_000), 500, 0)}
        balancer = Balancer(WHOLE, WorstOff({"a": 1.0, "b": 1.0}), members({"a": 500, "b": 500}))
        drive(balancer, joins, ["a", "b"] * 20)
        assert joins["a"].limit >= balancer.least == 50

    def test_nothing_is_decided_before_all_have_been_heard(self) -> None:
        joins = {"a": Pretended(line(500), 500, 0), "b": Pretended(line(2000), 500, 0)}
        balancer = Balancer(WHOLE, WorstOff({"a": 1.0, "b": 1.0}), members({"a": 500, "b": 500}))
        drive(balancer, joins, ["a"] * 10 + ["b"] * (EVERY - 1))
        assert joins["a"].limit == 500
        drive(balancer, joins, ["b", "a", "b"])
        assert joins["b"].limit > 500

    def test_batches_without_rows_decide_nothing_but_show_the_limit_in_force(self) -> None:
        joins = {"a": Pretended(line(500), 500, 0), "b": Pretended(line(2000), 500, 0)}
        balancer = Balancer(WHOLE, WorstOff({"a": 1.0, "b": 1.0}), members({"a": 500, "b": 500}))
        nothing = {"left_rows": 0, "right_rows": 0, "pairs": 0, "exact_pairs": 0.0, FULL: 0.0}
        drive(balancer, joins, ["a", "b"])
        for name in ["a", "b"] * EVERY:
            assert not balancer.hear(name, joins[name].batch() | nothing)
        balancer.wants({"a": 300, "b": 700})
        told = balancer.hear("a", joins["a"].batch() | nothing | {"limit": 300})
        assert told == {"b": 700}

    def test_limits_are_whole_for_every_shard(self) -> None:
        balancer = Balancer(
            WHOLE, WorstOff({"a": 1.0, "b": 1.0}), members({"a": 500, "b": 500}, shards=4)
        )
        assert balancer.wants({"a": 333, "b": 667}) == {"a": 332}

    def test_recall_that_is_not_known_moves_nothing(self) -> None:
        joins = {"a": Pretended(line(500), 500, 0), "b": Pretended(line(2000), 500, 0)}
        balancer = Balancer(WHOLE, WorstOff({"a": 1.0, "b": 1.0}), members({"a": 500, "b": 500}))
        for name in ["a", "b"] * 10:
            assert not balancer.hear(name, joins[name].batch() | {"exact_pairs": None})


class TestMostResults:
    """Shards of one join: results count alike, whichever shard makes them."""

    def limits(self, exact: dict[str, float], curve: QualityCurve) -> dict[str, int]:
        """The limits that shards end with that make so many results, and lose none."""
        even = dict.fromkeys(exact, WHOLE // len(exact))
        shards = {name: Pretended(curve, limit, late=2) for name, limit in even.items()}
        balancer = Balancer(WHOLE, MostResults(), members(even))
        for name in list(exact) * 25:
            for told, limit in balancer.hear(name, shards[name].batch(exact[name])).items():
                shards[told].tell(limit)
            assert sum(shard.limit for shard in shards.values()) <= WHOLE
        return {name: shard.limit for name, shard in shards.items()}

    def test_memory_goes_where_it_makes_the_most_results(self) -> None:
        assert self.limits({"hot": 90.0, "cold": 10.0}, line(900)) == {"hot": 900, "cold": 100}

    def test_equal_shards_keep_equal_parts(self) -> None:
        assert self.limits({"a": 50.0, "b": 50.0}, line(900)) == {"a": 500, "b": 500}

    def test_a_shard_without_matches_keeps_the_least(self) -> None:
        assert self.limits({"a": 50.0, "b": 0.0}, line(2000)) == {"a": 950, "b": 50}

    def test_nothing_moves_before_anything_is_known(self) -> None:
        shards = {name: Pretended(line(900), 500, 0) for name in "ab"}
        balancer = Balancer(WHOLE, MostResults(), members({"a": 500, "b": 500}))
        for name in "ab" * 10:
            figures = shards[name].batch(90.0 if name == "a" else 10.0)
            assert not balancer.hear(name, figures | {FULL: 0.0})

    def test_a_move_that_makes_less_is_taken_back(self) -> None:
        """Curves that promise what does not come true cost no more than a while."""
        shards = {name: Pretended(line(900), 500, 0) for name in "ab"}
        balancer = Balancer(WHOLE, MostResults(), members({"a": 500, "b": 500}))
        limits = []
        for name in "ab" * 40:
            figures = shards[name].batch(60.0 if name == "a" else 40.0)
            if shards["a"].limit > 500:
                figures["pairs"] *= 0.5
            for told, limit in balancer.hear(name, figures).items():
                shards[told].tell(limit)
            limits.append(shards["a"].limit)
        assert max(limits) > 500
        assert np.mean(np.array(limits) == 500) > 0.6

    @examples(60)
    @given(data=st.data())
    def test_no_division_makes_more(self, data: st.DataObject) -> None:
        outputs = {}
        for name in "abc"[: data.draw(st.integers(1, 3))]:
            steps = data.draw(st.lists(st.integers(1, 40), min_size=1, max_size=4))
            slopes = sorted(
                data.draw(st.lists(st.floats(0, 9), min_size=len(steps), max_size=len(steps))),
                reverse=True,
            )
            rises = np.multiply(steps, slopes)
            outputs[name] = MemoryCurve(
                np.concatenate([[0.0], np.cumsum(steps)]), np.concatenate([[0.0], np.cumsum(rises)])
            )
        memory = data.draw(st.integers(3, 60))
        ones = dict.fromkeys(outputs, 1)
        given = most_output(outputs, memory, least=ones, most=dict.fromkeys(outputs, memory))
        assert sum(given.values()) == memory
        assert min(given.values()) >= 1
        made = sum(outputs[name].at(part) for name, part in given.items())
        names = list(outputs)
        for parts in product(range(1, memory + 1), repeat=len(names) - 1):
            rest = memory - sum(parts)
            if rest >= 1:
                other = zip(names, (*parts, rest), strict=True)
                assert made >= sum(outputs[name].at(part) for name, part in other) - 1e-6


class TestWhatShardsSay:
    def test_ages_tell_what_equation_3_does(self) -> None:
        curves = AgeCurves(AgeCurve(SECOND_US, [1, 1, 2, 1]), AgeCurve(1, [0]))
        streams = StreamModel(curves, None, (10 / SECOND_US, 10 / SECOND_US), (4 * SECOND_US, 0))
        told = expected_figures(streams, RanksBy.AGE, rows=20, row_bytes=None)
        assert told[EXACT] == pytest.approx(50)
        assert told["expected_now"] == pytest.approx(20 * 4 / 3)
        assert told["expected_fourfold"] == pytest.approx(50)
        assert told[FULL] == pytest.approx(40)

    def test_keys_tell_what_the_frequency_model_does(self) -> None:
        model = Frequencies.of_mappings({"a": 0.6, "b": 0.4}, {"a": 0.1, "b": 0.9})
        rates, span = (10 / SECOND_US, 20 / SECOND_US), 5 * SECOND_US
        keys = np.array([[0.6, 0.1], [0.4, 0.9]]) * rates
        matches = (0.06 + 0.36) * 20 * 5
        curves = AgeCurves(AgeCurve(span, [matches]), AgeCurve(1, [0]))  # type: ignore[arg-type]
        streams = StreamModel(curves, keys, rates, (span, 0))
        output = streams.output(RanksBy.FREQUENCY)
        assert output is not None
        wanted = model.output(0, rates, span)
        for rows in (0, 5, 20, 35, 50):
            assert output.at(rows) == pytest.approx(wanted.at(rows))

    def test_the_latest_rows_of_both_sides_are_kept_to_one_age(self) -> None:
        curve = AgeCurve(SECOND_US, [4, 1])
        streams = StreamModel(
            AgeCurves(curve, curve), None, (1 / SECOND_US, 1 / SECOND_US), (2 * SECOND_US,) * 2
        )
        told = expected_figures(streams, RanksBy.RECENCY, rows=2, row_bytes=None)
        assert told["expected_now"] == pytest.approx(8)
        assert told[EXACT] == pytest.approx(10)

    def test_without_a_model_only_the_size_is_told(self) -> None:
        streams = StreamModel(None, None, (10 / SECOND_US, 0.0), (4 * SECOND_US, 0))
        told = expected_figures(streams, RanksBy.AGE, rows=20, row_bytes=100.0)
        assert told[FULL] == pytest.approx(4000)
        assert told[EXACT] == 0


class TestLiveCurve:
    def told(self, full: float, exact: float = 0.0) -> dict[str, float]:
        return {EXACT: exact, FULL: full, **{f"expected_{name}": 0.0 for name in TIMES}}

    def test_what_was_measured_is_on_the_curve_even_without_a_model(self) -> None:
        curve = live_curve(self.told(1000), limit=250, recall=0.5)
        assert curve is not None
        assert curve.at(250) == pytest.approx(0.5, abs=0.01)
        assert curve.at(1000) == 1.0
        assert 0.5 < curve.at(500) < 1.0

    def test_nothing_heard_is_no_curve(self) -> None:
        assert live_curve(self.told(0), limit=250, recall=0.5) is None

    def test_more_memory_than_the_exact_join_takes_is_enough(self) -> None:
        curve = live_curve(self.told(100), limit=250, recall=1.0)
        assert curve is not None
        assert curve.at(250) == 1.0
        assert curve.full == 100
