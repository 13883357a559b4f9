"""Figure 6: too little memory, and five ways to share it."""

from collections.abc import Sequence

import pandas as pd
from matplotlib.figure import Figure as Drawing

from headgate.models.cost import Demand, best_memory, memory_strategies
from headgate.models.cost.join_allocation import EQUAL, INV_PROP, MAX_A, MAX_B, PROP
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

ROWS = 1000
SELECTIVITIES = (0.005, 0.01)
DEMAND = Demand(rates=(10, 50), windows=(ROWS, ROWS), selectivity=min(SELECTIVITIES))
"""The paper does not say what windows were asked for; here each would take all of the memory."""
STRATEGIES = {each.strategy: each for each in memory_strategies(DEMAND, ROWS)}
LASTS_S, QUICK_LASTS_S = 1000.0, 300.0
NEAR = 0.05


def measure(cell: Cell) -> Sequence[Row]:
    """Output over time under one strategy: all rows probe, and each window has its own memory."""
    keys = (round(1 / SELECTIVITIES[0]), round(1 / SELECTIVITIES[1]))
    # A thousand rows of A take a hundred seconds to come.
    case = Case(DEMAND, keys, QUICK_LASTS_S if cell.quick else LASTS_S, fills_s=130.0)
    return measure_allocation(case, STRATEGIES[cell["strategy"]], cell.seed)


def _order(results: pd.DataFrame) -> Finding:
    return in_order(results, (MAX_A, INV_PROP, EQUAL, PROP, MAX_B))


def _estimate(results: pd.DataFrame) -> Finding:
    return near_the_estimate(results, NEAR)


def _best(results: pd.DataFrame) -> Finding:
    best = best_memory(DEMAND, ROWS)
    most = at_the_end(results)["pairs"].idxmax()
    return Finding(
        STRATEGIES[str(most)].windows == best.windows,
        f"measured {most}; solved {best.windows[0]:g} rows of A and {best.windows[1]:g} of B",
    )


def draw(results: pd.DataFrame) -> Drawing:
    """Output over time."""
    return draw_output(results, "Memory for 1,000 rows (λa 10, λb 50, σa 0.005, σb 0.01)")


STUDY = Study(
    name="icde03-fig6",
    title="Sharing memory that is too small",
    paper=PAPER,
    place="section 5.2.2, Figure 6",
    grid={"strategy": tuple(STRATEGIES)},
    measure=measure,
    seeds=(1, 2, 3),
    claims=(
        Claim(
            "slow-stream-first",
            "Memory for the window of the slower stream makes most: MaxA first, then InvProp, "
            "Equal, Prop and MaxB (at every moment past the first quarter)",
            _order,
        ),
        Claim("as-estimated", f"Each makes what Equation 15 says (within {NEAR:.0%})", _estimate),
        Claim("best-is-solved", "The allocation solved for is the one that makes most", _best),
    ),
    figures=(Figure(draw),),
)
