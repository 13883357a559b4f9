"""What the models' own formulas say, where there are no rows to try anything on."""

from headgate.models import MemoryCurve, best_split
from headgate.planner.planning_case import Case
from headgate.spec.quantity import SECOND_US

Curves = tuple[MemoryCurve, MemoryCurve]


def output_curves(case: Case, model: str) -> Curves | None:
    """Matches of each side's stored rows against how many there are; None without a model."""
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


def recall_by_model(case: Case, model: str) -> float | None:
    """Recall with the room there is, shared between the sides as is best; None without a model."""
    if case.fits:
        return 1.0
    curves = output_curves(case, model)
    return None if curves is None else best_split(*curves, case.room).recall
