"""What a shard emits in a batch: blobs of results, and one row of figures."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pandas as pd
from pyspark.sql import Column
from pyspark.sql import functions as F

from headgate.engine.observed_figures import ABOUT, SHARDS
from headgate.engine.shard_layout import ShardLayout

FIGURES = "figures"
SCHEMA = f"blob binary, {FIGURES} array<double>"


def figures_row(layout: ShardLayout, values: Mapping[str, Any]) -> pd.DataFrame:
    """The row of figures that a shard emits once per batch."""
    return pd.DataFrame({"blob": [None], "figures": [layout.array(values)]})


def result_rows(blobs: Sequence[bytes]) -> pd.DataFrame:
    """Rows that carry results and no figures."""
    return pd.DataFrame({"blob": list(blobs), "figures": [None] * len(blobs)})


def observed(
    layout: ShardLayout, headlines: Iterable[str], about: str, figures: str = FIGURES
) -> list[Column]:
    """The aggregates to observe: some sums by name, and the figures of all shards.

    Every sum by name is an expression that is planned anew in every batch, so there are few.
    ``about`` says what the join is, so that who hears the figures need not ask; ``figures`` is the
    expression that has a shard's figures as numbers.
    """
    sums = (
        f"cast(coalesce(sum({figures}[{layout.names.index(name)}]), 0) AS bigint) AS {name}"
        for name in headlines
    )
    every = f"collect_list({figures}) AS {SHARDS}"
    return [*map(F.expr, sums), F.expr(every), F.lit(about).alias(ABOUT)]
