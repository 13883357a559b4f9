"""Plans for a CPU budget: each program solved right, and which makes more of a budget."""

import numpy as np
import pytest
from hypothesis import assume, given

from headgate.models import Frequencies
from headgate.models.skipping import (
    STRATEGIES,
    SkippingPlan,
    Workload,
    best_plan,
    coin_flip,
    insert_no_probe,
    probe_no_insert,
    semantic_pni,
)
from headgate.spec import SpecError
from tests.skipping_workloads import EXACTLY, Strategy, amounts, many, not_behind, some, workloads


class TestEveryStrategy:
    @pytest.mark.parametrize("strategy", [*STRATEGIES, best_plan])
    @many
    @given(join=workloads(look=amounts(1.0)))
    def test_stays_within_the_budget(self, strategy: Strategy, join: Workload) -> None:
        plan: SkippingPlan = strategy(join)
        assert plan.cost <= join.budget * (1 + EXACTLY)
        assert plan.output <= plan.bound * (1 + EXACTLY)
        for share in (*plan.probe, *plan.insert):
            assert share.shape == (join.classes,)
            assert np.all((share >= 0) & (share <= 1))
        assert plan.feasible or plan.output == 0

    @pytest.mark.parametrize("strategy", [*STRATEGIES, best_plan])
    @many
    @given(join=workloads(look=amounts(1.0), budget=(1.0, 1.2)))
    def test_does_the_whole_join_where_that_is_affordable(
        self, strategy: Strategy, join: Workload
    ) -> None:
        assert strategy(join).recall == pytest.approx(1.0)

    @pytest.mark.parametrize("strategy", STRATEGIES)
    def test_without_a_budget_nothing_costs_anything(self, strategy: Strategy) -> None:
        join = Workload([3, 1], [2, 5], (10, 4), 1, 0.1, budget=0)
        assert strategy(join).cost == 0
        assert strategy(join).output == 0

    @pytest.mark.parametrize("strategy", [*STRATEGIES, best_plan])
    @pytest.mark.parametrize(
        ("left", "right", "windows"),
        [([0, 0], [1, 2], (1, 1)), ([0, 0], [0, 0], (1, 1)), ([1, 2], [3, 4], (0, 0))],
    )
    def test_where_nothing_can_match_nothing_is_missed(
        self,
        strategy: Strategy,
        left: list[float],
        right: list[float],
        windows: tuple[float, float],
    ) -> None:
        plan = strategy(Workload(left, right, windows, 1, 1, budget=1))
        assert plan.output == 0
        assert plan.recall == 1

    @pytest.mark.parametrize("strategy", [coin_flip, probe_no_insert, semantic_pni])
    def test_a_side_that_waits_for_nobody_costs_no_update(self, strategy: Strategy) -> None:
        join = Workload([5, 5], [400, 600], (10, 0), update=1, produce=0, budget=4)
        plan: SkippingPlan = strategy(join)
        assert plan.stored[1] == 0
        assert plan.cost == pytest.approx(4)
        assert plan.output == pytest.approx(
            4 / 10 * 50_000 if plan.name != "semantic PNI" else 24e3
        )


