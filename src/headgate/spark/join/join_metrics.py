"""Metrics of a streaming join: one row per shard and batch, summed by ``observe``."""

from collections.abc import Mapping
from dataclasses import asdict, astuple, fields
from typing import Any

import pandas as pd
from pyspark.errors import AnalysisException
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from headgate.engine.learned_step import LearnedStep
from headgate.engine.stats import GIVEN_UP, LEFT, Stats
from headgate.learning import Evidence
from headgate.learning.recall import CONFIDENCE, NONE_OF_MANY
from headgate.metrics import metrics_of, names_of
from headgate.metrics.metric_groups import JOIN_SUMS, MonitorFigures, TotalFigures
from headgate.planner.live_curve import FIGURES as EXPECTED
from headgate.policies.policy import RanksBy
from headgate.spark.shard_output import ShardOutput
from headgate.spec import SpecError

_MONITORED = names_of(MonitorFigures, TotalFigures)
_SUMS = tuple(entry.name for entry in fields(Evidence))
EVIDENCE = tuple(f"{when}_{name}" for when in ("batch", "total") for name in _SUMS)
"""Evidence about recall from watched rows, in this batch and since the start."""


SHARD = ShardOutput.of(metrics_of(*JOIN_SUMS), (*EVIDENCE, *EXPECTED))
"""What the shards of a join emit."""


def stats_row(
    stats: Stats,
    state: dict[str, int],
    spent: dict[str, int],
    learned: LearnedStep | None,
    important: bool,
    expected: Mapping[str, float],
) -> pd.DataFrame:
    """The row of metrics that a shard emits once per batch."""
    figures: dict[str, Any] = {**asdict(stats), **state, **spent, **expected}
    more = {**_monitor_figures(learned), "shards_by_importance": int(important)}
    return SHARD.figures(figures | more)


def _monitor_figures(learned: LearnedStep | None) -> dict[str, float]:
    if learned is None:
        return dict.fromkeys((*_MONITORED, *EVIDENCE), 0)
    state = learned.state
    by = learned.policy.ranks_by if learned.is_learning else None
    total = state.monitor.finished + state.watched.evidence
    return {
        "shards_monitored": 1,
        "watched_rows": len(state.watched.time),
        "tracked_keys": state.tracked.num_rows,
        "monitor_bytes": learned.bytes,
        "shards_neutral": int(by == RanksBy.NEITHER),
        "shards_by_age": int(by == RanksBy.AGE),
        "shards_by_key": int(by == RanksBy.FREQUENCY),
        "shards_by_residence": int(by == RanksBy.RESIDENCE),
        "shards_by_recency": int(by == RanksBy.RECENCY),
        "tried_rows": sum(len(side.time) for side in state.rivals or ()),
        "switched": int(learned.switched),
        "total_pairs": state.monitor.pairs,
        "total_lost": state.monitor.lost,
        **dict(zip(EVIDENCE, (*astuple(learned.evidence), *astuple(total)), strict=True)),
    }


def observe(frame: DataFrame, name: str, figures: list[Column]) -> DataFrame:
    """Observe the frame's metrics under a name; raise if the name is not valid."""
    if not isinstance(name, str) or not name:
        raise SpecError(f"name={name!r} is not accepted: give the metrics a name")
    try:
        return frame.observe(name, *figures)
    except AnalysisException as error:
        if error.getCondition() != "DUPLICATED_METRICS_NAME":
            raise
        raise SpecError(
            f'name="{name}": this query has metrics of that name already, and each join and '
            f'lookup in it needs its own: give another, such as name="{name}_2"'
        ) from error


def observed(shared: bool = False, groups: tuple[type, ...] = JOIN_SUMS) -> list[Column]:
    """The aggregates to observe: every metric summed over the shards of a batch, and recall.

    Peaks are sums of the shards' peaks, so they are upper bounds. Recall is null if unknown: no
    row was watched, or no watched row has matched. If the goal is importance, recall is the share
    of importance. Joins that share their budget (``shared``) also report what they expect to gain
    from more memory and lose with less.
    """
    recalls = (*_recall("batch", "", "pairs"), *_recall("total", "total_", "total_pairs"))
    return [*sums(names_of(*groups)), _fairness(), *recalls, *(sums(EXPECTED) if shared else ())]


def _fairness() -> Column:
    """Jain's index over the lifetimes of the rows that left in the batch; as `Stats.fairness`."""
    rows = sum((F.sum(name) for name in LEFT), start=F.lit(0))
    index = F.try_divide(F.sum("lifetimes") ** 2, rows * F.sum("lifetimes_squared"))
    return F.coalesce(index, F.lit(1.0)).alias("fairness")


def sums(figures: tuple[str, ...]) -> list[Column]:
    """Sum each metric over the shards of a batch."""
    return [F.coalesce(F.sum(name), F.lit(0)).alias(name) for name in figures]


def _recall(when: str, prefix: str, pairs: str) -> list[Column]:
    """Recall with its interval, and the exact join's output; the same as `Evidence.recall`.

    Spark plans the query again for every batch, so expressions are kept short; metrics must never
    fail the query, so nothing is divided by zero.
    """
    met, made, met_met, met_made, made_made = (F.sum(f"{when}_{name}") for name in _SUMS)
    share = F.try_divide(made, met)
    variance = F.greatest(made_made - 2 * share * met_made + share * share * met_met, F.lit(0.0))
    few = F.try_divide(NONE_OF_MANY * met_met, met)
    error = F.try_divide(F.greatest(CONFIDENCE * F.sqrt(variance), few), met)
    # A batch that lost no rows may still miss pairs with rows lost earlier.
    lost = sum((F.sum(name) for name in GIVEN_UP), start=F.sum("total_lost"))
    exact = (F.sum("shards_monitored") > 0) & (lost == 0)

    def figure(name: str, sure: Column, estimated: Column) -> Column:
        return F.when(exact, sure).otherwise(estimated).alias(f"{prefix}{name}")

    one = F.lit(1.0)
    # The share of importance does not give the number of pairs.
    counted = F.sum("shards_by_importance") == 0
    estimated = F.when(counted, F.try_divide(F.sum(pairs), share))
    return [
        figure("recall", one, share),
        figure("recall_low", one, F.greatest(share - error, F.lit(0.0))),
        figure("recall_high", one, F.least(share + error, one)),
        figure("exact_pairs", F.sum(pairs).cast("double"), estimated),
    ]
