"""Headgate: window joins on Spark streams that live within a memory budget.

Examples
--------
>>> import headgate as hg
>>> hg.Budget(memory="64 MB")
Budget(rows=None, memory=64000000, split='pooled', monitor=None, cpu=None)
"""

from typing import TYPE_CHECKING, Any

from headgate import policies
from headgate.api import estimate
from headgate.api.cached_lookup import CachedLookup, LookupOutcome
from headgate.api.join_group import GroupPlan, JoinGroup
from headgate.api.profiler import profile
from headgate.api.sample_choice import SampleChoice, choose_sample
from headgate.api.whatif import whatif
from headgate.api.window_join import WindowJoin
from headgate.engine.outcome import Outcome
from headgate.engine.stats import Stats
from headgate.learning import Estimate
from headgate.lookup import (
    ArrowTable,
    DuckDbTable,
    LookupStats,
    PostgresTable,
    Retry,
    TableError,
    TableUnreachable,
)
from headgate.models import AgeCurve, AgeCurves, Frequencies
from headgate.planner import Plan
from headgate.planner.expected_curves import Aggregate
from headgate.planner.quality_curve import QualityCurve
from headgate.profiles import Profile
from headgate.sizing import WhatIf
from headgate.spec import (
    Band,
    Budget,
    Categories,
    Compare,
    Expression,
    Goal,
    Histogram,
    Importance,
    MaxImportance,
    MaxSubset,
    RowWindow,
    Sample,
    Side,
    Source,
    SpecError,
    TimeWindow,
    read_changes,
)

if TYPE_CHECKING:
    from headgate.spark.lookup.spark_table import SparkTable

__version__ = "0.1.0"

__all__ = [
    "AgeCurve",
    "AgeCurves",
    "Aggregate",
    "ArrowTable",
    "Band",
    "Budget",
    "CachedLookup",
    "Categories",
    "Compare",
    "DuckDbTable",
    "Estimate",
    "Expression",
    "Frequencies",
    "Goal",
    "GroupPlan",
    "Histogram",
    "Importance",
    "JoinGroup",
    "LookupOutcome",
    "LookupStats",
    "MaxImportance",
    "MaxSubset",
    "Outcome",
    "Plan",
    "PostgresTable",
    "Profile",
    "QualityCurve",
    "Retry",
    "RowWindow",
    "Sample",
    "SampleChoice",
    "Side",
    "Source",
    "SparkTable",
    "SpecError",
    "Stats",
    "TableError",
    "TableUnreachable",
    "TimeWindow",
    "WhatIf",
    "WindowJoin",
    "choose_sample",
    "estimate",
    "policies",
    "profile",
    "read_changes",
    "whatif",
]


def __getattr__(name: str) -> Any:
    """`SparkTable`, which needs PySpark, when it is asked for."""
    if name == "SparkTable":
        from headgate.spark.lookup.spark_table import SparkTable

        return SparkTable
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
