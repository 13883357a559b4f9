"""Chooses the split of memory between the windows: pooled, unless a fixed split does better."""

from dataclasses import replace

from headgate.models import best_split
from headgate.planner.draft import Draft, SplitTried
from headgate.planner.model_estimates import output_curves
from headgate.planner.planning_case import PlanningCase
from headgate.planner.tried_policies import TriedPolicy, try_out
from headgate.spec import Budget
from headgate.spec.budget import Split

SPLITS: tuple[tuple[float, float], ...] = ((1.0, 3.0), (1.0, 1.0), (3.0, 1.0))
"""Splits tried beside the one that the models find best."""
ALIKE = 0.05
"""Share of memory; splits that differ by less are not both tried."""


def plan_split(case: PlanningCase, draft: Draft) -> Draft:
    """Try a few splits with the chosen policy."""
    if case.request.budget.split != "planned":
        return draft
    if not all(case.stores) or case.fits or draft.chosen is None:
        return draft
    best: TriedPolicy = draft.chosen
    chosen: Split = "pooled"
    splits = [SplitTried("pooled", best.recall.value)]
    by_model = _by_model(case, draft)
    others = [split for split in SPLITS if not any(_alike(split, one) for one in by_model)]
    for split in (*by_model, *others):
        tried = try_out(case, best.candidate, replace_split(case, split))
        splits.append(SplitTried(split, tried.recall.value))
        if tried.beats(best):
            best, chosen = tried, split
    return replace(draft, split=chosen, chosen=best, splits=tuple(splits))


def replace_split(case: PlanningCase, split: Split) -> Budget:
    """The case's memory with another split."""
    budget = case.budget
    return Budget(budget.rows, budget.memory, split, budget.monitor)


def _alike(one: tuple[float, float], other: tuple[float, float]) -> bool:
    return abs(one[0] / sum(one) - other[0] / sum(other)) < ALIKE


def _by_model(case: PlanningCase, draft: Draft) -> list[tuple[float, float]]:
    curves = output_curves(case, draft.model.name if draft.model else "none")
    if curves is None:
        return []
    found = best_split(*curves, case.room)
    return [(found.left, found.right)] if found.left + found.right > 0 else []
