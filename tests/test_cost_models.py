"""Cost models: Table 3 to the printed digit, crossovers, and what rows and pairs cost."""

import math

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.models import Frequencies
from headgate.models.cost import (
    PAPER_CROSSOVERS,
    PAPER_WEIGHTS,
    Structure,
    Weight,
    Weights,
    WorkCost,
    by_value,
    crossover,
    direction_cost,
    join_cost,
    output_rate,
    pair_letters,
    paper_crossovers,
    parse_pair,
    touched_by_search,
    touched_by_update,
)
from headgate.spec import SpecError

COLUMNS = ("HH", "TT", "HT", "TH", "HN", "NH", "TN", "NT")
TABLE_3 = {
    ((9500, 500), (2, 998)): (7.06, 9.56, 10.89, 5.74, 5.99, 2845.87, 4.67, 2849.69),
    ((7000, 3000), (800, 200)): (7.06, 11.85, 6.46, 12.46, 722.39, 424.87, 727.78, 424.27),
    ((4000, 6000), (550, 450)): (7.06, 11.60, 8.93, 9.73, 993.42, 543.84, 996.09, 545.71),
}
windows = st.integers(0, 2_000_000)
rates = st.floats(0.0, 1e6)
structures = st.sampled_from(list(Structure))
ANY_WEIGHTS = Weights({each: Weight(1e-6, 2e-6) for each in Structure}, "made up")


@pytest.mark.parametrize(("workload", "printed"), TABLE_3.items())
def test_table_3_comes_out_to_the_printed_digit(
    workload: tuple[tuple[int, int], tuple[int, int]], printed: tuple[float, ...]
) -> None:
    sizes, speeds = workload
    costs = [round(join_cost(pair, speeds, sizes, PAPER_WEIGHTS), 2) for pair in COLUMNS]
    assert costs == list(printed)


def test_equation_8_at_500_rows_is_what_the_paper_prints() -> None:
    first = crossover("TN", "TH", (9500, 500))
    assert first == pytest.approx(13.6 / (3 * 500 - 55))
    assert round(first, 4) == 0.0094


def test_equation_11_is_the_mirror_of_equation_8() -> None:
    assert crossover("HT", "NT", (800, 3000)) == pytest.approx((3 * 800 - 55) / 13.6)


@given(st.integers(200, 100_000), st.integers(200, 100_000))
def test_both_pairs_cost_the_same_at_a_crossover(one: int, other: int) -> None:
    for (left, right), ratio in zip(PAPER_CROSSOVERS, paper_crossovers((one, other)), strict=True):
        if ratio is not None:
            costs = [
                join_cost(pair, (ratio, 1.0), (one, other), PAPER_WEIGHTS) for pair in (left, right)
            ]
            assert costs[0] == pytest.approx(costs[1])


def test_a_pair_that_is_never_dearer_has_no_crossover() -> None:
    # With two rows a bucket the hash is cheaper than a tree at any rates, as the paper says.
    assert crossover("TH", "HH", (5000, 5000), bucket=2) is None
    assert crossover("HH", "HT", (5000, 5000), bucket=2) is None


@given(structures, windows, windows)
def test_a_larger_window_never_touches_fewer_rows(
    structure: Structure, one: int, other: int
) -> None:
    small, large = sorted((one, other))
    assert touched_by_search(structure, small) <= touched_by_search(structure, large)
    assert touched_by_update(structure, small) <= touched_by_update(structure, large)


@given(structures, windows, st.integers(1, 1000), st.floats(0.1, 1000.0), rates)
def test_costs_are_never_negative(
    structure: Structure, window: int, node: int, bucket: float, rate: float
) -> None:
    assert touched_by_search(structure, window, node, bucket) >= 0
    assert direction_cost(structure, rate, 0.0, window, ANY_WEIGHTS, node, bucket) >= 0


@given(structures, structures, rates, rates, windows, windows)
def test_a_join_seen_from_the_other_side_costs_the_same(
    x: Structure, y: Structure, a: float, b: float, rows_a: int, rows_b: int
) -> None:
    cost = join_cost((x, y), (a, b), (rows_a, rows_b), ANY_WEIGHTS)
    assert join_cost((y, x), (b, a), (rows_b, rows_a), ANY_WEIGHTS) == pytest.approx(cost)


