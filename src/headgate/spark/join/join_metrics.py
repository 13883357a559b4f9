"""Metrics of a streaming join: one row per shard and batch, gathered by ``observe``."""

from collections.abc import Mapping
from typing import Any

import pandas as pd
from pyspark.errors import AnalysisException
from pyspark.sql import Column, DataFrame

from headgate.engine.learned_step import LearnedStep
from headgate.engine.observed_figures import JOIN_HEADLINES
from headgate.engine.shard_layout import ALONE, DOUBT, EVIDENCE, UNSETTLED, join_layout
from headgate.engine.stats import GIVEN_UP, Stats
from headgate.metrics import names_of
from headgate.metrics.metric_groups import (
    BY_SHARD,
    FOLLOWED,
    JOIN_SUMS,
    MonitorFigures,
    ShardFigures,
    TimeFigures,
    TotalFigures,
)
from headgate.policies.policy import RanksBy
from headgate.spark import shard_output
from headgate.spark.join.shard_plan import ShardPlan
from headgate.spec import SpecError

LAPS = names_of(TimeFigures)
_MONITORED = names_of(MonitorFigures, TotalFigures)
TRIED = tuple(name for name in names_of(ShardFigures) if name.startswith("tried_"))


def stats_row(
    stats: Stats,
    state: dict[str, int],
    spent: dict[str, int],
    learned: LearnedStep | None,
    plan: ShardPlan,
    expected: Mapping[str, float],
) -> pd.DataFrame:
    """The row of metrics that a shard emits once per batch."""
    figures: dict[str, Any] = {**vars(stats), **state, **spent, **expected}
    figures |= {
        **_monitor_figures(learned),
        "shards_by_importance": int(plan.definitions is not None),
        "shards_settling": int(learned is not None and not learned.result.are_known),
        "lost": sum(figures[name] for name in GIVEN_UP),
        "busy_ms": sum(spent[name] for name in LAPS),
        **_trials(learned),
    }
    if figures["shards_unsettled"]:
        figures |= dict.fromkeys((*EVIDENCE, *ALONE), 0.0)
    return shard_output.figures_row(join_layout(), figures | {DOUBT: doubt(figures)})


def doubt(figures: Mapping[str, Any]) -> float:
    """What a shard has given up so far; without a monitor, which would know, never zero.

    `UNSETTLED` after a restart that changed what pairs are.
    A batch that lost no rows may still miss pairs with rows lost earlier.
    """
    if figures["shards_unsettled"]:
        return UNSETTLED
    lost = sum(figures[name] for name in ("total_lost", *GIVEN_UP))
    return float(lost) if figures["shards_monitored"] else 1.0


def _monitor_figures(learned: LearnedStep | None) -> dict[str, float]:
    if learned is None:
        return dict.fromkeys((*_MONITORED, *EVIDENCE, *ALONE), 0)
    state = learned.state
    by = learned.policy.ranks_by if learned.is_learning else None
    (matched, alone), (total_matched, total_alone) = learned.of_batch, learned.of_all
    batch, total = matched + alone, total_matched + total_alone
    return {
        "shards_monitored": 1,
        "watched_rows": len(state.watched.time),
        "tracked_keys": len(state.tracked),
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
        **dict(zip(EVIDENCE, (*batch.sums, *total.sums), strict=True)),
        **dict(zip(ALONE, (*alone.sums, *total_alone.sums), strict=True)),
    }


def _trials(learned: LearnedStep | None) -> dict[str, float]:
    """The policy that a learned choice follows, and what it and its rivals make on trial."""
    told = dict.fromkeys(TRIED, 0.0) | {"followed": -1}
    if learned is None or not learned.is_learning:
        return told
    monitor = learned.state.monitor
    if monitor.followed in FOLLOWED:
        told["followed"] = FOLLOWED.index(monitor.followed)
    standing = monitor.standing
    made = standing.made.sum(axis=1)
    return told | {f"tried_{name}": made[at] for at, name in enumerate(standing.names)}


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


def observed(
    about: str = "",
    groups: tuple[type, ...] = JOIN_SUMS,
    figures: str = shard_output.FIGURES,
) -> list[Column]:
    """The aggregates to observe; ``about`` says what the join is, ``figures`` where they are."""
    return shard_output.observed(join_layout(groups), JOIN_HEADLINES, about, figures)


def of_shard(figures: Mapping[str, Any], number: int) -> dict[str, float | None] | None:
    """A shard's own figures among those observed; None if it was not in the batch.

    Its recall is not told: watched rows are too few in a single shard.
    """
    for told in figures["by_shard"]:
        if told[0] == number:
            return {**dict(zip(BY_SHARD, told, strict=True)), "exact_pairs": None}
    return None
