"""Metrics of a streaming join: one row per shard and batch, summed by ``observe``."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, astuple, fields
from typing import Any, NamedTuple

import pandas as pd
from pyspark.errors import AnalysisException
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from headgate.engine.learned_step import LearnedStep
from headgate.engine.stats import GIVEN_UP, LEFT, Stats
from headgate.learning import Evidence
from headgate.learning.recall import CONFIDENCE, FEW_ROWS, MOST_ERROR, NONE_OF_MANY
from headgate.metrics import metrics_of, names_of
from headgate.metrics.metric_groups import (
    BY_SHARD,
    FOLLOWED,
    JOIN_SUMS,
    MonitorFigures,
    ShardFigures,
    TimeFigures,
    TotalFigures,
)
from headgate.planner.live_curve import FIGURES as EXPECTED
from headgate.policies.policy import RanksBy
from headgate.spark.join.shard_plan import ShardPlan
from headgate.spark.shard_output import MOST_SHARDS, ShardOutput
from headgate.spec import How, SpecError

LAPS = names_of(TimeFigures)
_MONITORED = names_of(MonitorFigures, TotalFigures)
_SUMS = tuple(entry.name for entry in fields(Evidence))
EVIDENCE = tuple(f"{when}_{name}" for when in ("batch", "total") for name in _SUMS)
"""Evidence about recall from watched rows, in this batch and since the start."""
ALONE = tuple(f"{when}_alone_{name}" for when in ("batch", "total") for name in _SUMS)
"""What of it is of rows without a partner."""
DOUBT = "doubt"
"""Zero if it is known that no pair is missing; see `doubt`."""
UNSETTLED = 1e18
"""The doubt of a shard whose recall cannot be told since a restart changed the join: more than any
number of rows, so that the sum over all shards shows it."""
TRIED = tuple(name for name in names_of(ShardFigures) if name.startswith("tried_"))
ABOUT = "about"
"""The name under which it is observed what a join is: JSON that says its budget and its call."""


def shard_output(groups: tuple[type, ...]) -> ShardOutput:
    """What the shards of a join emit, where these groups of metrics are declared."""
    reals = (*EVIDENCE, *ALONE, DOUBT, *EXPECTED)
    return ShardOutput.of(metrics_of(*groups), reals, own=BY_SHARD)


SHARD = shard_output(JOIN_SUMS)


def stats_row(
    stats: Stats,
    state: dict[str, int],
    spent: dict[str, int],
    learned: LearnedStep | None,
    plan: ShardPlan,
    expected: Mapping[str, float],
) -> pd.DataFrame:
    """The row of metrics that a shard emits once per batch."""
    figures: dict[str, Any] = {**asdict(stats), **state, **spent, **expected}
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
    return SHARD.figures(figures | {DOUBT: doubt(figures)})


def doubt(figures: Mapping[str, Any]) -> float:
    """What a shard has given up so far; without a monitor, which would know, never zero.

    `UNSETTLED` after a restart that changed what pairs are.
    A batch that lost no rows may still miss pairs with rows lost earlier. Shards tell one number,
    since every sum that figures are computed from is planned anew in every batch.
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
        **dict(zip(EVIDENCE, (*astuple(batch), *astuple(total)), strict=True)),
        **dict(zip(ALONE, (*astuple(alone), *astuple(total_alone)), strict=True)),
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
    shared: bool = False,
    groups: tuple[type, ...] = JOIN_SUMS,
    most_shards: int = MOST_SHARDS,
    how: How = How.INNER,
    about: str = "",
) -> list[Column]:
    """The aggregates to observe: every metric summed over the shards of a batch, and recall.

    Peaks are sums of the shards' peaks, so they are upper bounds. Recall is null if unknown: no
    row was watched, or watched rows have met too little to tell it within 0.25 to either side. If
    the goal is importance, recall is the share of importance. Joins that share their budget
    (``shared``) also report what they expect to gain from more memory and lose with less.
    The first ``most_shards`` shards that were in the batch report `BY_SHARD`, an array each. What
    the join is (``about``) is observed as it stands, so that who hears the figures need not ask.
    """
    shard = shard_output(groups)
    return [
        *shard.totals(names_of(*groups)),
        _fairness(shard),
        *_recall(shard, "batch", "", how),
        *_recall(shard, "total", "total_", how),
        *(shard.totals(EXPECTED) if shared else ()),
        shard.by_shard(most_shards),
        F.lit(about).alias(ABOUT),
    ]


def of_shard(figures: Mapping[str, Any], number: int) -> dict[str, float | None] | None:
    """A shard's own figures among those observed; None if it was not in the batch.

    Its recall is not told: watched rows are too few in a single shard.
    """
    for told in figures["by_shard"]:
        if told[0] == number:
            return {**dict(zip(BY_SHARD, told, strict=True)), "exact_pairs": None}
    return None


