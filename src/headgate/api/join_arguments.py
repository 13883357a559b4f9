"""Checks the arguments of a join, and gives those of one that does as planned."""

import math
from typing import Any

from headgate.engine.request import Request
from headgate.planner.draft import Draft
from headgate.spec import Budget, Goal, MaxSubset, Predicate, Sample, Side, SpecError


def check_parts(left: Any, right: Any, budget: Any, goal: Any, where: Any, seed: Any) -> None:
    """Raise unless every argument has the right type."""
    for name, given, wanted in (
        ("left", left, Side),
        ("right", right, Side),
        ("budget", budget, Budget),
        ("goal", goal or MaxSubset(), Goal),
    ):
        if not isinstance(given, wanted):
            raise SpecError(f"{name}={given!r} is not accepted: give a {wanted.__name__}")
    if where is not None and not isinstance(where, Predicate):
        raise SpecError(
            f"where={where!r} is not accepted: give one hg.Band(...) or hg.Compare(...)"
        )
    if not isinstance(seed, int) or isinstance(seed, bool):
        raise SpecError(f"seed={seed!r} is not accepted: give a whole number")


def checked_rates(rates: Any) -> tuple[float, float] | None:
    if rates is None:
        return None
    try:
        left, right = (float(rate) for rate in rates)
    except (TypeError, ValueError):
        left = right = 0.0
    if not (0 < left < math.inf and 0 < right < math.inf):
        raise SpecError(
            f"rates={rates!r} is not accepted: give the rows a second of the left and of the right "
            f"side, two numbers above 0"
        )
    return left, right


def planned_arguments(asked: Request, draft: Draft) -> dict[str, Any]:
    """The arguments of the join that does as planned."""
    budget = asked.budget
    return {
        "left_on": asked.keys.left,
        "right_on": asked.keys.right,
        "left": asked.left,
        "right": asked.right,
        "budget": Budget(budget.rows, budget.memory, draft.split, budget.monitor, budget.cpu),
        "goal": draft.goal,
        "policy": "auto" if isinstance(draft.goal, Sample) else draft.policy,
        "frequencies": draft.frequencies,
        "ages": draft.ages,
        "rates": draft.rates,
        "suffix": asked.suffix,
        "seed": asked.seed,
        "index": draft.index or "auto",
        "how": asked.how,
        "unmatched": asked.unmatched,
        "features": asked.features,
    }
