"""Recall estimated by the models' formulas, for profiles without rows to run policies on."""

from headgate.models import MemoryCurve, best_split
from headgate.planner.planning_case import PlanningCase
from headgate.spec.quantity import SECOND_US

Curves = tuple[MemoryCurve, MemoryCurve]


def output_curves(case: PlanningCase, model: str) -> Curves | None:
    """Each side's output against its stored rows; None without a model."""
    if model == "age":
        left, right = (case.ages[side].output(case.rates[side] / SECOND_US) for side in (0, 1))
        return left, right
    if model == "frequency":
        left, right = (
            case.profile.frequencies.output(side, case.rates, case.windows_us[side] / SECOND_US)
            for side in (0, 1)
        )
        return left, right
    return None


def recall_by_model(case: PlanningCase, model: str) -> float | None:
    """Recall with the available memory split optimally between the sides; None without a model."""
    if case.fits:
        return 1.0
    curves = output_curves(case, model)
    return None if curves is None else best_split(*curves, case.room).recall
