"""Online Max-Subset: keys are taken whole, those with the most pairs per cost first."""

import numpy as np

from headgate.models.skipping.probe_no_insert import probe_no_insert
from headgate.models.skipping.skipping_plan import SkippingPlan
from headgate.models.skipping.workload import Workload

NAME = "Online Max-Subset"
DIGITS = 12


def online_max_subset(workload: Workload) -> SkippingPlan:
    """Take classes in order of P(v), their pairs per cost, as long as they fit.

    The first that does not fit is shed by PNI within what is left of the budget; rows of the others
    are dropped unprocessed.

    Examples
    --------
    >>> join = Workload([8, 2], [9, 1], windows=(10, 10), update=1, produce=0, budget=18)
    >>> plan = online_max_subset(join)
    >>> plan.probe[1].tolist(), plan.insert[1].tolist()
    ([1.0, 1.0], [1.0, 1.0])
    >>> plan.probe[0].tolist(), plan.insert[0].tolist()
    ([1.0, 1.0], [1.0, 0.0])

    References
    ----------
    Ayad, Naughton, Wright, Srivastava, 2005, section 3.2.2, Equations 5 to 8 and Figure 2.
    """
    output = workload.outputs[0] + workload.outputs[1]
    cost = workload.produce * output
    for rate, update in zip(workload.rates, workload.updates, strict=True):
        cost += (update + workload.look) * rate
    free = cost <= 0
    worth = np.where(free, 0.0, output / np.where(free, 1.0, cost))
    # Classes that tie up to rounding keep their order.
    worth = np.where(free, np.inf, np.round(worth / (worth.max() or 1.0), DIGITS))
    order = np.argsort(-worth, kind="stable")
    spent = np.cumsum(cost[order])
    taken = int(np.searchsorted(spent > workload.budget, True))
    share = np.zeros(workload.classes)
    share[order[:taken]] = 1.0
    probe, insert = (share.copy(), share.copy()), (share.copy(), share.copy())
    if taken < workload.classes:
        last = int(order[taken])
        left = workload.budget - (float(spent[taken - 1]) if taken else 0.0)
        part = probe_no_insert(workload.only(last, left))
        for side in (0, 1):
            probe[side][last], insert[side][last] = part.probe[side][0], part.insert[side][0]
    return SkippingPlan.of(workload, NAME, probe, insert)