def _fairness(shard: ShardOutput) -> Column:
    """Jain's index over the lifetimes of the rows that left in the batch; as `Stats.fairness`."""
    squared = f"{shard.total(*LEFT)} * {shard.total('lifetimes_squared')}"
    index = f"try_divide(power({shard.total('lifetimes')}, 2.0D), {squared})"
    return F.expr(f"coalesce({index}, 1.0D) AS fairness")


def _recall(shard: ShardOutput, when: str, prefix: str, how: How) -> list[Column]:
    """Recall with its interval, and the exact join's output; the same as `Evidence.recall`.

    Metrics must never fail the query, so nothing is divided by zero.
    """
    sums = {name: shard.total(f"{when}_{name}") for name in _SUMS} | {
        "pairs": shard.total(f"{prefix}pairs"),
        DOUBT: shard.total(DOUBT),
        "by_importance": shard.total("shards_by_importance"),
        "settling": shard.total("shards_settling"),
    }
    sums |= {f"alone_{name}": shard.total(f"{when}_alone_{name}") for name in _SUMS}

    def figure(
        name: str, sure: str, estimated: str, part: _Formulas, needed: Iterable[str]
    ) -> Column:
        """A figure computed from some of the sums, each of which is then summed only once, and from
        what they tell, ``e``.

        It is null where watched rows have met too little to tell recall.
        """
        given = ", ".join(f"'{each}', {sums[each]}" for each in (*needed, DOUBT))
        told = f"transform(array(named_struct({given})), s -> named_struct('s', s, {part.told}))"
        settled = f"{part.error} <= {MOST_ERROR}D AND e.s.{DOUBT} < {UNSETTLED:.0f}D"
        known = f"CASE WHEN {settled} THEN {estimated} END"
        exact = f"CASE WHEN e.s.{DOUBT} = 0 THEN {sure} ELSE {known} END"
        return F.expr(f"transform({told}, e -> {exact})[0] AS {prefix}{name}")

    def of_all(name: str, sure: str, estimated: str, needed: Iterable[str] = ()) -> Column:
        """A figure of the whole result, null where watched rows do not tell all that it has."""
        estimated = f"CASE WHEN e.s.settling = 0 THEN {estimated} END"
        return figure(name, sure, estimated, every, (*_SUMS, *needed, "settling"))

    def of_part(name: str, part: _Formulas, needed: Iterable[str]) -> Column:
        return figure(name, "1.0D", "e.share", part, needed)

    every = _Formulas("s.{name}")
    # The share of importance does not give the number of pairs.
    exact_pairs = "CASE WHEN e.s.by_importance = 0 THEN try_divide(e.s.pairs, e.share) END"
    figures = [
        of_all("recall", "1.0D", "e.share"),
        of_all("recall_low", "1.0D", f"greatest({every.end('-')}, 0.0D)"),
        of_all("recall_high", "1.0D", f"least({every.end('+')}, 1.0D)"),
        of_all("exact_pairs", "cast(e.s.pairs AS double)", exact_pairs, ("pairs", "by_importance")),
    ]
    if how == How.INNER:  # every sum costs time in every batch
        none = f"CASE WHEN {sums[DOUBT]} = 0 THEN 1.0D END AS {prefix}recall_unmatched"
        return [*figures, of_part("recall_matched", every, _SUMS), F.expr(none)]
    alone = [f"alone_{name}" for name in _SUMS]
    return [
        *figures,
        of_part("recall_matched", _Formulas("(s.{name} - s.alone_{name})"), (*_SUMS, *alone)),
        of_part("recall_unmatched", _Formulas("s.alone_{name}"), alone),
    ]


class _Formulas(NamedTuple):
    """Formulas of `Evidence.recall` in SQL, given the sums over all shards as ``s``."""

    sums: str
    """Such sums, in which ``{name}`` stands for the name of each."""

    @property
    def told(self) -> str:
        """The share, the square of its error, and the error that few rows make at least."""
        met, made, met_met, met_made, made_made = (self.sums.format(name=name) for name in _SUMS)
        share, one_in = f"try_divide({made}, {met})", f"try_divide({met_met}, {met} * {met})"
        variance = f"{made_made} - 2 * {share} * {met_made} + {share} * {share} * {met_met}"
        errors = f"({CONFIDENCE}D + {one_in} * ({FEW_ROWS[0]}D + {one_in} * {FEW_ROWS[1]}D))"
        squared = f"power({errors}, 2) * try_divide(greatest({variance}, 0.0D), {met} * {met})"
        return f"'share', {share}, 'squared', {squared}, 'few', {NONE_OF_MANY}D * {one_in}"

    @property
    def error(self) -> str:
        """How far the interval reaches, about."""
        return "greatest(sqrt(e.squared), e.few)"

    def end(self, sign: str) -> str:
        """An end of the interval, before it is cut to shares."""
        shift = "coalesce(try_divide(e.squared, e.share * (1 - e.share)), 0.0D)"
        half = f"sqrt(e.squared + {shift} * {shift} / 4)"
        wilson = f"(e.share + {shift} / 2 {sign} {half}) / (1 + {shift})"
        return f"CASE WHEN e.few * e.few >= e.squared THEN e.share {sign} e.few ELSE {wilson} END"
