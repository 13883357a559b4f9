"""Metrics of a streaming lookup: one row per shard and batch, gathered by ``observe``."""

from dataclasses import asdict

import pandas as pd
from pyspark.sql import Column

from headgate.engine.observed_figures import LOOKUP_HEADLINES
from headgate.engine.shard_layout import lookup_layout
from headgate.lookup.lookup_stats import LookupStats
from headgate.spark import shard_output
from headgate.spark.join.join_metrics import LAPS


def stats_row(
    stats: LookupStats, state: dict[str, int], spent: dict[str, int], shard: int
) -> pd.DataFrame:
    """The row of metrics that a shard emits once per batch."""
    own = {"shard": shard, "busy_ms": sum(spent[name] for name in LAPS)}
    return shard_output.figures_row(lookup_layout(), {**asdict(stats), **state, **spent, **own})


def observed(about: str = "") -> list[Column]:
    """The aggregates to observe; ``about`` says what the lookup is."""
    return shard_output.observed(lookup_layout(), LOOKUP_HEADLINES, about)
