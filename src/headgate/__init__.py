"""Headgate: window joins on Spark streams that live within a memory budget.

Examples
--------
>>> import headgate as hg
>>> hg.Budget(memory="64 MB")
Budget(rows=None, memory=64000000, split='pooled', monitor=None)
"""

from headgate import estimate, policies
from headgate.choosing import SampleChoice, choose_sample
from headgate.engine.stats import Stats
from headgate.join import Outcome, WindowJoin
from headgate.models import AgeCurve, AgeCurves, Frequencies
from headgate.monitor import Estimate
from headgate.profiler import profile
from headgate.profiling import Profile
from headgate.spec import (
    Band,
    Budget,
    Compare,
    Goal,
    MaxSubset,
    RowWindow,
    Sample,
    Side,
    SpecError,
    TimeWindow,
)

__version__ = "0.1.0"

__all__ = [
    "AgeCurve",
    "AgeCurves",
    "Band",
    "Budget",
    "Compare",
    "Estimate",
    "Frequencies",
    "Goal",
    "MaxSubset",
    "Outcome",
    "Profile",
    "RowWindow",
    "Sample",
    "SampleChoice",
    "Side",
    "SpecError",
    "Stats",
    "TimeWindow",
    "WindowJoin",
    "choose_sample",
    "estimate",
    "policies",
    "profile",
]
