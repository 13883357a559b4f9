"""PROB under a CPU budget: rows whose key is rare on the other side are dropped."""

import math

import numpy as np

from headgate.models.skipping.skipping_plan import SkippingPlan
from headgate.models.skipping.workload import Workload

NAME = "PROB, rows dropped"
DIGITS = 12
"""Of frequencies; rows that tie but for rounding are treated alike."""


def drop_rows(workload: Workload) -> SkippingPlan:
    """Admit rows by the frequency of their key on the other side until the budget is spent.

    A row is processed in full, probing and stored, or dropped. Rows of both sides are ranked
    together; of those tied at the threshold a random share is admitted. A row's output depends on
    whether its partners are admitted too, which the ranking ignores.

    Examples
    --------
    >>> join = Workload([8, 2], [9, 1], windows=(10, 10), update=1, produce=0, budget=17)
    >>> plan = drop_rows(join)
    >>> plan.probe[0].tolist(), plan.probe[1].tolist(), round(plan.recall, 3)
    ([1.0, 0.0], [1.0, 0.0], 0.973)

    References
    ----------
    Das, Gehrke, Riedewald, Approximate Join Processing over Data Streams, SIGMOD 2003, for PROB;
    compared with Online Max-Subset in Ayad, Naughton, Wright, Srivastava, 2005, section 3.2.2.
    """
    turn = _turns(workload)
    turns = int(turn.max()) + 1
    own = [
        np.bincount(turn[side], (update + workload.look) * workload.rates[side], turns)
        for side, update in enumerate(workload.updates)
    ]
    # Pairs are made, and paid for, once the later of the two sides is admitted.
    pairs = workload.produce * (workload.outputs[0] + workload.outputs[1])
    together = turn[0] == turn[1]
    at_once = np.bincount(turn[0][together], pairs[together], turns)
    in_time = own[0] + own[1] + np.bincount(turn.max(axis=0)[~together], pairs[~together], turns)
    spent = np.cumsum(in_time + at_once)
    whole = int(np.searchsorted(spent > workload.budget, True))
    share = (np.arange(turns) < whole).astype(np.float64)
    if whole < turns:
        left = workload.budget - (float(spent[whole - 1]) if whole else 0.0)
        share[whole] = _affordable(float(at_once[whole]), float(in_time[whole]), left)
    shares = (share[turn[0]], share[turn[1]])
    return SkippingPlan.of(workload, NAME, shares, shares)


def _turns(workload: Workload) -> np.ndarray:
    """The rank at which rows of each side and class are admitted, from 0; equal where tied."""
    frequency = np.array(
        [rate * workload.chance / (float(rate.sum()) or 1.0) for rate in workload.rates[::-1]]
    )
    rounded = np.round(frequency / (frequency.max() or 1.0), DIGITS)
    _, turn = np.unique(-rounded, return_inverse=True)
    return turn.reshape(rounded.shape)


def _affordable(square: float, linear: float, budget: float) -> float:
    """The greatest share x, at most 1, with square · x² + linear · x within the budget."""
    root = linear + math.sqrt(linear * linear + 4 * square * budget)
    return min(2 * budget / root, 1.0) if root > 0 else 0.0
