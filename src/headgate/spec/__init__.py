"""The join specification: sides, windows, keys, predicate, budget, goal; frozen and validated."""

from typing import TYPE_CHECKING

from headgate.lazy_names import lazy_names

if TYPE_CHECKING:
    from headgate.spec.budget import Budget as Budget
    from headgate.spec.errors import SpecError as SpecError
    from headgate.spec.goal import Goal as Goal
    from headgate.spec.goal import MaxSubset as MaxSubset
    from headgate.spec.goal import Sample as Sample
    from headgate.spec.how import Brings as Brings
    from headgate.spec.how import How as How
    from headgate.spec.how import Unmatched as Unmatched
    from headgate.spec.importance import Categories as Categories
    from headgate.spec.importance import Combine as Combine
    from headgate.spec.importance import Expression as Expression
    from headgate.spec.importance import Histogram as Histogram
    from headgate.spec.importance import Importance as Importance
    from headgate.spec.importance import MaxImportance as MaxImportance
    from headgate.spec.importance import Redefinition as Redefinition
    from headgate.spec.importance import Source as Source
    from headgate.spec.importance import parse_importance as parse_importance
    from headgate.spec.importance import read_changes as read_changes
    from headgate.spec.keys import Keys as Keys
    from headgate.spec.predicate import Band as Band
    from headgate.spec.predicate import Compare as Compare
    from headgate.spec.predicate import Predicate as Predicate
    from headgate.spec.side import Side as Side
    from headgate.spec.window import RowWindow as RowWindow
    from headgate.spec.window import TimeWindow as TimeWindow
    from headgate.spec.window import Window as Window

_MODULES = {
    "Band": "headgate.spec.predicate",
    "Brings": "headgate.spec.how",
    "Budget": "headgate.spec.budget",
    "Categories": "headgate.spec.importance",
    "Redefinition": "headgate.spec.importance",
    "Combine": "headgate.spec.importance",
    "Compare": "headgate.spec.predicate",
    "Expression": "headgate.spec.importance",
    "Goal": "headgate.spec.goal",
    "Histogram": "headgate.spec.importance",
    "How": "headgate.spec.how",
    "Importance": "headgate.spec.importance",
    "Keys": "headgate.spec.keys",
    "MaxImportance": "headgate.spec.importance",
    "MaxSubset": "headgate.spec.goal",
    "Predicate": "headgate.spec.predicate",
    "RowWindow": "headgate.spec.window",
    "Sample": "headgate.spec.goal",
    "Side": "headgate.spec.side",
    "Source": "headgate.spec.importance",
    "SpecError": "headgate.spec.errors",
    "TimeWindow": "headgate.spec.window",
    "Unmatched": "headgate.spec.how",
    "Window": "headgate.spec.window",
    "parse_importance": "headgate.spec.importance",
    "read_changes": "headgate.spec.importance",
}

__all__ = [
    "Band",
    "Brings",
    "Budget",
    "Categories",
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
    "Redefinition",
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

if not TYPE_CHECKING:  # a checker that saw __getattr__ would let any name pass
    __getattr__, __dir__ = lazy_names(__name__, _MODULES)