def test_a_power_of_the_node_size_is_counted_exactly() -> None:
    # A logarithm of floats is off by a level here.
    assert touched_by_search("B", 101**3 * 100) == (3 + 1) * 7
    assert touched_by_search("B", 101**3 * 100 + 1) == (4 + 1) * 7


def test_ordered_structures_walk_along_their_matches() -> None:
    for structure in Structure:
        more = touched_by_search(structure, 5000, matches=9) - touched_by_search(structure, 5000)
        assert more == (9 if structure.ordered else 0)


def test_pairs_are_read_and_written_as_in_the_paper() -> None:
    assert pair_letters(parse_pair("TN")) == "TN"
    assert parse_pair(("hash", Structure.BITMAP)) == (Structure.HASH, Structure.BITMAP)
    with pytest.raises(SpecError, match=r"give one of N \(scan\), H \(hash\)"):
        parse_pair("XN")
    with pytest.raises(SpecError, match="give two letters"):
        parse_pair("TNT")


def test_structures_without_weights_say_how_to_get_them() -> None:
    with pytest.raises(SpecError, match="measure them with `headgate calibrate`"):
        PAPER_WEIGHTS["bitmap"]


def test_weights_survive_as_text() -> None:
    weights = Weights({Structure.HASH: Weight(1e-8, 2e-8, 3e-9, 4e-9)}, "a machine")
    assert Weights.from_json(weights.to_json()) == weights
    for text in ("", "[]", '{"source": "", "weights": {"hash": {"search": 1}}}'):
        with pytest.raises(SpecError, match="not a file of weights"):
            Weights.from_json(text)


@pytest.mark.parametrize("cost", [-1.0, math.nan, math.inf])
def test_costs_that_are_none_are_refused(cost: float) -> None:
    with pytest.raises(SpecError, match="is not a cost"):
        Weight(cost, 1.0)
    with pytest.raises(SpecError, match="is not a cost"):
        WorkCost(update=1.0, produce=cost)


def test_a_single_selectivity_is_a_uniform_distribution() -> None:
    work = WorkCost(update=3.0, produce=0.25, arrive=0.5)
    shares = dict.fromkeys(range(10), 0.1)
    uniform = Frequencies.of_mappings(shares, shares)
    one = work.of((20.0, 5.0), (4.0, 2.0), 0.1)
    assert one == 25 * 3.5 + 0.1 * 20 * 5 * 6 * 0.25
    assert work.of((20.0, 5.0), (4.0, 2.0), uniform) == pytest.approx(one)


def test_costs_by_value_add_up_to_the_joins() -> None:
    model = Frequencies.of_mappings({"a": 0.5, "b": 0.3, "c": 0.2}, {"b": 0.6, "d": 0.4})
    work = WorkCost(update=2.0, produce=0.5)
    values = by_value((10.0, 4.0), (3.0, 7.0), model)
    assert values.cost(work).sum() == pytest.approx(work.of((10.0, 4.0), (3.0, 7.0), model))
    by_key = dict(zip(values.keys[0].to_pylist(), values.output.tolist(), strict=True))
    assert by_key == pytest.approx({"a": 0, "b": 0.3 * 0.6 * 40 * 10, "c": 0, "d": 0})
    assert values.met[0].sum() == pytest.approx(0.3 * 0.6 * 40 * 3.0)


def test_keys_may_be_composite_of_other_widths_or_null() -> None:
    left = pa.table({"x": pa.array([1, 1, 2, None], pa.int64()), "y": ["p", "q", "p", "p"]})
    right = pa.table({"x": pa.array([1, 2], pa.int32()), "y": ["q", "p"]})
    model = Frequencies.of_tables(left, right, ["x", "y"], ["x", "y"])
    assert output_rate((3.0, 2.0), (1.0, 0.0), model) == pytest.approx(2 * (1 / 3) * 0.5 * 6)


def test_pairs_that_cost_nothing_come_first() -> None:
    model = Frequencies.of_mappings({"a": 1.0}, {"a": 0.5, "b": 0.5})
    benefit = by_value((1.0, 1.0), (1.0, 1.0), model).benefit(WorkCost(update=0.0, produce=0.0))
    assert np.array_equal(benefit, [math.inf, 0.0])
