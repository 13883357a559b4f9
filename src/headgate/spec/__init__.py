"""The join specification: sides, windows, keys, predicate, budget, goal; frozen and validated."""

from headgate.spec.budget import Budget
from headgate.spec.errors import SpecError
from headgate.spec.goal import Goal, MaxSubset, Sample
from headgate.spec.how import Brings, How, Unmatched
from headgate.spec.importance import (
    Categories,
    Change,
    Combine,
    Expression,
    Histogram,
    Importance,
    MaxImportance,
    Source,
    parse_importance,
    read_changes,
)
from headgate.spec.keys import Keys
from headgate.spec.predicate import Band, Compare, Predicate
from headgate.spec.side import Side
from headgate.spec.window import RowWindow, TimeWindow, Window

__all__ = [
    "Band",
    "Brings",
    "Budget",
    "Categories",
    "Change",
    "Combine",
    "Compare",
    "Expression",
    "Goal",
    "Histogram",
    "How",
    "Importance",
    "Keys",
    "MaxImportance",
    "MaxSubset",
    "Predicate",
    "RowWindow",
    "Sample",
    "Side",
    "Source",
    "SpecError",
    "TimeWindow",
    "Unmatched",
    "Window",
    "parse_importance",
    "read_changes",
]
