"""Fixtures of tests that start queries on Spark."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture
def store(spark: "SparkSession") -> Iterator[Any]:
    """Sets the state store and the shuffle partitions of queries that start from now on."""
    from tests.spark.query_lives import PARTITIONS, PROVIDER, STORES

    before = {name: spark.conf.get(name) for name in (PROVIDER, PARTITIONS)}

    def choose(name: str, partitions: int) -> None:
        spark.conf.set(PROVIDER, STORES[name])
        spark.conf.set(PARTITIONS, str(partitions))

    yield choose
    for name, value in before.items():
        spark.conf.set(name, value or "")
