"""How much rows matter: columns, expressions, tables of categories, histograms, sources."""

from headgate.spec.importance.base import Importance
from headgate.spec.importance.categories import Categories
from headgate.spec.importance.expression import Expression
from headgate.spec.importance.histogram import Histogram
from headgate.spec.importance.parse import parse_importance
from headgate.spec.importance.source import Source

__all__ = [
    "Categories",
    "Expression",
    "Histogram",
    "Importance",
    "Source",
    "parse_importance",
]