class TestTheorems:
    """Theorems 2 and 3: PNI makes no less than CF, and CF no less than INP."""

    @many
    @given(join=workloads())
    def test_pni_then_cf_then_inp(self, join: Workload) -> None:
        inp, cf, pni = insert_no_probe(join), coin_flip(join), probe_no_insert(join)
        assert not_behind(pni, cf)
        assert not_behind(cf, inp)

    @many
    @given(join=workloads(amount=some, budget=(0.05, 0.95)))
    def test_strictly_where_the_join_is_infeasible_and_updates_cost(self, join: Workload) -> None:
        # Where updates are next to nothing all three are the same but for rounding.
        updates = [join.update * float(rate.sum()) / join.exact_cost for rate in join.rates]
        inp, cf, pni = insert_no_probe(join), coin_flip(join), probe_no_insert(join)
        assert cf.output > inp.output or min(updates) < 1e-6
        assert pni.output > cf.output or min(updates) < 1e-6

    @many
    @given(join=workloads())
    def test_inp_is_infeasible_where_the_windows_alone_cost_too_much(self, join: Workload) -> None:
        windows = sum(
            join.update * rate.sum()
            for rate, window in zip(join.rates, join.windows, strict=True)
            if window > 0
        )
        assume(abs(windows - join.budget) > 1e-6 * join.budget)
        assert insert_no_probe(join).feasible == (windows <= join.budget)

    @many
    @given(join=workloads())
    def test_semantic_pni_is_behind_none(self, join: Workload) -> None:
        best = semantic_pni(join)
        assert all(not_behind(best, strategy(join)) for strategy in STRATEGIES)

    @many
    @given(join=workloads())
    def test_semantic_pni_of_one_class_is_pni(self, join: Workload) -> None:
        pooled = join.pooled()
        assert semantic_pni(pooled).output == pytest.approx(probe_no_insert(join).output)
        assert pooled.exact_output == pytest.approx(join.exact_output)


class TestWorkload:
    def test_output_and_cost_are_the_papers(self) -> None:
        join = Workload.of_selectivity(0.02, (30, 20), (4, 6), update=0.5, produce=0.1, budget=1)
        assert join.exact_output == pytest.approx(0.02 * 30 * 20 * 10)
        assert join.exact_cost == pytest.approx(50 * 0.5 + 120 * 0.1)
        assert coin_flip(join).output == pytest.approx(
            120 * np.prod([share[0] for share in coin_flip(join).probe])
        )

    def test_one_coin_a_row_is_looked_at_for_the_larger_share(self) -> None:
        join = Workload([10], [10], (1, 1), update=0, produce=0, budget=1, look=1)
        assert join.cost((0.25, 0.5), (0.75, 0.25)) == pytest.approx(7.5 + 5)

    def test_keys_of_either_side_are_classes(self) -> None:
        keys = Frequencies.of_mappings({"a": 0.5, "b": 0.25}, {"c": 0.5, "b": 0.5})
        join = Workload.of_frequencies(keys, (8, 2), (1, 1), 1, 1, budget=1)
        assert join.left.tolist() == [4, 2, 0, 2]
        assert join.right.tolist() == [0, 1, 1, 0]
        assert np.asarray(join.chance).tolist() == [1, 1, 1, 0]
        assert join.exact_output == pytest.approx(2 * 1 * 2)

    def test_a_null_key_is_among_the_rows_that_match_nothing(self) -> None:
        keys = Frequencies.of_mappings({None: 0.5, "a": 0.5}, {"a": 1.0})
        join = Workload.of_frequencies(keys, (8, 2), (1, 1), 1, 1, budget=1)
        assert join.left.tolist() == [4, 4]
        assert join.right.tolist() == [2, 0]
        assert np.asarray(join.chance).tolist() == [1, 0]

    @pytest.mark.parametrize(
        ("given", "said"),
        [
            ({"left": [1, 2]}, "rates of shape"),
            ({"left": []}, "rates of shape"),
            ({"update": -1}, "update=-1"),
            ({"budget": float("nan")}, "budget=nan"),
            ({"chance": 1.5}, "chances at most 1"),
        ],
    )
    def test_what_makes_no_sense_is_refused(self, given: dict[str, object], said: str) -> None:
        sound = {"left": [1], "right": [1], "windows": (1, 1)}
        sound |= {"update": 1, "produce": 1, "budget": 1}
        with pytest.raises(SpecError, match=said):
            Workload(**{**sound, **given})  # type: ignore[arg-type]

    def test_an_infeasible_plan_says_so(self) -> None:
        join = Workload([10], [10], (1, 1), update=1, produce=1, budget=5)
        plan = insert_no_probe(join)
        assert repr(plan) == "SkippingPlan(INP: infeasible)"
        assert "nothing: what it does with every row costs more than the budget" in plan.explain()
