"""Models of stream behaviour: frozen parameters and their formulas."""

from typing import TYPE_CHECKING

from headgate.lazy_names import lazy_names

if TYPE_CHECKING:
    from headgate.models.age_curve import AgeCurve as AgeCurve
    from headgate.models.age_curve import AgeCurves as AgeCurves
    from headgate.models.benefit import caching_benefit as caching_benefit
    from headgate.models.benefit import dominated_subset as dominated_subset
    from headgate.models.benefit import dominates as dominates
    from headgate.models.benefit import first_reference as first_reference
    from headgate.models.benefit import joining_benefit as joining_benefit
    from headgate.models.benefit import strongly_dominates as strongly_dominates
    from headgate.models.frequencies import Frequencies as Frequencies
    from headgate.models.frequencies import KeyFrequencies as KeyFrequencies
    from headgate.models.heeb import PrecomputedCurve as PrecomputedCurve
    from headgate.models.heeb import PrecomputedSurface as PrecomputedSurface
    from headgate.models.heeb import by_value as by_value
    from headgate.models.heeb import curve_table as curve_table
    from headgate.models.heeb import estimated_benefit as estimated_benefit
    from headgate.models.heeb import next_caching as next_caching
    from headgate.models.heeb import next_joining as next_joining
    from headgate.models.memory_curve import MemoryCurve as MemoryCurve
    from headgate.models.memory_curve import Split as Split
    from headgate.models.memory_curve import best_split as best_split
    from headgate.models.memory_curve import together as together
    from headgate.models.process import AutoRegressive as AutoRegressive
    from headgate.models.process import Known as Known
    from headgate.models.process import LinearTrend as LinearTrend
    from headgate.models.process import Moment as Moment
    from headgate.models.process import Noise as Noise
    from headgate.models.process import Now as Now
    from headgate.models.process import Process as Process
    from headgate.models.process import ProcessFit as ProcessFit
    from headgate.models.process import RandomWalk as RandomWalk
    from headgate.models.process import SeasonalAutoRegressive as SeasonalAutoRegressive
    from headgate.models.process import Stationary as Stationary
    from headgate.models.process import best_fit as best_fit
    from headgate.models.survival import ExponentialLife as ExponentialLife
    from headgate.models.survival import FixedLife as FixedLife
    from headgate.models.survival import Forever as Forever
    from headgate.models.survival import InverseTime as InverseTime
    from headgate.models.survival import Survival as Survival

_MODULES = {
    "AgeCurve": "headgate.models.age_curve",
    "AgeCurves": "headgate.models.age_curve",
    "AutoRegressive": "headgate.models.process",
    "PrecomputedCurve": "headgate.models.heeb",
    "ExponentialLife": "headgate.models.survival",
    "ProcessFit": "headgate.models.process",
    "FixedLife": "headgate.models.survival",
    "Forever": "headgate.models.survival",
    "Frequencies": "headgate.models.frequencies",
    "InverseTime": "headgate.models.survival",
    "KeyFrequencies": "headgate.models.frequencies",
    "Known": "headgate.models.process",
    "LinearTrend": "headgate.models.process",
    "MemoryCurve": "headgate.models.memory_curve",
    "Moment": "headgate.models.process",
    "Noise": "headgate.models.process",
    "Now": "headgate.models.process",
    "Process": "headgate.models.process",
    "RandomWalk": "headgate.models.process",
    "SeasonalAutoRegressive": "headgate.models.process",
    "Split": "headgate.models.memory_curve",
    "Stationary": "headgate.models.process",
    "PrecomputedSurface": "headgate.models.heeb",
    "Survival": "headgate.models.survival",
    "best_fit": "headgate.models.process",
    "best_split": "headgate.models.memory_curve",
    "by_value": "headgate.models.heeb",
    "caching_benefit": "headgate.models.benefit",
    "curve_table": "headgate.models.heeb",
    "dominated_subset": "headgate.models.benefit",
    "dominates": "headgate.models.benefit",
    "estimated_benefit": "headgate.models.heeb",
    "first_reference": "headgate.models.benefit",
    "joining_benefit": "headgate.models.benefit",
    "next_caching": "headgate.models.heeb",
    "next_joining": "headgate.models.heeb",
    "strongly_dominates": "headgate.models.benefit",
    "together": "headgate.models.memory_curve",
}
"""Where each name is; the imports above tell type checkers the same."""

__all__ = [*_MODULES]

if not TYPE_CHECKING:  # a checker that saw __getattr__ would let any name pass
    __getattr__, __dir__ = lazy_names(__name__, _MODULES)
