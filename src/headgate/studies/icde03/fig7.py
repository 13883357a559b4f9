"""Figure 7: five strategies for sharing limited CPU time and memory."""

import pandas as pd

from headgate.models.cost import Demand, best_both, both_strategies
from headgate.models.cost.join_allocation import (
    EQUAL,
    MAX_A_MAX_LA,
    MAX_A_MAX_LB,
    MAX_B_MAX_LA,
    MAX_B_MAX_LB,
)
from headgate.studies.icde03.limited import at_the_end, in_order
from headgate.studies.icde03.sharing import Sharing, as_estimated
from headgate.studies.study import Claim, ClaimFinding

SERVICE, ROWS = 10.0, 100
DEMAND = Demand(rates=(20, 20), windows=(ROWS, ROWS), selectivity=0.01)
"""The paper does not say how fast rows came; here each stream alone is more than can probe."""
SHARING = Sharing(
    demand=DEMAND,
    strategies={each.strategy: each for each in both_strategies(DEMAND, SERVICE, ROWS)},
    keys=(100, 100),
    fills_s=10.0,
    lasts_s=2000.0,
    quick_lasts_s=1000.0,
    means="10 rows a second can probe, 100 rows can be stored (σ 0.01)",
)
CROSSED = (MAX_A_MAX_LB, MAX_B_MAX_LA)
SAME_SIDE = (MAX_A_MAX_LA, MAX_B_MAX_LB)


def _groups(results: pd.DataFrame) -> ClaimFinding:
    found = [in_order(results, (one, EQUAL, other)) for one in CROSSED for other in SAME_SIDE]
    ends = at_the_end(results)["pairs"]
    return ClaimFinding(
        all(each.holds for each in found),
        ", ".join(f"{name} {ends[name]:,.0f}" for name in (*CROSSED, EQUAL, *SAME_SIDE)),
    )


def _against_equal(results: pd.DataFrame) -> ClaimFinding:
    ends = at_the_end(results)["pairs"]
    more = [float(ends[name] / ends[EQUAL]) - 1 for name in CROSSED]
    return ClaimFinding(min(more) >= 0.9, " and ".join(f"{each:.0%} more" for each in more))


def _best(results: pd.DataFrame) -> ClaimFinding:
    best, most = best_both(DEMAND, SERVICE, ROWS), SHARING.best_measured(results)
    return ClaimFinding(
        most.output == best.output,
        f"measured {most.strategy}; solved {best.output:g} pairs a second, σμM",
    )


STUDY = SHARING.study(
    7,
    "Sharing a processor and memory that are both too small",
    "5.2.3",
    (
        Claim(
            "crossed-first-same-side-last",
            "The largest window on one side and the most probes from the other make most, Equal "
            "comes next, both on one side make least (at every moment past the first quarter)",
            _groups,
        ),
        as_estimated(17),
        Claim(
            "more-than-equal",
            "The right allocation makes some 90 % more than the equal one, or better",
            _against_equal,
        ),
        Claim("best-is-solved", "The allocation solved for is as good as the best", _best),
    ),
)
