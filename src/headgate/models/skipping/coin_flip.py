"""CF (coin flip): each arrival is processed in full or dropped, at random."""

from headgate.models.skipping.linear_programs import greatest_product
from headgate.models.skipping.skipping_plan import SkippingPlan
from headgate.models.skipping.workload import Workload

NAME = "CF"


def coin_flip(workload: Workload) -> SkippingPlan:
    """The best shares of the two sides' rows to keep; the others are dropped unprocessed.

    A pair is made when both its rows are kept, so output is in proportion to the product of the
    shares. Solved in closed form.

    Examples
    --------
    >>> join = Workload.of_selectivity(0.1, (10, 10), (10, 10), 1, 0.1, budget=20)
    >>> coin_flip(join)
    SkippingPlan(CF: recall 0.382, 76.39 pairs for 20 of 20)

    References
    ----------
    Ayad, Naughton, Wright, Srivastava, 2005, section 3.3, Equations 10 and 11.
    """
    left, right = (
        (update + workload.look) * float(rate.sum())
        for rate, update in zip(workload.rates, workload.updates, strict=True)
    )
    pairs = workload.produce * workload.exact_output
    shares = greatest_product(left, right, pairs, workload.budget)
    return SkippingPlan.of(workload, NAME, shares, shares)
