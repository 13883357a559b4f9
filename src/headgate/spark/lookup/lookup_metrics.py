"""Metrics of a streaming lookup: one row a shard and batch, summed up by ``observe``."""

from dataclasses import asdict, fields

import pandas as pd
from pyspark.sql import Column

from headgate.lookup.lookup_stats import LookupStats
from headgate.spark.join.join_metrics import STATE_FIGURES, TIME_FIGURES, sums

FIGURES = (*(entry.name for entry in fields(LookupStats)), *STATE_FIGURES, *TIME_FIGURES)
OUTPUT = ", ".join(["blob binary", *(f"{name} long" for name in FIGURES)])


def stats_row(stats: LookupStats, state: dict[str, int], spent: dict[str, int]) -> pd.DataFrame:
    """The row of figures a shard puts out once a batch."""
    return pd.DataFrame([{"blob": None, **asdict(stats), **state, **spent}])


def observed() -> list[Column]:
    """The aggregates to observe: every figure summed over the shards of a batch.

    Peaks are sums of the shards' peaks, so the true peak is no greater.
    """
    return sums(FIGURES)
