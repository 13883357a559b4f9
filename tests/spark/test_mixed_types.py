"""Keys of unlike types and times with and without a zone: joined as in Spark, or refused."""

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

import headgate as hg
from tests.spark.streams import collect, multiset

pytestmark = pytest.mark.spark


KEYS = ["key", "zeros", "price", "word"]
LEFT_SCHEMA = (
    "key int, zeros struct<a:double>, price decimal(10,2), word string, at timestamp, l long"
)
RIGHT_SCHEMA = (
    "key bigint, zeros struct<a:float>, price decimal(12,4), word string, seen timestamp, r long"
)


def rows_of(spark: SparkSession, schema: str, seed: int) -> DataFrame:
    """Rows with keys in the types of a side; zeros of both signs, NaN, nulls."""
    zeros = "array(0.0d, -0.0d, double('NaN'), 1.5d, null)"
    columns = [
        "id % 5 as key",
        f"named_struct('a', get({zeros}, cast((id div 5 + {seed}) % 5 as int))) as zeros",
        "(id % 3) * 1.25 as price",
        "concat('w', id % 2) as word",
        "timestamp_micros(1767225600000000 + id * 1000000) as at",
        "id as number",
    ]
    rows = spark.range(0, 120, 1, 2).selectExpr(*columns)
    return rows.select(
        *(
            F.col(name).cast(field.dataType).alias(field.name)
            for name, field in zip(rows.columns, spark_schema(spark, schema), strict=True)
        )
    )


def spark_schema(spark: SparkSession, schema: str) -> Any:
    return spark.createDataFrame([], schema).schema


def mixed_join(**asked: Any) -> hg.WindowJoin:
    return hg.WindowJoin(
        on=KEYS,
        left=hg.Side(time="at", window="1 minute"),
        right=hg.Side(time="seen", window="30 seconds"),
        budget=hg.Budget(rows=10_000),
        **asked,
    )


def in_spark(left: DataFrame, right: DataFrame) -> Counter:
    equal = [left[key] == right[key] for key in KEYS]
    near = F.expr("seen between at - interval 30 seconds and at + interval 1 minute")
    return multiset(left.join(right, [*equal, near]).select("l", "r"))


def test_a_bounded_join_on_keys_of_other_types_is_sparks_own(berlin: SparkSession) -> None:
    left, right = rows_of(berlin, LEFT_SCHEMA, 1), rows_of(berlin, RIGHT_SCHEMA, 2)
    wanted = in_spark(left, right)
    assert wanted.total() > 50
    assert multiset(mixed_join().batch(left, right, shards=5).select("l", "r")) == wanted
    asked = {"on": KEYS, "left": hg.Side("at", "1 minute"), "right": hg.Side("seen", "30 seconds")}
    assert hg.profile(left, right, **asked).pairs.count == wanted.total()


@pytest.mark.long
def test_a_stream_on_keys_of_other_types_is_sparks_own(
    berlin: SparkSession, tmp_path: Path
) -> None:
    left, right = rows_of(berlin, LEFT_SCHEMA, 1), rows_of(berlin, RIGHT_SCHEMA, 2)
    streams = []
    for rows, schema, time in ((left, LEFT_SCHEMA, "at"), (right, RIGHT_SCHEMA, "seen")):
        rows.repartitionByRange(2, time).write.parquet(str(tmp_path / time))
        stream = berlin.readStream.schema(schema).option("maxFilesPerTrigger", 1)
        streams.append(stream.parquet(str(tmp_path / time)).withWatermark(time, "1 hour"))
    found = collect(mixed_join().stream(*streams, shards=3), tmp_path / "checkpoint")
    assert Counter((row[5], row[-1]) for row in found.rows.elements()) == in_spark(left, right)


def times_of(spark: SparkSession, name: str, kind: str, times: list[str]) -> DataFrame:
    rows = spark.createDataFrame([(1, time) for time in times], f"key int, {name} string")
    return rows.withColumn(name, F.col(name).cast(kind))


ZONES = r'left "heard" is timestamp, right "seen" is timestamp_ntz: one tells moments in time'
ASKED: dict[str, Any] = {
    "on": "key",
    "left": hg.Side("heard", "1 minute"),
    "right": hg.Side("seen", "1 minute"),
}


