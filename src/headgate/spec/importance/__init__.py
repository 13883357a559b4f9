"""Row importance: by column, expression, category table, histogram or source."""

from headgate.spec.importance.categories import Categories
from headgate.spec.importance.combine import Combine
from headgate.spec.importance.expression import Expression
from headgate.spec.importance.histogram import Histogram
from headgate.spec.importance.importance import Importance
from headgate.spec.importance.max_importance import MaxImportance
from headgate.spec.importance.parsing import parse_importance
from headgate.spec.importance.redefinition import Redefinition, read_changes
from headgate.spec.importance.source import Source

__all__ = [
    "Categories",
    "Combine",
    "Expression",
    "Histogram",
    "Importance",
    "MaxImportance",
    "Redefinition",
    "Source",
    "parse_importance",
    "read_changes",
]
