"""ICDE'03 studies: joins that are too much for their means do what was allocated, and no more."""

from dataclasses import replace

import numpy as np
import pytest

from headgate.models.cost import Demand, cpu_strategies, memory_strategies
from headgate.models.cost.join_allocation import JoinAllocation
from headgate.studies.icde03.limited import (
    BINS,
    Case,
    measure_allocation,
    shares_probing,
    streams_of,
)

DEMAND = Demand(rates=(40, 10), windows=(30, 50), selectivity=0.1)
CASE = Case(DEMAND, keys=(10, 10), lasts_s=20.0, fills_s=5.0)


def everything(demand: Demand) -> JoinAllocation:
    return JoinAllocation("all", demand.rates, demand.windows, demand.output())


def plain_pairs(case: Case, seed: int) -> int:
    """Pairs made after the windows have filled, row by row."""
    sides = streams_of(case, seed)
    order = sorted(
        (int(time), side, row) for side in (0, 1) for row, time in enumerate(sides[side].time)
    )
    held: tuple[list[int], list[int]] = ([], [])
    made = 0
    for time, side, row in order:
        key = int(sides[side].code[row])
        found = sum(key == other for other in held[1 - side])
        made += found if time >= case.fills_s * 1_000_000 else 0
        held[side].append(key)
        del held[side][: -round(case.demand.windows[side])]
    return made


def test_with_everything_allocated_the_join_is_exact() -> None:
    measured = measure_allocation(CASE, everything(DEMAND), seed=3)
    assert len(measured) == BINS
    assert measured[-1]["pairs"] == plain_pairs(CASE, seed=3)


def test_output_grows_as_time_goes_on() -> None:
    pairs = [row["pairs"] for row in measure_allocation(CASE, everything(DEMAND), seed=3)]
    assert pairs == sorted(pairs)
    assert 0 < pairs[0] < pairs[-1]


def test_rows_that_may_not_probe_make_nothing() -> None:
    none = replace(everything(DEMAND), rates=(0.0, 0.0))
    assert shares_probing(DEMAND, none) == (0.0, 0.0)
    assert measure_allocation(CASE, none, seed=3)[-1]["pairs"] == 0


def test_a_side_alone_makes_its_own_pairs() -> None:
    of_a, of_b = (
        measure_allocation(CASE, replace(everything(DEMAND), rates=rates), seed=3)[-1]["pairs"]
        for rates in ((40.0, 0.0), (0.0, 10.0))
    )
    assert of_a + of_b == measure_allocation(CASE, everything(DEMAND), seed=3)[-1]["pairs"]


@pytest.mark.parametrize(
    "given",
    [*cpu_strategies(DEMAND, 20), *memory_strategies(DEMAND, 40)],
    ids=lambda each: each.strategy,
)
def test_every_strategy_makes_about_what_is_estimated(given: JoinAllocation) -> None:
    case = replace(CASE, lasts_s=400.0)
    last = measure_allocation(case, given, seed=1)[-1]
    assert last["pairs"] == pytest.approx(last["estimated"], rel=0.08)


def test_keys_of_the_smaller_side_are_among_the_larger_ones() -> None:
    a, b = streams_of(replace(CASE, keys=(20, 10), lasts_s=100.0), seed=1)
    assert set(np.unique(b.code)) < set(np.unique(a.code))
