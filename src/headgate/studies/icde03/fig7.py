"""Figure 7: too little of both, and five ways to share them."""

from collections.abc import Sequence

import pandas as pd
from matplotlib.figure import Figure as Drawing

from headgate.models.cost import Demand, best_both, both_strategies
from headgate.models.cost.join_allocation import (
    EQUAL,
    MAX_A_MAX_LA,
    MAX_A_MAX_LB,
    MAX_B_MAX_LA,
    MAX_B_MAX_LB,
)
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

SERVICE, ROWS = 10.0, 100
DEMAND = Demand(rates=(20, 20), windows=(ROWS, ROWS), selectivity=0.01)
"""The paper does not say how fast rows came; here each stream alone is more than can probe."""
STRATEGIES = {each.strategy: each for each in both_strategies(DEMAND, SERVICE, ROWS)}
LASTS_S, QUICK_LASTS_S = 2000.0, 1000.0
NEAR = 0.05
CROSSED = (MAX_A_MAX_LB, MAX_B_MAX_LA)
SAME_SIDE = (MAX_A_MAX_LA, MAX_B_MAX_LB)


def measure(cell: Cell) -> Sequence[Row]:
    """Output over time under one strategy."""
    case = Case(DEMAND, (100, 100), QUICK_LASTS_S if cell.quick else LASTS_S, fills_s=10.0)
    return measure_allocation(case, STRATEGIES[cell["strategy"]], cell.seed)


def _groups(results: pd.DataFrame) -> Finding:
    found = [in_order(results, (one, EQUAL, other)) for one in CROSSED for other in SAME_SIDE]
    ends = at_the_end(results)["pairs"]
    return Finding(
        all(each.holds for each in found),
        ", ".join(f"{name} {ends[name]:,.0f}" for name in (*CROSSED, EQUAL, *SAME_SIDE)),
    )


def _estimate(results: pd.DataFrame) -> Finding:
    return near_the_estimate(results, NEAR)


def _against_equal(results: pd.DataFrame) -> Finding:
    ends = at_the_end(results)["pairs"]
    more = [float(ends[name] / ends[EQUAL]) - 1 for name in CROSSED]
    return Finding(min(more) >= 0.9, " and ".join(f"{each:.0%} more" for each in more))


def _best(results: pd.DataFrame) -> Finding:
    best = best_both(DEMAND, SERVICE, ROWS)
    most = at_the_end(results)["pairs"].idxmax()
    return Finding(
        STRATEGIES[str(most)].output == best.output,
        f"measured {most}; solved {best.output:g} pairs a second, σμM",
    )


def draw(results: pd.DataFrame) -> Drawing:
    """Output over time."""
    return draw_output(results, "10 rows a second can probe, 100 rows can be stored (σ 0.01)")


STUDY = Study(
    name="icde03-fig7",
    title="Sharing a processor and memory that are both too small",
    paper=PAPER,
    place="section 5.2.3, Figure 7",
    grid={"strategy": tuple(STRATEGIES)},
    measure=measure,
    seeds=(1, 2, 3),
    claims=(
        Claim(
            "crossed-first-same-side-last",
            "The largest window on one side and the most probes from the other make most, Equal "
            "comes next, both on one side make least (at every moment past the first quarter)",
            _groups,
        ),
        Claim("as-estimated", f"Each makes what Equation 17 says (within {NEAR:.0%})", _estimate),
        Claim(
            "more-than-equal",
            "The right allocation makes some 90 % more than the equal one, or better",
            _against_equal,
        ),
        Claim("best-is-solved", "The allocation solved for is as good as the best", _best),
    ),
    figures=(Figure(draw),),
)