@pytest.mark.parametrize(
    "call",
    [
        lambda left, right: hg.WindowJoin(**ASKED, budget=hg.Budget(rows=9)).batch(left, right),
        lambda left, right: hg.profile(left, right, **ASKED),
        lambda left, right: hg.whatif(left, right, **ASKED),
    ],
    ids=["batch", "profile", "whatif"],
)
def test_a_timestamp_and_one_without_a_zone_are_refused(
    berlin: SparkSession, call: Callable[[DataFrame, DataFrame], object]
) -> None:
    left = times_of(berlin, "heard", "timestamp", ["2026-07-01 12:00:00"])
    right = times_of(berlin, "seen", "timestamp_ntz", ["2026-07-01 12:00:30"])
    with pytest.raises(hg.SpecError, match=f"time columns differ in type: {ZONES}"):
        call(left, right)


def test_a_stream_of_a_timestamp_and_one_without_a_zone_is_refused(
    berlin: SparkSession, tmp_path: Path
) -> None:
    left, right = (
        berlin.readStream.schema(f"key int, {time} {kind}").parquet(str(tmp_path))
        for time, kind in (("heard", "timestamp"), ("seen", "timestamp_ntz"))
    )
    join = hg.WindowJoin(**ASKED, budget=hg.Budget(rows=9))
    with pytest.raises(hg.SpecError, match=f"time columns differ in type: {ZONES}"):
        join.stream(left.withWatermark("heard", "1 hour"), right)
    at = hg.Side(time="at", window="1 hour")
    by_key = hg.WindowJoin(
        left_on="heard", right_on="seen", left=at, right=at, budget=hg.Budget(rows=9)
    )
    times = [stream.withColumn("at", F.current_timestamp()) for stream in (left, right)]
    with pytest.raises(hg.SpecError, match=f"key columns differ in type: {ZONES}"):
        by_key.stream(*times)


def test_a_time_without_a_zone_joins_as_in_spark_once_it_is_cast(berlin: SparkSession) -> None:
    left = times_of(berlin, "heard", "timestamp", ["2026-07-01 12:00:00", "2026-07-01 14:00:30"])
    right = times_of(berlin, "seen", "timestamp_ntz", ["2026-07-01 12:00:30"])
    near = F.expr("seen between heard - interval 1 minute and heard + interval 1 minute")
    wanted = left.join(right.withColumnRenamed("key", "other"), near).select("heard", "other")
    cast = right.withColumn("seen", F.col("seen").cast("timestamp"))
    found = hg.WindowJoin(**ASKED, budget=hg.Budget(rows=9), policy="fifo").batch(left, cast)
    assert multiset(found.select("heard", "key")) == multiset(wanted)
    assert wanted.count() == 1


def test_times_without_a_zone_do_not_follow_the_sessions_clocks(berlin: SparkSession) -> None:
    """At 2 o'clock of this night clocks in Berlin are put forward by an hour."""
    left = times_of(berlin, "heard", "timestamp_ntz", ["2026-03-29 01:30:00", None])
    right = times_of(
        berlin, "seen", "timestamp_ntz", ["2026-03-29 01:50:00.25", "2026-03-29 03:10:00"]
    )
    asked = {**ASKED, "left": hg.Side("heard", "30 minutes")}
    found = hg.profile(left, right, **asked)
    in_process = hg.profile(left.toArrow(), right.toArrow(), **asked)
    assert (found.pairs, found.rates) == (in_process.pairs, in_process.rates)
    assert found.pairs.count == 1
    join = hg.WindowJoin(**asked, budget=hg.Budget(rows=9), policy="fifo")
    assert join.batch(left, right).count() == 1


@pytest.mark.parametrize("kind", ["UTF8_LCASE", "UNICODE_CI", "UTF8_BINARY_RTRIM"])
def test_a_lookup_by_strings_with_a_collation_is_refused(
    berlin: SparkSession, tmp_path: Path, kind: str
) -> None:
    plain = berlin.createDataFrame([("a", 1)], "word string, number int")
    collated = plain.withColumn("word", F.collate("word", kind))
    asked = {"on": "word", "budget": hg.Budget(rows=9)}
    with pytest.raises(hg.SpecError, match=f'"word" of the table.* has the collation {kind}'):
        hg.CachedLookup(table=hg.SparkTable(collated), **asked)
    stream = berlin.readStream.format("rate").load()
    words = stream.select(F.collate(F.lit("A"), kind).alias("word"))
    lookup = hg.CachedLookup(table=hg.ArrowTable(plain.toArrow()), **asked)
    with pytest.raises(hg.SpecError, match=f'"word" of the stream has the collation {kind}'):
        lookup.stream(words)
