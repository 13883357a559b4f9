"""Allocation under limits: the best against all whole-numbered ones, and the paper's strategies."""

import math
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.models.cost.join_allocation import (
    Demand,
    JoinAllocation,
    best_both,
    best_cpu,
    best_memory,
    both_strategies,
    cpu_strategies,
    memory_strategies,
)
from headgate.spec import SpecError

few = st.integers(0, 7)
two = st.tuples(few, few)


@st.composite
def served(draw: st.DrawFn) -> tuple[Demand, int, tuple[int, int]]:
    """A demand, a service rate and a minimum that can be met."""
    demand = Demand(draw(two), draw(two))
    minimum = tuple(draw(st.integers(0, int(rate))) for rate in demand.rates)
    return demand, sum(minimum) + draw(few), (minimum[0], minimum[1])


def whole_rates(
    demand: Demand, service: int, minimum: tuple[int, int]
) -> list[tuple[float, float]]:
    """Every whole-numbered way to serve; corners of whole numbers are whole."""
    spans = [range(least, int(rate) + 1) for least, rate in zip(minimum, demand.rates, strict=True)]
    return [rates for rates in product(*spans) if sum(rates) <= service]


def whole_windows(demand: Demand, rows: int) -> list[tuple[float, float]]:
    spans = [range(int(window) + 1) for window in demand.windows]
    return [windows for windows in product(*spans) if sum(windows) <= rows]


@given(served())
def test_no_way_to_serve_makes_more(given: tuple[Demand, int, tuple[int, int]]) -> None:
    demand, service, minimum = given
    every = [demand.output(rates) for rates in whole_rates(demand, service, minimum)]
    assert best_cpu(demand, service, minimum).output == max(every)


@given(two, two, st.integers(0, 14))
def test_no_way_to_store_makes_more(
    rates: tuple[int, int], windows: tuple[int, int], rows: int
) -> None:
    demand = Demand(rates, windows)
    every = [demand.output(windows=each) for each in whole_windows(demand, rows)]
    assert best_memory(demand, rows).output == max(every)


@given(served(), st.integers(0, 14))
def test_no_way_to_serve_and_store_makes_more(
    given: tuple[Demand, int, tuple[int, int]], rows: int
) -> None:
    demand, service, minimum = given
    every = [
        demand.output(rates, windows)
        for rates in whole_rates(demand, service, minimum)
        for windows in whole_windows(demand, rows)
    ]
    assert best_both(demand, service, rows, minimum).output == max(every)


def within(allocation: JoinAllocation, demand: Demand, service: float, rows: float) -> bool:
    return (
        sum(allocation.rates) <= service + 1e-9
        and sum(allocation.windows) <= rows + 1e-9
        and all(0 <= x <= y for x, y in zip(allocation.rates, demand.rates, strict=True))
        and all(0 <= x <= y for x, y in zip(allocation.windows, demand.windows, strict=True))
    )


@given(served(), st.integers(0, 14))
def test_every_strategy_keeps_to_the_limits_and_wastes_nothing(
    given: tuple[Demand, int, tuple[int, int]], rows: int
) -> None:
    demand, service, minimum = given
    cases = [
        (cpu_strategies(demand, service, minimum), service, math.inf),
        (memory_strategies(demand, rows), math.inf, rows),
        (both_strategies(demand, service, rows, minimum), service, rows),
    ]
    for allocations, most_service, most_rows in cases:
        for each in allocations:
            assert within(each, demand, most_service, most_rows)
            assert sum(each.rates) == pytest.approx(min(most_service, sum(demand.rates)))
            assert sum(each.windows) == pytest.approx(min(most_rows, sum(demand.windows)))
            if most_service < math.inf:
                assert all(x >= y for x, y in zip(each.rates, minimum, strict=True))


@given(served(), st.integers(0, 14))
def test_no_strategy_beats_the_best(given: tuple[Demand, int, tuple[int, int]], rows: int) -> None:
    demand, service, minimum = given
    cases = [
        (best_cpu(demand, service, minimum), cpu_strategies(demand, service, minimum)),
        (best_memory(demand, rows), memory_strategies(demand, rows)),
        (
            best_both(demand, service, rows, minimum),
            both_strategies(demand, service, rows, minimum),
        ),
    ]
    for best, strategies in cases:
        assert all(each.output <= best.output + 1e-9 for each in strategies)


def test_a_minimum_that_cannot_be_met_is_refused() -> None:
    demand = Demand((20, 20), (5, 5))
    with pytest.raises(SpecError, match="10 rows of A and 15 of B is more than the 20"):
        best_cpu(demand, 20, minimum=(10, 15))
    with pytest.raises(SpecError, match="25 rows of B cannot be served where 20 come"):
        best_both(demand, 100, 10, minimum=(0, 25))


def test_limits_that_are_none_are_refused() -> None:
    demand = Demand((20, 20), (math.inf, 5))
    with pytest.raises(SpecError, match="give the rows that each window holds"):
        best_cpu(demand, 20)
    with pytest.raises(SpecError, match="rows=-1 is not an amount"):
        best_memory(demand, -1)
    with pytest.raises(SpecError, match="service=nan is not an amount"):
        best_cpu(demand, math.nan)
    with pytest.raises(SpecError, match="rates="):
        Demand((-1, 1), (1, 1))


def test_equal_windows_make_the_same_however_service_is_shared() -> None:
    outputs = {each.output for each in cpu_strategies(Demand((50, 50), (40, 40), 0.5), 10)}
    assert outputs == {200.0}
