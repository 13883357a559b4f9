"""The shares to process of rows in a single class, where arrivals have a cost."""

import numpy as np

from headgate.models.skipping.linear_programs import greatest_product
from headgate.models.skipping.workload import Workload

FINENESS, CLOSER = 33, 7
"""Shares of each side tried at a time, and how often the search closes in on the best."""


def shares_to_look_at(workload: Workload) -> tuple[float, float]:
    """The share of each side's rows to process in a workload of one class.

    Every processed row probes, and the best share of them is stored, which leaves two shares to
    search. Where rows of only one side are stored, or all processed rows are, the optimum has a
    closed form; in between it is found by grid refinement.

    Examples
    --------
    >>> join = Workload.of_selectivity(0.1, (10, 10), (10, 0), 1, 0.1, budget=15, look=1)
    >>> shares_to_look_at(join)
    (0.322..., 0.645...)
    """
    own = _OneClass(workload)
    low, high = np.zeros(2), np.ones(2)
    tried = own.corners()
    for _ in range(CLOSER):
        x, y = np.meshgrid(*np.linspace(low, high, FINENESS).T, indexing="ij")
        at = int(np.argmax(own.output(x, y)))
        best = np.array([x.flat[at], y.flat[at]])
        tried.append((float(best[0]), float(best[1])))
        around = 2 * (high - low) / (FINENESS - 1)
        low, high = np.maximum(best - around, 0.0), np.minimum(best + around, 1.0)
    found = own.output(*np.array(tried).T)
    return tried[int(np.argmax(found))]


class _OneClass:
    """The figures of the class."""

    def __init__(self, workload: Workload) -> None:
        self._budget, self._produce = workload.budget, workload.produce
        self._looking = [workload.look * float(rate[0]) for rate in workload.rates]
        self._output = [float(output[0]) for output in workload.outputs]
        self._storing = [
            update * float(rate[0])
            for update, rate in zip(workload.updates, workload.rates, strict=True)
        ]

    def output(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        """Pairs made if these shares are processed and the best of them stored; −1 if that exceeds
        the budget."""
        rest = self._budget - self._looking[0] * x - self._looking[1] * y
        gain = (self._output[0] * y, self._output[1] * x)
        cost = [self._storing[side] + self._produce * gain[side] for side in (0, 1)]
        left_first = gain[0] * cost[1] >= gain[1] * cost[0]
        made = np.zeros(x.shape)
        for first in (0, 1):
            spare, output = np.maximum(rest, 0.0), np.zeros(x.shape)
            for side in (first, 1 - first):
                most = (x, y)[side]
                paid = np.where(cost[side] > 0, cost[side], 1.0)
                stored = np.where(cost[side] > 0, np.minimum(most, spare / paid), most)
                output += gain[side] * stored
                spare = np.maximum(spare - cost[side] * stored, 0.0)
            made = np.where(left_first == (first == 0), output, made)
        return np.where(rest >= 0, made, -1.0)

    def corners(self) -> list[tuple[float, float]]:
        """The optima with only left rows stored, only right rows, and all processed rows."""
        (left, right), (stored_left, stored_right) = self._looking, self._storing
        pairs_left, pairs_right = (self._produce * each for each in self._output)
        return [
            greatest_product(left + stored_left, right, pairs_left, self._budget),
            greatest_product(left, right + stored_right, pairs_right, self._budget),
            greatest_product(
                left + stored_left, right + stored_right, pairs_left + pairs_right, self._budget
            ),
        ]
