"""What Spark observes, and what is read from it, are the metrics that are declared."""

from dataclasses import dataclass

import pytest
from pyspark.sql import SparkSession

from headgate.engine.observed_figures import (
    ABOUT,
    JOIN_HEADLINES,
    LOOKUP_HEADLINES,
    SHARDS,
    by_name,
)
from headgate.engine.shard_layout import join_layout
from headgate.metrics import LAST, metric, names_of
from headgate.metrics.metric_groups import JOIN_SUMS, LOOKUP_SUMS, ExpectedFigures, Qualities
from headgate.spark.join import join_metrics
from headgate.spark.lookup import lookup_metrics
from headgate.spark.shard_output import SCHEMA, figures_row, result_rows
from headgate.spark.spark_versions import figures_of

pytestmark = pytest.mark.spark


OTHERS = (SHARDS, ABOUT)


@dataclass(frozen=True)
class Hops:
    """Made up for a test."""

    hops: int = metric("rows", "Rows passed on.", LAST)


def test_a_join_observes_a_few_sums_and_tells_what_is_declared(spark: SparkSession) -> None:
    rows = spark.createDataFrame([], SCHEMA)
    observed = rows.agg(*join_metrics.observed())
    assert tuple(observed.columns) == (*JOIN_HEADLINES, *OTHERS)
    told = figures_of(observed.collect()[0])
    assert {*names_of(*JOIN_SUMS, Qualities, ExpectedFigures)} <= told.keys()
    assert (told["pairs"], told["recall"], told["by_shard"]) == (0, 1.0, [])


def test_a_lookup_observes_a_few_sums_and_tells_what_is_declared(spark: SparkSession) -> None:
    rows = spark.createDataFrame([], SCHEMA)
    observed = rows.agg(*lookup_metrics.observed())
    assert tuple(observed.columns) == (*LOOKUP_HEADLINES, *OTHERS)
    assert {*names_of(*LOOKUP_SUMS)} <= figures_of(observed.collect()[0]).keys()


def test_a_metric_that_is_declared_is_told(spark: SparkSession) -> None:
    layout = join_layout((*JOIN_SUMS, Hops))
    zero = dict.fromkeys(layout.names, 0)
    frames = [figures_row(layout, zero | {"hops": hops, "pairs": hops}) for hops in (3, 4)]
    frames.append(result_rows([b"results", b"more"]))
    emitted = [tuple(row) for frame in frames for row in frame.to_numpy()]
    rows = spark.createDataFrame(emitted, SCHEMA)
    assert rows.where("blob IS NOT NULL").count() == 2
    observed = rows.agg(*join_metrics.observed(groups=(*JOIN_SUMS, Hops))).collect()[0]
    assert by_name(observed.asDict(), layout)["hops"] == observed["pairs"] == 7
