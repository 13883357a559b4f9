"""The cheapest pair of structures: each direction for itself, within memory, for the predicate."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.models.cost import (
    EXTRA_BYTES,
    PAPER_WEIGHTS,
    Structure,
    Weight,
    Weights,
    cheapest,
    direction_cost,
    join_cost,
)
from headgate.spec import SpecError

rates = st.tuples(st.floats(0.0, 1e5), st.floats(0.0, 1e5))
windows = st.tuples(st.integers(0, 200_000), st.integers(0, 200_000))
weight = st.builds(Weight, st.floats(1e-9, 1e-3), st.floats(1e-9, 1e-3))
weights = st.dictionaries(st.sampled_from(list(Structure)), weight, min_size=1).map(Weights)


@given(rates, windows, weights)
def test_each_window_gets_its_own_cheapest_structure(
    speeds: tuple[float, float], sizes: tuple[int, int], known: Weights
) -> None:
    best = cheapest(speeds, sizes, known).best
    for side in (0, 1):
        least = min(
            direction_cost(each, speeds[1 - side], speeds[side], sizes[side], known)
            for each in known.structures
        )
        assert best.costs[side] == pytest.approx(least)


@given(rates, windows, weights, st.floats(0.0, 1e7))
def test_the_best_within_memory_is_the_best_of_all_pairs_that_fit(
    speeds: tuple[float, float], sizes: tuple[int, int], known: Weights, memory: float
) -> None:
    known = Weights({Structure.SCAN: Weight(1e-5, 1e-5), **known.by_structure})
    ranking = cheapest(speeds, sizes, known, memory=memory)
    fitting = [
        (x, y)
        for x in known.structures
        for y in known.structures
        if sizes[0] * EXTRA_BYTES[x] + sizes[1] * EXTRA_BYTES[y] <= memory
    ]
    assert {choice.pair for choice in ranking.choices} == set(fitting)
    least = min(join_cost(pair, speeds, sizes, known) for pair in fitting)
    assert ranking.best.cost == pytest.approx(least)
    costs = [choice.cost for choice in ranking.choices]
    assert costs == sorted(costs)


@pytest.mark.parametrize(
    ("speeds", "sizes", "winner"),
    [
        ((2, 998), (9500, 500), "TN"),
        ((800, 200), (7000, 3000), "HT"),
        ((550, 450), (4000, 6000), "HH"),
    ],
)
def test_the_winners_of_figure_4_are_chosen(
    speeds: tuple[int, int], sizes: tuple[int, int], winner: str
) -> None:
    assert cheapest(speeds, sizes, PAPER_WEIGHTS, among="NHT").best.letters == winner


def test_a_hash_serves_equal_keys_alone() -> None:
    ranking = cheapest((500, 500), (5000, 5000), PAPER_WEIGHTS, equality=False)
    assert all(Structure.HASH not in choice.pair for choice in ranking.choices)
    assert "hash: it finds equal keys alone" in ranking.explain()
    with pytest.raises(SpecError, match="a hash index finds equal keys only"):
        cheapest((1, 1), (1, 1), PAPER_WEIGHTS, equality=False, among="H")


def test_streams_that_rest_need_nothing() -> None:
    best = cheapest((0.0, 0.0), (5000, 5000), PAPER_WEIGHTS).best
    assert (best.letters, best.cost, best.extra_bytes) == ("NN", 0.0, 0.0)


def test_tiny_windows_are_scanned() -> None:
    assert cheapest((500, 500), (2, 1), PAPER_WEIGHTS).best.letters == "NN"
    assert cheapest((500, 500), (0, 0), PAPER_WEIGHTS).best.letters == "NN"


def test_memory_that_no_pair_fits_is_refused() -> None:
    with pytest.raises(SpecError, match="the smallest pair takes 120,000; give more memory"):
        cheapest((1, 1), (5000, 5000), PAPER_WEIGHTS, among="H", memory=100_000)


def test_what_memory_left_out_is_said() -> None:
    ranking = cheapest((800, 200), (7000, 3000), PAPER_WEIGHTS, memory=100_000)
    assert ranking.best.letters == "NT"
    assert "TT: not within 100,000 bytes" in ranking.explain()


def test_rows_that_do_not_probe_cost_their_updates_alone() -> None:
    shed = cheapest((800, 200), (7000, 3000), PAPER_WEIGHTS, among="NHT", probing=(0, 0))
    assert (shed.best.letters, shed.best.cost) == ("NN", pytest.approx(2 * 1000 * 1e-4))
    one_way = cheapest((800, 200), (7000, 3000), PAPER_WEIGHTS, among="NHT", probing=(100, 0))
    assert one_way.best.letters == "NH"
    assert "100 probes, 200 updates" in one_way.explain()
    cost = join_cost("NH", (800, 200), (7000, 3000), PAPER_WEIGHTS, probing=(100, 0))
    assert one_way.best.cost == pytest.approx(cost)
