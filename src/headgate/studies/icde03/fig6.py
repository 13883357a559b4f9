"""Figure 6: five strategies for sharing limited memory.

All rows probe, and each window has its own memory.
"""

from headgate.models.cost import Demand, best_memory, memory_strategies
from headgate.models.cost.join_allocation import EQUAL, INV_PROP, MAX_A, MAX_B, PROP
from headgate.studies.icde03.sharing import Sharing, as_estimated, in_this_order

ROWS = 1000
SELECTIVITIES = (0.005, 0.01)
DEMAND = Demand(rates=(10, 50), windows=(ROWS, ROWS), selectivity=min(SELECTIVITIES))
"""The paper does not say what windows were asked for; here each would take all of the memory."""
SHARING = Sharing(
    demand=DEMAND,
    strategies={each.strategy: each for each in memory_strategies(DEMAND, ROWS)},
    keys=(round(1 / SELECTIVITIES[0]), round(1 / SELECTIVITIES[1])),
    # A thousand rows of A take a hundred seconds to arrive.
    fills_s=130.0,
    lasts_s=1000.0,
    quick_lasts_s=300.0,
    means="Memory for 1,000 rows (λa 10, λb 50, σa 0.005, σb 0.01)",
)


STUDY = SHARING.study(
    6,
    "Sharing memory that is too small",
    "5.2.2",
    (
        in_this_order(
            "slow-stream-first",
            "Memory for the window of the slower stream makes most: MaxA first, then InvProp, "
            "Equal, Prop and MaxB (at every moment past the first quarter)",
            (MAX_A, INV_PROP, EQUAL, PROP, MAX_B),
        ),
        as_estimated(15),
        SHARING.best_is_solved(best_memory(DEMAND, ROWS), "windows", ""),
    ),
)
