"""Ranks classes of rows by output per cost, where processing an arrival has a cost.

A class is dropped; or rows of one side are stored and all its rows probe; or rows of both sides are
stored. Each state has an output and a cost. The budget goes first to the transitions with the most
output per cost. Counting the last, unaffordable transition in proportion gives an upper bound on
the output of any plan.
"""

from dataclasses import dataclass

import numpy as np

from headgate.models.skipping.capacity import Rows, stored_per_share
from headgate.models.skipping.linear_programs import solve
from headgate.models.skipping.workload import Workload

WHOLE = 1 - 1e-7
"""The share from which a class counts as processed whole: the solver's precision."""


@dataclass(frozen=True, eq=False)
class ClassRanking:
    """The order in which classes are processed.

    Parameters
    ----------
    order
        Classes with output, highest output per cost first.
    whole
        How many of them are processed whole.
    left
        What is left of the budget for the next one, if those are stored as far as worthwhile.
    bound
        Upper bound on the pairs per unit of time of any plan.
    """

    order: np.ndarray
    whole: int
    left: float
    bound: float


def rank(workload: Workload) -> ClassRanking:
    """Rank by pairs per cost, within the budget. O(classes · log classes).

    Examples
    --------
    >>> join = Workload([8, 2], [9, 1], windows=(10, 10), update=1, produce=0, budget=18, look=1)
    >>> found = rank(join)
    >>> found.order.tolist(), found.whole, found.bound
    ([0, 1], 0, 762.35...)
    """
    gain, storing, looking = _figures(workload)
    at = np.arange(workload.classes)
    first = np.argmax(_worth(gain, storing + looking), axis=0)
    gains = np.array([gain[first, at], gain[1 - first, at]])
    costs = np.array([storing[first, at] + looking, storing[1 - first, at]])
    # If the second step is worth more than the first, the two are merged into one.
    at_once = _worth(gains[1], costs[1]) >= _worth(gains[0], costs[0])
    gains = np.where(at_once, [gains.sum(axis=0), 0 * gains[1]], gains).ravel()
    costs = np.where(at_once, [costs.sum(axis=0), 0 * costs[1]], costs).ravel()
    steps = np.argsort(-_worth(gains, costs), kind="stable")
    steps = steps[gains[steps] > 0]
    before = np.cumsum(costs[steps]) - costs[steps]
    room = workload.budget - before
    part = np.clip(_worth(room, costs[steps]), 0.0, 1.0)
    looks = steps < workload.classes
    whole = int(np.count_nonzero(looks & (part >= 1)))
    short = np.flatnonzero(looks & (part < 1))
    left = max(float(room[short[0]]), 0.0) if short.size else 0.0
    return ClassRanking(steps[looks], whole, left, float((gains[steps] * part).sum()))


def rank_with_room(workload: Workload, rows: Rows) -> ClassRanking:
    """The same with stored rows limited as well, by a linear program."""
    from scipy.sparse import coo_array  # slow to import

    gain, storing, looking = _figures(workload)
    n = workload.classes
    room = stored_per_share(workload, rows)
    # Items are left rows stored, right rows stored, and classes processed.
    use = np.vstack([np.append(storing.ravel(), looking), np.pad(room, ((0, 0), (0, n)))])
    limits = np.append(workload.budget, np.array(rows, np.float64))
    # No more is stored than is processed: one row per side and class.
    each, one = np.arange(2 * n), np.ones(2 * n)
    stored_unseen = coo_array(
        (np.append(one, -one), (np.append(each, each), np.append(each, 2 * n + each % n)))
    )
    earned = np.append(gain.ravel(), np.zeros(n))
    part = solve(earned, use, limits, stored_unseen)
    looked = part[2 * n :]
    order = np.argsort(-looked, kind="stable")
    order = order[gain.sum(axis=0)[order] > 0]
    is_whole = looked > WHOLE
    spent = use[0] @ np.where(np.tile(is_whole, 3), part, 0.0)
    return ClassRanking(
        order,
        int(np.count_nonzero(is_whole[order])),
        max(workload.budget - float(spent), 0.0),
        float(earned @ part) / WHOLE,
    )


def _figures(workload: Workload) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Output and cost of storing each side's rows, and the cost of arrivals, by class."""
    gain = np.array(workload.outputs)
    storing = workload.produce * gain + np.array(
        [update * rate for update, rate in zip(workload.updates, workload.rates, strict=True)]
    )
    return gain, storing, workload.look * (workload.left + workload.right)


def _worth(gain: np.ndarray, cost: np.ndarray) -> np.ndarray:
    worth: np.ndarray = np.where(cost > 0, gain / np.where(cost > 0, cost, 1.0), np.inf)
    return worth
