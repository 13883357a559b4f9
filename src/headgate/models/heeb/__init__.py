"""HEEB: how much a row is expected to yield, directly, step by step, and from tables."""

from headgate.models.heeb.direct import estimated_benefit
from headgate.models.heeb.table import curve_table

__all__ = ["curve_table", "estimated_benefit"]
