"""Semantic PNI: every arrival probes; it is stored if its expected output justifies the cost."""

import numpy as np

from headgate.models.skipping.capacity import Rows, rows_fit, stored_per_share
from headgate.models.skipping.linear_programs import fill, fill_twice, solve
from headgate.models.skipping.skipping_plan import SkippingPlan
from headgate.models.skipping.workload import Workload

NAME = "semantic PNI"


def semantic_pni(workload: Workload, rows: Rows = None) -> SkippingPlan:
    """The best share of each side's rows of each class to store, where all rows probe.

    A row of class v that is stored brings f_other(v) · λ_other · T_own pairs and costs
    C_u + C_p · pairs: a fractional knapsack, solved by sorting. Optimal as long as arrivals
    themselves cost nothing: letting all rows probe and storing fewer makes the same pairs with
    fewer updates. With a memory limit, room has a price, found by bisection; with one limit per
    side it is a small linear program.

    Infeasible where processing every arrival costs more than the budget.

    Parameters
    ----------
    workload
        The join.
    rows
        The most rows that may be stored: both sides together, or each side's own. None sets no
        limit.

    Examples
    --------
    >>> join = Workload([8, 2], [1, 9], windows=(10, 10), update=1, produce=0, budget=5)
    >>> semantic_pni(join)
    SkippingPlan(semantic PNI: recall 0.577, 300 pairs for 5 of 5)
    >>> semantic_pni(join, rows=30)
    SkippingPlan(semantic PNI: recall 0.500, 260 pairs for 3 of 5)
    """
    looking = workload.look * sum(float(rate.sum()) for rate in workload.rates)
    if not workload.affords(looking):
        return SkippingPlan.infeasible(workload, NAME)
    budget = max(workload.budget - looking, 0.0)
    insert = best_insertion(workload, (1.0, 1.0), budget, rows)
    return SkippingPlan.of(workload, NAME, (1.0, 1.0), insert)


def best_insertion(
    workload: Workload,
    probe: tuple[np.ndarray, np.ndarray] | tuple[float, float],
    budget: float,
    rows: Rows = None,
) -> tuple[np.ndarray, np.ndarray]:
    """The best shares to store where these probe, none greater, within what is left to spend."""
    most = [np.broadcast_to(share, workload.classes) for share in probe]
    gain = np.concatenate([workload.outputs[side] * most[side] * most[1 - side] for side in (0, 1)])
    cost = workload.produce * gain + np.concatenate(
        [
            update * rate * share
            for update, rate, share in zip(workload.updates, workload.rates, most, strict=True)
        ]
    )
    part = fill(gain, cost, budget)
    if rows is not None:
        room = stored_per_share(workload, rows) * np.concatenate(most)
        part = _with_room(part, gain, cost, budget, room, np.atleast_1d(rows).astype(np.float64))
    left, right = np.split(part * np.concatenate(most), 2)
    return left, right


def _with_room(
    part: np.ndarray,
    gain: np.ndarray,
    cost: np.ndarray,
    budget: float,
    room: np.ndarray,
    limits: np.ndarray,
) -> np.ndarray:
    """The best parts where stored rows are limited too; ``part`` is best where they are not."""
    if rows_fit(room @ part, limits):
        return part
    if len(limits) == 1:
        return fill_twice(gain, cost, budget, room[0], float(limits[0]))
    left, right = (fill(gain, room[side], float(limits[side])) for side in (0, 1))
    by_room: np.ndarray = np.minimum(left, right)
    if cost @ by_room <= budget:
        return by_room
    return solve(gain, np.vstack([cost, room]), np.concatenate([[budget], limits]))
