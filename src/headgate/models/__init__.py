"""Models of stream behaviour: frozen parameters and their formulas."""

from headgate.models.age_curve import AgeCurve, AgeCurves
from headgate.models.benefit import (
    caching_benefit,
    dominated_subset,
    dominates,
    first_reference,
    joining_benefit,
    strongly_dominates,
)
from headgate.models.frequencies import Frequencies, KeyFrequencies
from headgate.models.heeb import (
    Curve,
    Surface,
    by_value,
    curve_table,
    estimated_benefit,
    next_caching,
    next_joining,
)
from headgate.models.memory_curve import MemoryCurve, Split, best_split, together
from headgate.models.process import (
    AutoRegressive,
    Fit,
    Known,
    LinearTrend,
    Moment,
    Noise,
    Now,
    Process,
    RandomWalk,
    SeasonalAutoRegressive,
    Stationary,
    best_fit,
)
from headgate.models.survival import ExponentialLife, FixedLife, Forever, InverseTime, Survival

__all__ = [
    "AgeCurve",
    "AgeCurves",
    "AutoRegressive",
    "Curve",
    "ExponentialLife",
    "Fit",
    "FixedLife",
    "Forever",
    "Frequencies",
    "InverseTime",
    "KeyFrequencies",
    "Known",
    "LinearTrend",
    "MemoryCurve",
    "Moment",
    "Noise",
    "Now",
    "Process",
    "RandomWalk",
    "SeasonalAutoRegressive",
    "Split",
    "Stationary",
    "Surface",
    "Survival",
    "best_fit",
    "best_split",
    "by_value",
    "caching_benefit",
    "curve_table",
    "dominated_subset",
    "dominates",
    "estimated_benefit",
    "first_reference",
    "joining_benefit",
    "next_caching",
    "next_joining",
    "strongly_dominates",
    "together",
]
