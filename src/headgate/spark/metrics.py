"""Metrics of a streaming join: one row a shard and batch, summed up by ``observe``."""

from dataclasses import asdict, fields

import pandas as pd
from pyspark.sql import Column
from pyspark.sql import functions as F

from headgate.engine.stats import Stats

STATE_FIGURES = ("held_bytes", "dead_bytes", "segments", "written_bytes", "rebuilt", "compacted")
"""What is said of state beside the stats: bytes held with dead rows, dead rows' bytes, number of
segments, bytes written in the batch, shards rebuilt from the state store, segments compacted."""
TIME_FIGURES = ("read_ms", "join_ms", "write_ms")
"""Where the operator's own time went, summed over shards: reading arrivals and state, joining and
putting results out, writing state."""

FIGURES = (*(entry.name for entry in fields(Stats)), *STATE_FIGURES, *TIME_FIGURES)
OUTPUT = "blob binary, " + ", ".join(f"{name} long" for name in FIGURES)


def stats_row(stats: Stats, state: dict[str, int], spent: dict[str, int]) -> pd.DataFrame:
    """The row of figures a shard puts out once a batch."""
    return pd.DataFrame([{"blob": None, **asdict(stats), **state, **spent}])


def result_row(blob: bytes) -> pd.DataFrame:
    """A row that carries results; its figures add nothing to the sums."""
    return pd.DataFrame([{"blob": blob, **dict.fromkeys(FIGURES, 0)}])


def observed() -> list[Column]:
    """The aggregates to observe: every figure summed over the shards of a batch.

    Peaks are sums of the shards' peaks, so the true peak is no greater.
    """
    return [F.coalesce(F.sum(name), F.lit(0)).alias(name) for name in FIGURES]
