"""HEEB's score H (expected yield of a row): direct sums, incremental updates and tables."""

from headgate.models.heeb.curve_table import curve_table
from headgate.models.heeb.direct import estimated_benefit
from headgate.models.heeb.incremental import by_value, next_caching, next_joining
from headgate.models.heeb.precomputed import Curve, Surface

__all__ = [
    "Curve",
    "Surface",
    "by_value",
    "curve_table",
    "estimated_benefit",
    "next_caching",
    "next_joining",
]
