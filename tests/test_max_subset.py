"""Offline Max-Subset: exact against every subset, greedy within it, and nobody over the budget."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.models.cost import WorkCost
from headgate.policies.offline import Events
from headgate.policies.offline.subset import (
    JoinGraph,
    Subset,
    exact_max_subset,
    greedy_induced_subset,
    greedy_max_subset,
)
from headgate.spec import SpecError
from tests.thoroughness import examples

SIDE = 4


@st.composite
def small_graphs(draw: st.DrawFn, most: int = 8) -> JoinGraph:
    """Bipartite, of eight rows and a few pairs; some rows may meet nobody."""
    every = [(left, SIDE + right) for left in range(SIDE) for right in range(SIDE)]
    pairs = draw(st.lists(st.sampled_from(every), max_size=most, unique=True))
    return JoinGraph(2 * SIDE, np.array(pairs, np.int64).reshape(-1, 2).T)


works = st.builds(
    lambda update, produce: WorkCost(update=update, produce=produce),
    st.integers(0, 4),
    st.integers(0, 4),
)
budgets = st.integers(0, 40)


def best_free(graph: JoinGraph, work: WorkCost, budget: float) -> int:
    """The most pairs of any set of pairs that the budget buys."""
    for count in range(graph.pairs, 0, -1):
        for chosen in combinations(range(graph.pairs), count):
            made = np.zeros(graph.pairs, bool)
            made[list(chosen)] = True
            if Subset.of_pairs(graph, made, work).cost <= budget:
                return count
    return 0


def best_induced(graph: JoinGraph, work: WorkCost, budget: float) -> int:
    """The most pairs that any set of rows makes with each other within the budget."""
    best = 0
    for code in range(1 << graph.rows):
        kept = (code >> np.arange(graph.rows) & 1).astype(bool)
        pairs = int(kept[graph.ends].all(axis=0).sum())
        if work.of_work(0.0, kept.sum(), pairs) <= budget:
            best = max(best, pairs)
    return best


def is_induced(graph: JoinGraph, subset: Subset) -> bool:
    return np.array_equal(subset.made, subset.kept[graph.ends].all(axis=0))


@examples(40)
@given(small_graphs(), works, budgets)
def test_the_exact_answer_is_the_best_of_all_sets_of_pairs(
    graph: JoinGraph, work: WorkCost, budget: int
) -> None:
    found = exact_max_subset(graph, work, budget)
    assert found.cost <= budget
    assert found.pairs == best_free(graph, work, budget)


@examples(40)
@given(small_graphs(most=16), works, budgets)
def test_the_exact_induced_answer_is_the_best_of_all_sets_of_rows(
    graph: JoinGraph, work: WorkCost, budget: int
) -> None:
    found = exact_max_subset(graph, work, budget, induced=True)
    assert found.cost <= budget
    assert is_induced(graph, found)
    assert found.pairs == best_induced(graph, work, budget)


@given(small_graphs(most=16), works, budgets, st.booleans())
def test_greedy_keeps_to_the_budget_and_never_beats_the_exact_answer(
    graph: JoinGraph, work: WorkCost, budget: int, as_printed: bool
) -> None:
    greedy = greedy_max_subset(graph, work, budget, as_printed)
    assert greedy.cost <= budget
    assert greedy.pairs <= exact_max_subset(graph, work, budget).pairs
    assert greedy.kept[graph.ends[:, greedy.made]].all()


@given(small_graphs(most=16), works, budgets)
def test_greedy_with_whole_rows_makes_every_pair_of_the_rows_it_keeps(
    graph: JoinGraph, work: WorkCost, budget: int
) -> None:
    greedy = greedy_induced_subset(graph, work, budget)
    assert greedy.cost <= budget
    assert is_induced(graph, greedy)
    assert greedy.pairs <= exact_max_subset(graph, work, budget, induced=True).pairs


@given(small_graphs(most=16), works)
def test_a_budget_for_all_buys_all(graph: JoinGraph, work: WorkCost) -> None:
    budget = graph.cost(work)
    assert greedy_max_subset(graph, work, budget).pairs == graph.pairs
    assert greedy_induced_subset(graph, work, budget).pairs == graph.pairs


def test_descending_costs_take_the_dearest_pairs() -> None:
    # A star with a tail: the tail's pair is the dearest, and as printed it comes first.
    graph = JoinGraph(6, [[0, 0, 0, 1], [2, 3, 4, 2]])
    work = WorkCost(update=1.0, produce=0.0)
    assert greedy_max_subset(graph, work, 3).pairs == 2
    assert greedy_max_subset(graph, work, 3, as_printed=True).pairs == 1


def test_the_graph_of_two_streams_has_the_joins_pairs() -> None:
    left, right = Events([0, 5, 9], [1, 2, 1]), Events([3, 6, 20], [1, 1, 1])
    graph = JoinGraph.of_events(left, right, ("4 microseconds", "5 microseconds"))
    pairs = {(min(pair), max(pair) - 3) for pair in graph.ends.T.tolist()}
    # Left 0 waits to 4 and meets right 3; left 9 finds right 6 waiting to 11, and not right 3.
    assert pairs == {(0, 0), (2, 1)}


def test_what_is_no_budget_or_graph_is_refused() -> None:
    graph = JoinGraph(2, [[0], [1]])
    for solve in (greedy_max_subset, greedy_induced_subset, exact_max_subset):
        with pytest.raises(SpecError, match="budget=-1 is not a cost"):
            solve(graph, WorkCost(update=1.0, produce=1.0), -1)
    with pytest.raises(SpecError, match="rows outside 0 to 1: number"):
        JoinGraph(2, [[0], [2]])


@pytest.mark.parametrize(("missing", "is_clique"), [((), True), (((0, 3),), False)])
def test_a_balanced_clique_is_found_as_in_the_proof_of_theorem_1(
    missing: tuple[tuple[int, int], ...], is_clique: bool
) -> None:
    # Rows cost 1 and pairs nothing: six rows buy nine pairs if and only if there is a clique.
    pairs = [(a, b) for a in range(3) for b in range(3, 6) if (a, b) not in missing]
    pairs += [(6, 7), (6, 8), (9, 7)]
    graph = JoinGraph(10, np.array(pairs).T)
    found = exact_max_subset(graph, WorkCost(update=1.0, produce=0.0), budget=6)
    assert (found.pairs == 9) == is_clique


@examples(40)
@given(small_graphs(), works, budgets, st.sampled_from([1e-9, 1e-3, 1e6]))
def test_the_unit_of_cost_does_not_matter(
    graph: JoinGraph, work: WorkCost, budget: int, unit: float
) -> None:
    scaled = WorkCost(update=work.update * unit, produce=work.produce * unit)
    for solve in (exact_max_subset, greedy_max_subset, greedy_induced_subset):
        assert solve(graph, scaled, budget * unit).pairs == solve(graph, work, budget).pairs
