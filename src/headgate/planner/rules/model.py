"""Describes the model behind the chosen policy and what it says about the streams."""

from dataclasses import replace

import numpy as np

from headgate.models import AgeCurve
from headgate.planner.draft import Draft, Model
from headgate.planner.planning_case import PlanningCase
from headgate.policies import Heeb
from headgate.profiles.durations import about

MOST_MATCHES = 0.8
"""The share of a row's matches that the reported age range covers."""
BY_POLICY = {"ages": "age", "frequencies": "frequency", "processes": "process"}


def plan_model(case: PlanningCase, draft: Draft) -> Draft:
    """Describe the policy's model."""
    name = BY_POLICY.get(draft.policy.model, "none")
    if draft.sampling is not None:
        by_age = draft.ages is not None
        name = "age" if by_age else "none" if draft.frequencies is None else "frequency"
    elif draft.policy.learns:
        name = "learned"
    if name == "age":
        says = _of_ages(case)
    elif name == "frequency":
        says = _of_keys(case)
    elif name == "process":
        says = _of_values(draft)
    elif name == "learned":
        says = _of_learning(draft)
    elif draft.sampling is not None:
        says = "none (all rows are kept alike)"
    else:
        says = _of_none(case)
    return replace(draft, model=Model(name, says, sum(case.profile.pairs.rows)))


def _of_ages(case: PlanningCase) -> str:
    """Describe the ages at which rows match, for the side that makes most matches."""
    curves = (case.ages.left, case.ages.right)
    made = [curves[side].total * case.rates[side] * case.stores[side] for side in (0, 1)]
    side = int(np.argmax(made))
    part, first, end = densest(curves[side])
    return (
        f"{100 * part:.0f} % of a {('left', 'right')[side]} row's matches come at ages from "
        f"{about(first)} to {about(end)}"
    )


def densest(curve: AgeCurve) -> tuple[float, float, float]:
    """The shortest age range with most of the matches: their share, its beginning and end.

    Examples
    --------
    >>> densest(AgeCurve(10, [0, 1, 4, 5, 0]))
    (0.9, 20.0, 40.0)
    """
    so_far = curve.cumulative / max(curve.total, 1e-300)
    best = (float(so_far[-1]), 0, len(so_far) - 1)
    for first in range(len(so_far)):
        end = int(np.searchsorted(so_far, so_far[first] + MOST_MATCHES - 1e-12))
        if end < len(so_far) and end - first < best[2] - best[1]:
            best = (float(so_far[end] - so_far[first]), first, end)
    part, first, end = best
    return part, float(first * curve.width), float(end * curve.width)


def _of_keys(case: PlanningCase) -> str:
    told = []
    for name, side in (("left", case.profile.skew.left), ("right", case.profile.skew.right)):
        rank = max((rank for rank in side.top if rank <= max(side.keys // 10, 1)), default=1)
        heaviest = "heaviest key has" if rank == 1 else f"{rank:,} heaviest of {side.keys:,} have"
        told.append(f"{name} {heaviest} {100 * side.top.get(rank, 0.0):.3g} %")
    return f"{'; '.join(told)} of the rows"


def _of_values(draft: Draft) -> str:
    assert isinstance(draft.policy, Heeb)
    kinds = [type(process).__name__ for process in (draft.policy.left, draft.policy.right)]
    moves = {
        "LinearTrend": "a trend",
        "RandomWalk": "a random walk",
        "AutoRegressive": "an autoregression",
        "Stationary": "chance alone",
    }
    left, right = (moves.get(kind, kind) for kind in kinds)
    return f"left values follow {left}, right values {right}"


def _of_learning(draft: Draft) -> str:
    assert draft.policy.learns
    wanted = draft.policy.asked_name if draft.policy.learned is not None else "auto"
    return "learned as the join goes on" + ("" if wanted == "auto" else f", for {wanted.upper()}")


def _of_none(case: PlanningCase) -> str:
    found = case.profile.explains
    if found.better is None:
        return f"none ({found.why_not})"
    gains = {"age": found.age, "key": found.frequency}
    shown = ", ".join(f"{name} {gain:+.2f}" for name, gain in gains.items())
    return f"none (gains in nats a match: {shown})"
