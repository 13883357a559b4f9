"""Metrics of a streaming lookup: one row per shard and batch, summed by ``observe``."""

from dataclasses import asdict

import pandas as pd
from pyspark.sql import Column
from pyspark.sql import functions as F

from headgate.lookup.lookup_stats import LookupStats
from headgate.metrics import metrics_of, names_of
from headgate.metrics.metric_groups import LOOKUP_BY_SHARD, LOOKUP_SUMS
from headgate.spark.join.join_metrics import ABOUT, LAPS
from headgate.spark.shard_output import ShardOutput

FIGURES = names_of(*LOOKUP_SUMS)
SHARD = ShardOutput.of(metrics_of(*LOOKUP_SUMS), own=LOOKUP_BY_SHARD)
"""What the shards of a lookup emit."""


def stats_row(
    stats: LookupStats, state: dict[str, int], spent: dict[str, int], shard: int
) -> pd.DataFrame:
    """The row of metrics that a shard emits once per batch."""
    own = {"shard": shard, "busy_ms": sum(spent[name] for name in LAPS)}
    return SHARD.figures({**asdict(stats), **state, **spent, **own})


def observed(about: str = "") -> list[Column]:
    """The aggregates to observe: every metric summed over the shards of a batch.

    Peaks are sums of the shards' peaks, so they are upper bounds. Shards also report by
    themselves, and ``about`` says what the lookup is.
    """
    return [*SHARD.totals(FIGURES), SHARD.by_shard(), F.lit(about).alias(ABOUT)]
