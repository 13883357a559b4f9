"""How much rows matter: columns, expressions, tables of categories, histograms, sources."""

from headgate.spec.importance.base import Importance
from headgate.spec.importance.categories import Categories
from headgate.spec.importance.changes import Change, read_changes
from headgate.spec.importance.combine import Combine
from headgate.spec.importance.expression import Expression
from headgate.spec.importance.goal import MaxImportance
from headgate.spec.importance.histogram import Histogram
from headgate.spec.importance.parse import parse_importance
from headgate.spec.importance.source import Source

__all__ = [
    "Categories",
    "Change",
    "Combine",
    "Expression",
    "Histogram",
    "Importance",
    "MaxImportance",
    "Source",
    "parse_importance",
    "read_changes",
]
