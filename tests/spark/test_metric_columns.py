"""The columns that Spark observes are the metrics that are declared."""

from dataclasses import dataclass

import pytest
from pyspark.sql import SparkSession

from headgate.metrics import LAST, metric, metrics_of, names_of
from headgate.metrics.metric_groups import JOIN_SUMS, LOOKUP_SUMS, ExpectedFigures, Qualities
from headgate.spark.join.join_metrics import EVIDENCE, EXPECTED, OUTPUT, observed, output_schema
from headgate.spark.lookup import lookup_metrics

pytestmark = pytest.mark.spark


@dataclass(frozen=True)
class Hops:
    """Made up for a test."""

    hops: int = metric("rows", "Rows passed on.", LAST)


def test_a_join_observes_what_is_declared(spark: SparkSession) -> None:
    rows = spark.createDataFrame([], OUTPUT)
    declared = names_of(*JOIN_SUMS, Qualities)
    assert tuple(rows.agg(*observed()).columns) == declared
    shared = rows.agg(*observed(shared=True)).columns
    assert tuple(shared) == (*declared, *names_of(ExpectedFigures))


def test_a_lookup_observes_what_is_declared(spark: SparkSession) -> None:
    rows = spark.createDataFrame([], lookup_metrics.OUTPUT)
    assert tuple(rows.agg(*lookup_metrics.observed()).columns) == names_of(*LOOKUP_SUMS)


def test_a_metric_that_is_declared_is_observed(spark: SparkSession) -> None:
    groups = (*JOIN_SUMS, Hops)
    schema = output_schema(metrics_of(*groups), (*EVIDENCE, *EXPECTED))
    shards = [{"blob": None, "hops": hops} for hops in (3, 4)]
    names = [part.split()[0] for part in schema.split(", ")]
    rows = [[shard.get(name) for name in names] for shard in shards]
    total = spark.createDataFrame(rows, schema).agg(*observed(groups=groups)).collect()[0]
    assert total["hops"] == 7
