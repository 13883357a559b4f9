"""The streaming queries to compare: each takes the two sides and returns one DataFrame."""

from collections.abc import Callable
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from headgate.api.window_join import WindowJoin
from headgate.spark.requirements import CHANGELOG, PROVIDER, ROCKSDB
from headgate.spec import Budget, Side

HDFS = "org.apache.spark.sql.execution.streaming.state.HDFSBackedStateStoreProvider"
MINUTE = "60 seconds"
Contender = Callable[[SparkSession, Path, Path], DataFrame]


def read_side(session: SparkSession, place: Path, prefix: str) -> DataFrame:
    """Read a side as a stream with a watermark, one file per batch."""
    schema = session.read.parquet(str(place)).schema
    return (
        session.readStream.schema(schema)
        .option("maxFilesPerTrigger", 1)
        .parquet(str(place))
        .withWatermark(f"{prefix}_time", "0 seconds")
    )


def spark_builtin(window: str = MINUTE) -> Contender:
    """Spark's own stream-stream join on its default state store."""

    def build(session: SparkSession, left: Path, right: Path) -> DataFrame:
        session.conf.set(PROVIDER, HDFS)
        return between(read_side(session, left, "l"), read_side(session, right, "r"), window)

    return build


def between(left: DataFrame, right: DataFrame, window: str) -> DataFrame:
    """Spark's own stream-stream join within a window either way."""
    reach = F.expr(f"interval {window}")
    return left.join(
        right.withColumnRenamed("key", "r_key"),
        (F.col("key") == F.col("r_key"))
        & (F.col("r_time") <= F.col("l_time") + reach)
        & (F.col("r_time") >= F.col("l_time") - reach),
    )


def headgate(budget: Budget, policy: str = "auto", window: str = MINUTE) -> Contender:
    """Headgate with a budget."""

    def build(session: SparkSession, left: Path, right: Path) -> DataFrame:
        session.conf.set(PROVIDER, ROCKSDB)
        session.conf.set(CHANGELOG, "true")
        join = WindowJoin(
            on="key",
            left=Side(time="l_time", window=window),
            right=Side(time="r_time", window=window),
            budget=budget,
            policy=policy,
        )
        return join.stream(read_side(session, left, "l"), read_side(session, right, "r"))

    return build


def identity(session: SparkSession, left: Path, right: Path) -> DataFrame:
    """The lower bound on cost: pass the same rows through ``mapInArrow`` without joining."""
    sides = [
        read_side(session, place, prefix).toDF("key", "time", "value", "text")
        for place, prefix in ((left, "l"), (right, "r"))
    ]
    return sides[0].unionAll(sides[1]).mapInArrow(lambda batches: batches, sides[0].schema)
