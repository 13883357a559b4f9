"""INP (insert, no probe): every arrival is stored, and probes at random."""

from headgate.models.skipping.skipping_plan import SkippingPlan
from headgate.models.skipping.workload import Workload

NAME = "INP"


def insert_no_probe(workload: Workload) -> SkippingPlan:
    """The best share of the rows to probe where all are stored.

    What maintaining the windows leaves of the budget is spent on pairs, all at the same price: any
    shares that spend it are best, and both sides get the same. Where maintaining the windows alone
    costs more than the budget the plan is infeasible.

    Examples
    --------
    >>> join = Workload.of_selectivity(0.1, (10, 10), (10, 10), 1, 0.1, budget=30)
    >>> insert_no_probe(join)
    SkippingPlan(INP: recall 0.500, 100 pairs for 30 of 30)
    >>> insert_no_probe(join.within(19))
    SkippingPlan(INP: infeasible)

    References
    ----------
    Ayad, Naughton, Wright, Srivastava, 2005, section 3.3, Equations 12 and 13.
    """
    maintenance = sum(
        (update + workload.look) * float(rate.sum())
        for rate, update in zip(workload.rates, workload.updates, strict=True)
    )
    if not workload.affords(maintenance):
        return SkippingPlan.infeasible(workload, NAME)
    pairs = workload.produce * workload.exact_output
    rest = max(workload.budget - maintenance, 0.0)
    share = min(rest / pairs, 1.0) if pairs > 0 else 1.0
    return SkippingPlan.of(workload, NAME, (share, share), (1.0, 1.0))
