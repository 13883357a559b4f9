"""How streams behave: frozen facts with formulas."""

from headgate.models.age import AgeCurve, AgeCurves
from headgate.models.frequency import Frequencies, KeyFrequencies
from headgate.models.heeb import curve_table, estimated_benefit
from headgate.models.memory import MemoryCurve, Split, best_split
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
    "Survival",
    "best_fit",
    "best_split",
    "curve_table",
    "estimated_benefit",
]
