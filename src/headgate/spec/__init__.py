"""What a user asks for: sides, windows, keys, budget and goal. Frozen, parsed and validated."""

from headgate.spec.budget import Budget
from headgate.spec.errors import SpecError
from headgate.spec.goal import Goal, MaxSubset
from headgate.spec.keys import Keys
from headgate.spec.side import Side
from headgate.spec.window import RowWindow, TimeWindow, Window

__all__ = [
    "Budget",
    "Goal",
    "Keys",
    "MaxSubset",
    "RowWindow",
    "Side",
    "SpecError",
    "TimeWindow",
    "Window",
]
