"""Metrics of a streaming lookup: one row a shard and batch, summed up by ``observe``."""

from dataclasses import asdict

import pandas as pd
from pyspark.sql import Column

from headgate.lookup.lookup_stats import LookupStats
from headgate.metrics import metrics_of, names_of
from headgate.metrics.metric_groups import LOOKUP_SUMS
from headgate.spark.join.join_metrics import output_schema, sums

FIGURES = names_of(*LOOKUP_SUMS)
OUTPUT = output_schema(metrics_of(*LOOKUP_SUMS))


def stats_row(stats: LookupStats, state: dict[str, int], spent: dict[str, int]) -> pd.DataFrame:
    """The row of figures a shard puts out once a batch."""
    return pd.DataFrame([{"blob": None, **asdict(stats), **state, **spent}])


def observed() -> list[Column]:
    """The aggregates to observe: every figure summed over the shards of a batch.

    Peaks are sums of the shards' peaks, so the true peak is no greater.
    """
    return sums(FIGURES)
