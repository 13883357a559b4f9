"""The columns that Spark observes are the metrics that are declared."""

from dataclasses import dataclass

import pytest
from pyspark.sql import SparkSession

from headgate.metrics import LAST, metric, names_of
from headgate.metrics.metric_groups import JOIN_SUMS, LOOKUP_SUMS, ExpectedFigures, Qualities
from headgate.spark.join.join_metrics import observed, shard_output
from headgate.spark.lookup import lookup_metrics
from headgate.spark.shard_output import SCHEMA, result_rows

pytestmark = pytest.mark.spark


OTHERS = ("by_shard", "about")


@dataclass(frozen=True)
class Hops:
    """Made up for a test."""

    hops: int = metric("rows", "Rows passed on.", LAST)


def test_a_join_observes_what_is_declared(spark: SparkSession) -> None:
    rows = spark.createDataFrame([], SCHEMA)
    declared = names_of(*JOIN_SUMS, Qualities)
    assert tuple(rows.agg(*observed()).columns) == (*declared, *OTHERS)
    shared = rows.agg(*observed(shared=True)).columns
    assert tuple(shared) == (*declared, *names_of(ExpectedFigures), *OTHERS)


def test_a_lookup_observes_what_is_declared(spark: SparkSession) -> None:
    rows = spark.createDataFrame([], SCHEMA)
    assert tuple(rows.agg(*lookup_metrics.observed()).columns) == (*names_of(*LOOKUP_SUMS), *OTHERS)


def test_a_metric_that_is_declared_is_observed(spark: SparkSession) -> None:
    groups = (*JOIN_SUMS, Hops)
    shard = shard_output(groups)
    names = (*shard.counts, *shard.reals, *shard.own)
    frames = [shard.figures(dict.fromkeys(names, 0) | {"hops": hops}) for hops in (3, 4)]
    frames.append(result_rows([b"results", b"more"]))
    emitted = [tuple(row) for frame in frames for row in frame.to_numpy()]
    rows = spark.createDataFrame(emitted, SCHEMA)
    assert rows.where("blob IS NOT NULL").count() == 2
    assert rows.agg(*observed(groups=groups)).collect()[0]["hops"] == 7
