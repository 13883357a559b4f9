"""Figure 5: five strategies for sharing limited CPU time.

All rows are stored; the share that a strategy serves probes.
"""

from headgate.models.cost import Demand, best_cpu, cpu_strategies
from headgate.models.cost.join_allocation import EQUAL, MAX_A, MAX_B, PROP_RATES, PROP_WINDOWS
from headgate.studies.icde03.sharing import Sharing, as_estimated, in_this_order

SERVICE = 100.0
DEMAND = Demand(rates=(800, 200), windows=(100, 200), selectivity=0.01)
SHARING = Sharing(
    demand=DEMAND,
    strategies={each.strategy: each for each in cpu_strategies(DEMAND, SERVICE)},
    keys=(100, 100),
    fills_s=2.0,
    lasts_s=200.0,
    quick_lasts_s=60.0,
    means="100 of 1,000 rows a second can probe (λa 800, λb 200, A 100, B 200)",
)


STUDY = SHARING.study(
    5,
    "Sharing a processor that is too slow",
    "5.2.1",
    (
        in_this_order(
            "max-a-first-max-b-last",
            "MaxA, from the smaller window to the larger, makes most and MaxB least; between them "
            "by the share that A gets (at every moment past the first quarter)",
            (MAX_A, PROP_RATES, EQUAL, PROP_WINDOWS, MAX_B),
        ),
        as_estimated(13),
        SHARING.best_is_solved(best_cpu(DEMAND, SERVICE), "rates", " a second"),
    ),
)
