"""Headgate: window joins on Spark streams that live within a memory budget.

Examples
--------
>>> import headgate as hg
>>> hg.Budget(memory="64 MB")
Budget(memory="64 MB")
"""

from typing import TYPE_CHECKING

from headgate.lazy_names import lazy_names

if TYPE_CHECKING:
    from headgate import policies as policies
    from headgate.api import estimate as estimate
    from headgate.api.cached_lookup import CachedLookup as CachedLookup
    from headgate.api.cached_lookup import LookupOutcome as LookupOutcome
    from headgate.api.checkpoints import adopt as adopt
    from headgate.api.checkpoints import built_in as built_in
    from headgate.api.checkpoints import release as release
    from headgate.api.checkpoints import reshard as reshard
    from headgate.api.checkpoints import state as state
    from headgate.api.join_group import GroupPlan as GroupPlan
    from headgate.api.join_group import JoinGroup as JoinGroup
    from headgate.api.profiler import profile as profile
    from headgate.api.progress import Progress as Progress
    from headgate.api.progress import progress as progress
    from headgate.api.sample_choice import SampleChoice as SampleChoice
    from headgate.api.sample_choice import choose_sample as choose_sample
    from headgate.api.watch import Watch as Watch
    from headgate.api.watch import watch as watch
    from headgate.api.whatif import whatif as whatif
    from headgate.api.window_join import WindowJoin as WindowJoin
    from headgate.engine.outcome import Outcome as Outcome
    from headgate.engine.stats import Stats as Stats
    from headgate.learning.evidence import Estimate as Estimate
    from headgate.lookup.arrow_table import ArrowTable as ArrowTable
    from headgate.lookup.duckdb_table import DuckDbTable as DuckDbTable
    from headgate.lookup.lookup_stats import LookupStats as LookupStats
    from headgate.lookup.postgres_table import PostgresTable as PostgresTable
    from headgate.lookup.retry import Retry as Retry
    from headgate.lookup.table_errors import TableError as TableError
    from headgate.lookup.table_errors import TableUnreachable as TableUnreachable
    from headgate.models.age_curve import AgeCurve as AgeCurve
    from headgate.models.age_curve import AgeCurves as AgeCurves
    from headgate.models.frequencies import Frequencies as Frequencies
    from headgate.planner.expected_curves import Aggregate as Aggregate
    from headgate.planner.plan import Plan as Plan
    from headgate.planner.quality_curve import QualityCurve as QualityCurve
    from headgate.profiles.profile import Profile as Profile
    from headgate.sizing.what_if import WhatIf as WhatIf
    from headgate.spark.configuration import configure as configure
    from headgate.spark.lookup.spark_table import SparkTable as SparkTable
    from headgate.spark.session import session as session
    from headgate.spec.budget import Budget as Budget
    from headgate.spec.errors import SpecError as SpecError
    from headgate.spec.goal import Goal as Goal
    from headgate.spec.goal import MaxSubset as MaxSubset
    from headgate.spec.goal import Sample as Sample
    from headgate.spec.importance.categories import Categories as Categories
    from headgate.spec.importance.expression import Expression as Expression
    from headgate.spec.importance.histogram import Histogram as Histogram
    from headgate.spec.importance.importance import Importance as Importance
    from headgate.spec.importance.max_importance import MaxImportance as MaxImportance
    from headgate.spec.importance.redefinition import read_changes as read_changes
    from headgate.spec.importance.source import Source as Source
    from headgate.spec.predicate import Band as Band
    from headgate.spec.predicate import Compare as Compare
    from headgate.spec.side import Side as Side
    from headgate.spec.window import RowWindow as RowWindow
    from headgate.spec.window import TimeWindow as TimeWindow

__version__ = "0.1.0"

_MODULES = {
    "AgeCurve": "headgate.models.age_curve",
    "AgeCurves": "headgate.models.age_curve",
    "Aggregate": "headgate.planner.expected_curves",
    "ArrowTable": "headgate.lookup.arrow_table",
    "Band": "headgate.spec.predicate",
    "Budget": "headgate.spec.budget",
    "CachedLookup": "headgate.api.cached_lookup",
    "Categories": "headgate.spec.importance.categories",
    "Compare": "headgate.spec.predicate",
    "DuckDbTable": "headgate.lookup.duckdb_table",
    "Estimate": "headgate.learning.evidence",
    "Expression": "headgate.spec.importance.expression",
    "Frequencies": "headgate.models.frequencies",
    "Goal": "headgate.spec.goal",
    "GroupPlan": "headgate.api.join_group",
    "Histogram": "headgate.spec.importance.histogram",
    "Importance": "headgate.spec.importance.importance",
    "JoinGroup": "headgate.api.join_group",
    "LookupOutcome": "headgate.api.cached_lookup",
    "LookupStats": "headgate.lookup.lookup_stats",
    "MaxImportance": "headgate.spec.importance.max_importance",
    "MaxSubset": "headgate.spec.goal",
    "Outcome": "headgate.engine.outcome",
    "Plan": "headgate.planner.plan",
    "PostgresTable": "headgate.lookup.postgres_table",
    "Profile": "headgate.profiles.profile",
    "Progress": "headgate.api.progress",
    "QualityCurve": "headgate.planner.quality_curve",
    "Retry": "headgate.lookup.retry",
    "RowWindow": "headgate.spec.window",
    "Sample": "headgate.spec.goal",
    "SampleChoice": "headgate.api.sample_choice",
    "Side": "headgate.spec.side",
    "Source": "headgate.spec.importance.source",
    "SparkTable": "headgate.spark.lookup.spark_table",
    "SpecError": "headgate.spec.errors",
    "Stats": "headgate.engine.stats",
    "TableError": "headgate.lookup.table_errors",
    "TableUnreachable": "headgate.lookup.table_errors",
    "TimeWindow": "headgate.spec.window",
    "Watch": "headgate.api.watch",
    "WhatIf": "headgate.sizing.what_if",
    "WindowJoin": "headgate.api.window_join",
    "adopt": "headgate.api.checkpoints",
    "built_in": "headgate.api.checkpoints",
    "choose_sample": "headgate.api.sample_choice",
    "configure": "headgate.spark.configuration",
    "estimate": "headgate.api.estimate",
    "policies": "headgate.policies",
    "profile": "headgate.api.profiler",
    "progress": "headgate.api.progress",
    "read_changes": "headgate.spec.importance.redefinition",
    "release": "headgate.api.checkpoints",
    "reshard": "headgate.api.checkpoints",
    "session": "headgate.spark.session",
    "state": "headgate.api.checkpoints",
    "watch": "headgate.api.watch",
    "whatif": "headgate.api.whatif",
}
"""Where each public name is; the imports above tell type checkers the same."""

_PACKAGES = {name: f"headgate.{name}" for name in ("lookup", "models", "sampling", "spec")}
"""Packages with names that are rarer, as in ``hg.models.RandomWalk``."""

__all__ = [*_MODULES]

if not TYPE_CHECKING:  # a checker that saw __getattr__ would let any name pass
    __getattr__, __dir__ = lazy_names(__name__, _MODULES | _PACKAGES)
