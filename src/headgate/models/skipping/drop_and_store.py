"""Chooses rows to drop unprocessed, where processing an arrival has a cost of its own.

A processed row should always probe: that costs only its pairs, and a pair with a row already stored
is cheaper than one that needs another row stored. So a plan is determined by the rows it processes;
which of them to store is a knapsack problem.
"""

from collections.abc import Iterator
from itertools import chain

import numpy as np

from headgate.models.skipping.capacity import Rows, fits
from headgate.models.skipping.class_ranking import ClassRanking, rank, rank_with_room
from headgate.models.skipping.coin_flip import coin_flip
from headgate.models.skipping.drop_rows import drop_rows
from headgate.models.skipping.one_class import shares_to_look_at
from headgate.models.skipping.online_max_subset import online_max_subset
from headgate.models.skipping.semantic_pni import best_insertion
from headgate.models.skipping.skipping_plan import SkippingPlan
from headgate.models.skipping.workload import Sides, Workload

NAME = "semantic PNI, rows dropped"
NEAR = 8
"""How many classes round the last one affordable are tried in its place."""
CLOSE = 1e-3
"""A plan so near the bound is good enough: no other is looked for."""


def drop_and_store(workload: Workload, rows: Rows = None) -> SkippingPlan:
    """Choose the share of each class to process, and of those the share to store.

    Processing a class pays only if its rows are stored too, so the optimum is an integer knapsack:
    this is a local search around the greedy solution, not an exact method. `SkippingPlan.bound`
    says how far from the best it can be.

    Parameters
    ----------
    workload
        The join.
    rows
        The most rows that may be stored: both sides together, or each side's own. None sets no
        limit.

    Examples
    --------
    >>> join = Workload([8, 2], [9, 1], windows=(10, 10), update=1, produce=0, budget=8, look=1)
    >>> plan = drop_and_store(join)
    >>> plan.probe[0].round(2).tolist(), plan.insert[0].round(2).tolist(), round(plan.recall, 2)
    ([0.25, 0.0], [0.25, 0.0], 0.05)
    """
    ranking = rank(workload)
    plan = _best_of(workload, ranking, _ways(workload, ranking), None)
    if not fits(plan.stored, rows):
        ranking = rank_with_room(workload, rows)
        ways = chain(_ways(workload, ranking), [plan.probe])
        plan = _best_of(workload, ranking, ways, rows)
    return _with_the_rest(workload, plan)


def _best_of(
    workload: Workload, ranking: ClassRanking, ways: Iterator[Sides], rows: Rows
) -> SkippingPlan:
    best: SkippingPlan | None = None
    for looked in ways:
        plan = _stored(workload, looked, None, ranking)
        if plan is None or (best is not None and plan.output <= best.output):
            continue
        if not fits(plan.stored, rows):
            plan = _stored(workload, looked, rows, ranking)
        if plan is not None and (best is None or plan.output > best.output):
            best = plan
        if best is not None and best.output >= (1 - CLOSE) * ranking.bound:
            break
    assert best is not None, "looking at nothing is free"
    return best


def _ways(workload: Workload, ranking: ClassRanking) -> Iterator[Sides]:
    """Candidate sets of classes to process, most promising first.

    The classes affordable whole, with part of the next one; with others beside them; without one
    of them, for part of itself or for another. Then all, and what other strategies look at.
    """
    order, whole = ranking.order, ranking.whole
    chosen = np.zeros(workload.classes)
    chosen[order[:whole]] = 1.0
    beyond, last = order[whole : whole + NEAR], order[max(whole - NEAR, 0) : whole]
    yield chosen, chosen
    for at in beyond:
        yield _with(chosen, at, shares_to_look_at(workload.only(int(at), ranking.left)))
        yield _with(chosen, at, (1.0, 1.0))
    more = chosen
    for at in beyond:
        more, _ = _with(more, at, (1.0, 1.0))
        yield more, more
    for gone in last[::-1]:
        without, _ = _with(chosen, gone, (0.0, 0.0))
        spare = ranking.left + workload.only(int(gone), 0.0).exact_cost
        yield _with(without, gone, shares_to_look_at(workload.only(int(gone), spare)))
        for at in beyond[:2]:
            yield _with(without, at, shares_to_look_at(workload.only(int(at), spare)))
            yield _with(without, at, (1.0, 1.0))
    yield np.ones(workload.classes), np.ones(workload.classes)
    for strategy in (coin_flip, online_max_subset, drop_rows):
        yield strategy(workload).probe


def _with(chosen: np.ndarray, at: int, shares: tuple[float, float]) -> Sides:
    left, right = chosen.copy(), chosen.copy()
    left[at], right[at] = shares
    return left, right


def _stored(
    workload: Workload, looked: Sides, rows: Rows, ranking: ClassRanking
) -> SkippingPlan | None:
    """The best plan that looks at these; none where that alone is too much."""
    looking = workload.look * sum(
        float(rate @ share) for rate, share in zip(workload.rates, looked, strict=True)
    )
    if not workload.affords(looking):
        return None
    insert = best_insertion(workload, looked, max(workload.budget - looking, 0.0), rows)
    return SkippingPlan.of(workload, NAME, looked, insert, bound=ranking.bound)


def _with_the_rest(workload: Workload, plan: SkippingPlan) -> SkippingPlan:
    """Spend the rest of the budget on rows of no predicted use: the model may be wrong."""
    unseen = (plan.probe[0] == 0) & (plan.probe[1] == 0)
    looking = workload.look * float((workload.left + workload.right) @ unseen)
    spare = workload.budget - plan.cost
    if looking <= 0 or spare <= 0:
        return plan
    share = min(spare / looking, 1.0)
    left, right = (np.where(unseen, share, own) for own in plan.probe)
    return SkippingPlan.of(workload, NAME, (left, right), plan.insert, bound=plan.bound)
