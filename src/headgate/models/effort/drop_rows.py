"""PROB under a CPU budget: rows with a rare partner are dropped whole."""

import numpy as np

from headgate.models.effort.plan import Plan
from headgate.models.effort.problem import Workload

NAME = "PROB, rows dropped"


def drop_rows(workload: Workload) -> Plan:
    """Rows in order of how frequent their key is on the other side, until the budget is spent.

    A row takes part in full, probing and stored, or not at all. Rows of both sides are compared
    with each other; of the last class and side to be let in a coin lets in a share. What a row
    brings depends on whether its partners are let in too, which the order does not know.

    Examples
    --------
    >>> join = Workload([8, 2], [9, 1], windows=(10, 10), update=1, produce=0, budget=17)
    >>> plan = drop_rows(join)
    >>> plan.probe[0].tolist(), plan.probe[1].tolist(), plan.recall == 1440 / 1480
    ([1.0, 0.0], [1.0, 0.0], True)

    References
    ----------
    Das, Gehrke, Riedewald, Approximate Join Processing over Data Streams, SIGMOD 2003, for PROB;
    compared with Online Max-Subset in Ayad, Naughton, Wright, Srivastava, 2005, section 3.2.2.
    """
    n = workload.classes
    frequency = [
        rate * workload.chance / max(float(rate.sum()), np.finfo(float).tiny)
        for rate in workload.rates
    ]
    order = np.argsort(-np.concatenate([frequency[1], frequency[0]]), kind="stable")
    place = np.empty(2 * n, np.int64)
    place[order] = np.arange(2 * n)
    own = np.concatenate(
        [
            (update + workload.look) * rate
            for rate, update in zip(workload.rates, workload.updates, strict=True)
        ]
    )[order]
    # Pairs of a class are made, and paid for, once the later of its two sides is let in.
    later = np.maximum(place[:n], place[n:])
    own += np.bincount(
        later, workload.produce * (workload.outputs[0] + workload.outputs[1]), minlength=2 * n
    )
    before = np.cumsum(own) - own
    room = workload.budget - before
    share = np.empty(2 * n)
    share[order] = np.where(
        own > 0, np.clip(room / np.where(own > 0, own, 1.0), 0.0, 1.0), room >= 0
    )
    left, right = np.split(share, 2)
    return Plan.of(workload, NAME, (left, right), (left, right))
