"""HEEB's score H (expected yield of a row): direct sums, incremental updates and tables."""

from typing import TYPE_CHECKING

from headgate.lazy_names import lazy_names

if TYPE_CHECKING:
    from headgate.models.heeb.benefit_curves import curve_table as curve_table
    from headgate.models.heeb.direct import estimated_benefit as estimated_benefit
    from headgate.models.heeb.incremental import by_value as by_value
    from headgate.models.heeb.incremental import next_caching as next_caching
    from headgate.models.heeb.incremental import next_joining as next_joining
    from headgate.models.heeb.precomputed import PrecomputedCurve as PrecomputedCurve
    from headgate.models.heeb.precomputed import PrecomputedSurface as PrecomputedSurface

_MODULES = {
    "PrecomputedCurve": "headgate.models.heeb.precomputed",
    "PrecomputedSurface": "headgate.models.heeb.precomputed",
    "by_value": "headgate.models.heeb.incremental",
    "curve_table": "headgate.models.heeb.benefit_curves",
    "estimated_benefit": "headgate.models.heeb.direct",
    "next_caching": "headgate.models.heeb.incremental",
    "next_joining": "headgate.models.heeb.incremental",
}
"""Where each name is; the imports above tell type checkers the same."""

__all__ = [*_MODULES]

if not TYPE_CHECKING:  # a checker that saw __getattr__ would let any name pass
    __getattr__, __dir__ = lazy_names(__name__, _MODULES)
