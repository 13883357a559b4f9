"""PNI (probe, no insert): every arrival probes, and is stored at random."""

import numpy as np

from headgate.models.skipping.linear_programs import fill
from headgate.models.skipping.skipping_plan import SkippingPlan
from headgate.models.skipping.workload import Workload

NAME = "PNI"


def probe_no_insert(workload: Workload) -> SkippingPlan:
    """The best shares of the two sides' rows to store where all probe.

    Optimal among strategies that do not distinguish rows, as long as arrivals themselves cost
    nothing. Output and cost are linear in the two shares, so the side with more output per cost is
    stored first. Infeasible where processing every arrival costs more than the budget.

    Examples
    --------
    >>> join = Workload.of_selectivity(0.1, (10, 10), (10, 10), 1, 0.1, budget=20)
    >>> probe_no_insert(join)
    SkippingPlan(PNI: recall 0.500, 100 pairs for 20 of 20)

    References
    ----------
    Ayad, Naughton, Wright, Srivastava, 2005, section 3.3, Equations 14 and 15; Theorem 3.
    """
    rates = np.array([rate.sum() for rate in workload.rates])
    looking = workload.look * float(rates.sum())
    if not workload.affords(looking):
        return SkippingPlan.infeasible(workload, NAME)
    output = np.array([each.sum() for each in workload.outputs])
    cost = np.array(workload.updates) * rates + workload.produce * output
    left, right = fill(output, cost, workload.budget - looking)
    return SkippingPlan.of(workload, NAME, (1.0, 1.0), (float(left), float(right)))
