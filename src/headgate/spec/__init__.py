"""What a user asks for: sides, windows, keys, predicate, budget, goal. Frozen, parsed, checked."""

from headgate.spec.budget import Budget
from headgate.spec.errors import SpecError
from headgate.spec.goal import Goal, MaxSubset, Sample
from headgate.spec.keys import Keys
from headgate.spec.predicate import Band, Compare, Predicate
from headgate.spec.side import Side
from headgate.spec.window import RowWindow, TimeWindow, Window

__all__ = [
    "Band",
    "Budget",
    "Compare",
    "Goal",
    "Keys",
    "MaxSubset",
    "Predicate",
    "RowWindow",
    "Sample",
    "Side",
    "SpecError",
    "TimeWindow",
    "Window",
]
