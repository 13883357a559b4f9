"""Shards computed from Arrow columns are those that Spark computes."""

import numpy as np
import pyarrow as pa
import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from headgate.spark.join.join_stream import shard_column
from headgate.spark.shard_hash import is_hashed_here, shards_of

pytestmark = pytest.mark.spark

SHARDS = 7
LIMITS = {"long": 63, "int": 31, "smallint": 15, "tinyint": 7, "date": 15, "timestamp": 50}


def test_shards_are_those_of_spark(spark: SparkSession) -> None:
    rng = np.random.default_rng(3)
    rows, names = [], list(LIMITS)
    for bits in LIMITS.values():
        most = (1 << bits) - 1
        drawn = rng.integers(-most - 1, most, 400, endpoint=True).tolist()
        drawn[:6] = [0, 1, -1, most, -most - 1, None]
        rows.append([None if rng.random() < 0.1 else value for value in drawn])
    given = spark.createDataFrame(
        list(zip(*rows, strict=True)), ", ".join(f"`{name}` long" for name in names)
    )
    casts = [F.col(name).cast(name).alias(name) for name in names[:4]]
    casts.append(F.date_from_unix_date(F.col("date").cast("int")).alias("date"))
    casts.append(F.timestamp_micros("timestamp").alias("timestamp"))
    frame = given.select(*casts)
    keyed = [[name] for name in names] + [["long", "int"], ["date", "timestamp"], names]
    labels = tuple(range(SHARDS))
    told = frame.select(
        *(
            shard_column([F.col(n) for n in key], labels).alias(str(i))
            for i, key in enumerate(keyed)
        ),
        "*",
    ).toArrow()
    for place, key in enumerate(keyed):
        columns = [told.column(name) for name in key]
        assert all(is_hashed_here(column.type) for column in columns)
        assert shards_of(columns, SHARDS).tolist() == told.column(str(place)).to_pylist(), key


@pytest.mark.parametrize("kind", [pa.string(), pa.float64(), pa.decimal128(9, 2), pa.bool_()])
def test_other_keys_are_left_to_spark(kind: pa.DataType) -> None:
    assert not is_hashed_here(kind)
