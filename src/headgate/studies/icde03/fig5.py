"""Figure 5: too little processor time, and five ways to share it."""

from collections.abc import Sequence

import pandas as pd
from matplotlib.figure import Figure as Drawing

from headgate.models.cost import Demand, best_cpu, cpu_strategies
from headgate.models.cost.join_allocation import EQUAL, MAX_A, MAX_B, PROP_RATES, PROP_WINDOWS
from headgate.studies.icde03.limited import (
    PAPER,
    Case,
    at_the_end,
    draw_output,
    in_order,
    measure_allocation,
    near_the_estimate,
)
from headgate.studies.study import Cell, Claim, Figure, Finding, Row, Study

SERVICE = 100.0
DEMAND = Demand(rates=(800, 200), windows=(100, 200), selectivity=0.01)
STRATEGIES = {each.strategy: each for each in cpu_strategies(DEMAND, SERVICE)}
LASTS_S, QUICK_LASTS_S = 200.0, 60.0
NEAR = 0.05


def measure(cell: Cell) -> Sequence[Row]:
    """Output over time under one strategy: all rows are stored, the share it serves probes."""
    case = Case(DEMAND, (100, 100), QUICK_LASTS_S if cell.quick else LASTS_S, fills_s=2.0)
    return measure_allocation(case, STRATEGIES[cell["strategy"]], cell.seed)


def _first_and_last(results: pd.DataFrame) -> Finding:
    return in_order(results, (MAX_A, PROP_RATES, EQUAL, PROP_WINDOWS, MAX_B))


def _estimate(results: pd.DataFrame) -> Finding:
    return near_the_estimate(results, NEAR)


def _best(results: pd.DataFrame) -> Finding:
    best = best_cpu(DEMAND, SERVICE)
    most = at_the_end(results)["pairs"].idxmax()
    return Finding(
        STRATEGIES[str(most)].rates == best.rates,
        f"measured {most}; solved {best.rates[0]:g} rows of A and {best.rates[1]:g} of B a second",
    )


def draw(results: pd.DataFrame) -> Drawing:
    """Output over time."""
    return draw_output(
        results, "100 of 1,000 rows a second can probe (λa 800, λb 200, A 100, B 200)"
    )


STUDY = Study(
    name="icde03-fig5",
    title="Sharing a processor that is too slow",
    paper=PAPER,
    place="section 5.2.1, Figure 5",
    grid={"strategy": tuple(STRATEGIES)},
    measure=measure,
    seeds=(1, 2, 3),
    claims=(
        Claim(
            "max-a-first-max-b-last",
            "MaxA, from the smaller window to the larger, makes most and MaxB least; between them "
            "by the share that A gets (at every moment past the first quarter)",
            _first_and_last,
        ),
        Claim(
            "as-estimated",
            f"Each makes what Equation 13 says (within {NEAR:.0%})",
            _estimate,
        ),
        Claim("best-is-solved", "The allocation solved for is the one that makes most", _best),
    ),
    figures=(Figure(draw),),
)
