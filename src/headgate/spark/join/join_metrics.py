"""Metrics of a streaming join: one row per shard and batch, summed by ``observe``."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, astuple, fields
from typing import Any

import pandas as pd
from pyspark.errors import AnalysisException
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from headgate.engine.learned_step import LearnedStep
from headgate.engine.stats import GIVEN_UP, LEFT, Stats
from headgate.learning import Evidence
from headgate.learning.recall import CONFIDENCE, MOST_ERROR, NONE_OF_MANY
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

Formula = Callable[[Column], Column]
"""A figure, given the sums over all shards."""


def shard_output(groups: tuple[type, ...]) -> ShardOutput:
    """What the shards of a join emit, where these groups of metrics are declared."""
    return ShardOutput.of(metrics_of(*groups), (*EVIDENCE, *EXPECTED))


SHARD = shard_output(JOIN_SUMS)


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
        **dict(zip(EVIDENCE, (*astuple(learned.evidence), *astuple(learned.total)), strict=True)),
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
    row was watched, or watched rows have met too little to tell it within 0.25 to either side. If
    the goal is importance, recall is the share of importance. Joins that share their budget
    (``shared``) also report what they expect to gain from more memory and lose with less.
    """
    shard = shard_output(groups)
    return [
        *shard.totals(names_of(*groups)),
        _fairness(shard),
        *_recall(shard, "batch", "", "pairs"),
        *_recall(shard, "total", "total_", "total_pairs"),
        *(shard.totals(EXPECTED) if shared else ()),
    ]


def _fairness(shard: ShardOutput) -> Column:
    """Jain's index over the lifetimes of the rows that left in the batch; as `Stats.fairness`."""
    rows, squared = shard.total(*LEFT), shard.total("lifetimes_squared")
    index = F.try_divide(shard.total("lifetimes") ** 2, rows * squared)
    return F.coalesce(index, F.lit(1.0)).alias("fairness")


def _recall(shard: ShardOutput, when: str, prefix: str, pairs: str) -> list[Column]:
    """Recall with its interval, and the exact join's output; the same as `Evidence.recall`.

    Metrics must never fail the query, so nothing is divided by zero.
    """
    sums = {name: shard.total(f"{when}_{name}") for name in _SUMS} | {
        "pairs": shard.total(pairs),
        "monitored": shard.total("shards_monitored"),
        # A batch that lost no rows may still miss pairs with rows lost earlier.
        "lost": shard.total("total_lost", *GIVEN_UP),
        "by_importance": shard.total("shards_by_importance"),
    }

    def figure(name: str, needed: Iterable[str], sure: Formula, estimated: Formula) -> Column:
        """A figure computed from some of the sums, each of which is then summed only once."""
        given = F.struct(*(sums[each].alias(each) for each in (*needed, "monitored", "lost")))
        exact = F.transform(
            F.array(given),
            lambda s: F.when((s.monitored > 0) & (s.lost == 0), sure(s)).otherwise(estimated(s)),
        )
        return exact[0].alias(f"{prefix}{name}")

    return [
        figure("recall", _SUMS, _one, _known_share),
        figure(
            "recall_low",
            _SUMS,
            _one,
            lambda s: _if_known(s, F.greatest(_share(s) - _error(s), F.lit(0.0))),
        ),
        figure(
            "recall_high",
            _SUMS,
            _one,
            lambda s: _if_known(s, F.least(_share(s) + _error(s), F.lit(1.0))),
        ),
        figure(
            "exact_pairs",
            (*_SUMS, "pairs", "by_importance"),
            lambda s: s.pairs.cast("double"),
            # The share of importance does not give the number of pairs.
            lambda s: F.when(s.by_importance == 0, F.try_divide(s.pairs, _known_share(s))),
        ),
    ]


def _one(_: Column) -> Column:
    return F.lit(1.0)


def _share(s: Column) -> Column:
    return F.try_divide(s.made, s.met)


def _known_share(s: Column) -> Column:
    return _if_known(s, _share(s))


def _if_known(s: Column, value: Column) -> Column:
    """A figure, or null where watched rows have met too little to tell recall."""
    return F.when(_error(s) <= MOST_ERROR, value)


def _error(s: Column) -> Column:
    share = _share(s)
    variance = s.made_made - 2 * share * s.met_made + share * share * s.met_met
    few = F.try_divide(NONE_OF_MANY * s.met_met, s.met)
    spread = CONFIDENCE * F.sqrt(F.greatest(variance, F.lit(0.0)))
    return F.try_divide(F.greatest(spread, few), s.met)
