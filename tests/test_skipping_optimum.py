"""Plans for work to skip against what a search over all plans finds."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog

from headgate.models.skipping import (
    STRATEGIES,
    Rows,
    Workload,
    best_plan,
    coin_flip,
    drop_and_store,
    drop_rows,
    insert_no_probe,
    online_max_subset,
    probe_no_insert,
    semantic_pni,
)
from tests.skipping_workloads import EXACTLY, amounts, few, many, not_behind, searched, workloads
from tests.thoroughness import examples


class TestOptimum:
    """Against answers found in other ways."""

    @few
    @given(join=workloads(look=amounts(1.0)))
    def test_coin_flips_and_insert_no_probe(self, join: Workload) -> None:
        share = np.linspace(0, 1, 26)
        coins = {coin_flip: lambda x, y: (x, y), insert_no_probe: lambda x, y: (1.0, 1.0)}
        for strategy, insert in coins.items():
            best = strategy(join).output
            for probe in product(share, repeat=2):
                if join.cost(probe, insert(*probe)) <= join.budget:
                    assert join.output(probe, insert(*probe)) <= best * (1 + EXACTLY)

    @few
    @given(join=workloads())
    def test_coin_flips_spend_the_budget(self, join: Workload) -> None:
        assert coin_flip(join).cost == pytest.approx(min(join.budget, join.exact_cost))

    @many
    @given(join=workloads())
    def test_probe_no_insert_and_semantic_pni(self, join: Workload) -> None:
        gain = np.concatenate(join.outputs)
        cost = join.produce * gain + np.concatenate(
            [update * rate for update, rate in zip(join.updates, join.rates, strict=True)]
        )
        unit = max(cost.max(), 1e-12)
        solved = linprog(-gain, A_ub=[cost / unit], b_ub=[join.budget / unit], bounds=(0, 1))
        assert semantic_pni(join).output == pytest.approx(-solved.fun, rel=1e-5, abs=1e-6)
        gain, cost = gain.reshape(2, -1).sum(axis=1), cost.reshape(2, -1).sum(axis=1)
        solved = linprog(-gain, A_ub=[cost / unit], b_ub=[join.budget / unit], bounds=(0, 1))
        assert probe_no_insert(join).output == pytest.approx(-solved.fun, rel=1e-5, abs=1e-6)

    @examples(15)
    @given(join=workloads(classes=3, budget=(0.1, 0.9)))
    def test_no_plan_at_all_passes_semantic_pni(self, join: Workload) -> None:
        assert searched(join, starts=6) <= semantic_pni(join).output * (1 + 1e-5)

    def test_online_max_subset_takes_keys_by_pairs_a_cost(self) -> None:
        join = Workload([4, 1, 2], [4, 9, 0], (10, 10), update=1, produce=0, budget=10)
        plan = online_max_subset(join)  # P is 320 / 8, 180 / 10 and 0
        assert plan.probe[0].tolist() == [1, 1, 0]
        assert plan.insert[0].tolist() == [1, 1, 0]
        assert plan.insert[1].tolist() == [1, 1 / 9, 0]

    def test_rows_are_dropped_by_their_keys_frequency_on_the_other_side(self) -> None:
        join = Workload([6, 4], [1, 9], (10, 10), update=1, produce=0, budget=8.5)
        plan = drop_rows(join)  # left 1 (0.9), right 0 (0.6), right 1 (0.4), left 0 (0.1)
        assert plan.probe[0].tolist() == plan.insert[0].tolist() == [0, 1]
        assert plan.probe[1].tolist() == [1, pytest.approx(3.5 / 9)]

    def test_rows_that_tie_share_a_coin(self) -> None:
        join = Workload([2] * 5, [2] * 5, (10, 10), update=1, produce=0.1, budget=12)
        dropped, flipped = drop_rows(join), coin_flip(join)
        assert dropped.output == pytest.approx(flipped.output)
        assert dropped.probe[0] == pytest.approx(flipped.probe[0])

    @pytest.mark.parametrize("share", [0.1, 0.4, 0.75])
    def test_keys_that_tie_bring_what_the_budget_is_a_share_of(self, share: float) -> None:
        zipf = 1 / np.arange(1, 51)
        join = Workload(zipf, zipf[::-1], (100, 100), update=1, produce=0.01, budget=0)
        plan = online_max_subset(join.within(share * join.exact_cost))
        last = (join.outputs[0] + join.outputs[1]).max() / join.exact_output
        assert share - 1e-9 <= plan.recall <= share + last
        whole = np.flatnonzero(plan.insert[0] + plan.insert[1] == 2)
        assert whole.tolist() == list(range(len(whole)))


class TestLookingCosts:
    @pytest.mark.parametrize("classes", [1, 2, 3])
    def test_no_more_is_found_by_a_general_solver(self, classes: int) -> None:
        random = np.random.default_rng(classes)
        for _ in range(6):
            join = Workload(
                random.exponential(10, classes),
                random.exponential(10, classes),
                (random.choice([0.0, 10.0]), 5.0),
                update=1,
                produce=random.choice([0.0, 0.1]),
                budget=0,
                look=random.choice([0.1, 1.0, 5.0]),
            )
            looking = join.look * (join.left.sum() + join.right.sum())
            join = join.within(random.choice([0.3, 0.7, 1.1]) * looking)
            best = best_plan(join).output
            assert searched(join, starts=8) <= best * 1.002

    @many
    @given(join=workloads(look=st.floats(1e-3, 1.0)))
    def test_the_best_plan_is_behind_none(self, join: Workload) -> None:
        best = best_plan(join)
        assert all(not_behind(best, strategy(join), by=1.1e-3) for strategy in STRATEGIES)
        assert best.output <= join.exact_output * (1 + EXACTLY)

    def test_rows_without_a_partner_are_not_looked_at(self) -> None:
        join = Workload([5, 90], [5, 0], (10, 10), update=1, produce=0, budget=15, look=1)
        plan = best_plan(join)
        assert plan.recall == pytest.approx(0.75**2)  # of storing both sides; of one alone 0.5
        assert plan.probe[0].tolist() == [pytest.approx(0.75), 0]
        assert not probe_no_insert(join).feasible
        assert not semantic_pni(join).feasible

    def test_what_is_left_of_the_budget_goes_to_rows_of_no_known_use(self) -> None:
        join = Workload([5, 90], [5, 0], (10, 10), update=1, produce=0, budget=65, look=1)
        plan = best_plan(join)
        assert plan.recall == pytest.approx(1.0)
        assert plan.probe[0].tolist() == [1, 0.5]

    def test_all_is_looked_at_where_nothing_is_gained_by_dropping(self) -> None:
        join = Workload([5, 5], [5, 5], (10, 10), update=1, produce=0.1, budget=30, look=1e-6)
        assert all(share.tolist() == [1, 1] for share in best_plan(join).probe)

    def test_many_classes_come_near_the_bound(self) -> None:
        zipf = 1 / np.arange(1, 1001)
        for right in (zipf, zipf[::-1]):
            for budget in (800, 1200, 1500):
                join = Workload(100 * zipf, 100 * right, (10, 10), 1, 0, budget, look=1)
                plan = drop_and_store(join)
                assert plan.output >= 0.99 * plan.bound


class TestMemoryToo:
    @many
    @given(join=workloads(look=st.just(0.0) | st.floats(1e-3, 1.0)), data=st.data())
    def test_both_limits_are_kept(self, join: Workload, data: st.DataObject) -> None:
        stored = join.stored((1.0, 1.0))
        share = st.floats(0.0, 1.2)
        rows: Rows = (
            (data.draw(share) * stored[0], data.draw(share) * stored[1])
            if data.draw(st.booleans())
            else data.draw(share) * sum(stored)
        )
        plan = best_plan(join, rows)
        assert plan.cost <= join.budget * (1 + EXACTLY)
        limits = rows if isinstance(rows, tuple) else (rows, rows)
        assert all(
            own <= limit * (1 + EXACTLY) for own, limit in zip(plan.stored, limits, strict=True)
        )
        if not isinstance(rows, tuple):
            assert sum(plan.stored) <= rows * (1 + EXACTLY)
        assert not_behind(best_plan(join), plan, by=1.1e-3)

    @pytest.mark.parametrize("look", [0.0, 1.0])
    @pytest.mark.parametrize("per_side", [False, True])
    def test_no_more_is_found_by_a_general_solver(self, look: float, per_side: bool) -> None:
        join = Workload([9, 2, 4], [1, 8, 5], (20, 3), update=1, produce=0.02, budget=0, look=look)
        join = join.within(0.5 * join.exact_cost)
        free = best_plan(join).stored
        rows: Rows = (0.8 * free[0], 0.7 * free[1]) if per_side else 0.7 * sum(free)
        plan = best_plan(join, rows)
        assert searched(join, starts=12, rows=rows) <= plan.output * (1.01 if look else 1.0001)
        assert plan.output <= plan.bound * (1 + EXACTLY)

    def test_where_both_bind_it_is_a_linear_program(self) -> None:
        join = Workload([9, 2, 4], [1, 8, 5], (20, 3), update=1, produce=0.0, budget=4)
        plan = semantic_pni(join, rows=78)
        assert plan.cost == pytest.approx(4)
        assert sum(plan.stored) == pytest.approx(78)
        assert plan.output < min(
            semantic_pni(join).output, semantic_pni(join.within(100), rows=78).output
        )
