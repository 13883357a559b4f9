"""Plans for a CPU budget: each program solved right, and which makes more of a budget."""

from collections.abc import Callable
from itertools import product

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog, minimize

from headgate.models import Frequencies
from headgate.models.skipping import (
    STRATEGIES,
    Plan,
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
from headgate.spec import SpecError

Strategy = Callable[[Workload], Plan]
EXACTLY = 1e-9
many = settings(max_examples=50, deadline=None, derandomize=True)
few = settings(max_examples=25, deadline=None, derandomize=True)


def some(most: float) -> st.SearchStrategy[float]:
    """Something within a few powers of ten."""
    return st.floats(most / 1e4, most)


def amounts(most: float) -> st.SearchStrategy[float]:
    """Nothing, or something."""
    return st.just(0.0) | some(most)


@st.composite
def workloads(
    draw: st.DrawFn,
    look: st.SearchStrategy[float] = st.just(0.0),  # noqa: B008 - a constant
    amount: Callable[[float], st.SearchStrategy[float]] = amounts,
    classes: int = 6,
    budget: tuple[float, float] = (0.0, 1.2),
) -> Workload:
    """Any workload; its budget is a share of what the whole join costs."""
    n = draw(st.integers(1, classes))
    rates = st.lists(amount(100.0), min_size=n, max_size=n)
    join = Workload(
        draw(rates),
        draw(rates),
        windows=(draw(amount(10.0)), draw(amount(10.0))),
        update=draw(amount(1.0)),
        produce=draw(amounts(1.0)),
        budget=0.0,
        look=draw(look),
        chance=draw(st.sampled_from((1.0, 0.25))),
    )
    return join.within(draw(st.floats(*budget)) * join.exact_cost)


def not_behind(one: Plan, other: Plan, by: float = EXACTLY) -> bool:
    return one.output >= other.output * (1 - by)


class TestEveryStrategy:
    @pytest.mark.parametrize("strategy", [*STRATEGIES, best_plan])
    @many
    @given(join=workloads(look=amounts(1.0)))
    def test_stays_within_the_budget(self, strategy: Strategy, join: Workload) -> None:
        plan: Plan = strategy(join)
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
        plan: Plan = strategy(join)
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


def tried(join: Workload, shares: np.ndarray, rows: Rows = None) -> float:
    """Output of what is looked at and stored of it, (4, classes); −1 if that is not allowed."""
    probe = (shares[0], shares[1])
    insert = (shares[0] * shares[2], shares[1] * shares[3])
    stored = join.stored(insert)
    used = np.array(stored) if isinstance(rows, tuple) else np.array([sum(stored)])
    fits = rows is None or np.all(used <= np.array(rows) * (1 + 1e-6))
    fits = fits and join.cost(probe, insert) <= join.budget * (1 + 1e-6)
    return join.output(probe, insert) if fits else -1.0


def searched(join: Workload, starts: int, rows: Rows = None) -> float:
    """The best output a general solver finds from many starts."""
    scale, n = max(join.exact_output, 1e-9), join.classes

    def parts(flat: np.ndarray) -> np.ndarray:
        return flat.reshape(4, n)

    def left_over(flat: np.ndarray) -> np.ndarray:
        look, stored = parts(flat)[:2], parts(flat)[:2] * parts(flat)[2:]
        over = [(join.budget - join.cost(tuple(look), tuple(stored))) / max(join.budget, 1e-9)]
        if rows is not None:
            used = np.array(join.stored(tuple(stored)))
            limits = np.atleast_1d(np.array(rows, float))
            unit = np.maximum(limits, 1e-9)
            over.extend((limits - (used if isinstance(rows, tuple) else used.sum())) / unit)
        return np.array(over)

    def loss(flat: np.ndarray) -> float:
        look, stored = parts(flat)[:2], parts(flat)[:2] * parts(flat)[2:]
        return -join.output(tuple(look), tuple(stored)) / scale

    random = np.random.default_rng(5)
    best = 0.0
    for start in range(starts):
        at = random.random(4 * n) if start % 2 else random.integers(0, 2, 4 * n).astype(float)
        found = minimize(
            loss,
            at,
            method="SLSQP",
            bounds=[(0, 1)] * (4 * n),
            constraints={"type": "ineq", "fun": left_over},
            options={"maxiter": 200},
        )
        best = max(best, tried(join, np.clip(parts(found.x), 0, 1), rows))
    return best


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

    @settings(max_examples=15, deadline=None, derandomize=True)
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
        assert repr(plan) == "Plan(INP: infeasible)"
        assert "nothing: what it does with every row costs more than the budget" in plan.explain()
