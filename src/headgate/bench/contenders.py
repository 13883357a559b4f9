"""The streaming queries to compare: each takes the two sides and returns one DataFrame.

Three of them join nothing. They show how much of a batch is Spark's own work: what passes rows
through Python, keeps state in Python at all, or takes rows to where state is kept and as many
results back, can be no faster.
"""

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.streaming.stateful_processor import StatefulProcessor, StatefulProcessorHandle

from headgate.api.window_join import WindowJoin
from headgate.policies import Random
from headgate.spark.carried_columns import ResultColumn
from headgate.spark.packing import PACKED, Packing
from headgate.spark.requirements import CHANGELOG, PROVIDER, ROCKSDB
from headgate.spark.row_output import row_frame, row_schema, rows_alone
from headgate.spark.shards import shard_labels
from headgate.spark.state.blobs import from_blob
from headgate.spark.worker_environment import own_workers
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


def spark_builtin(window: str = MINUTE, how: str = "inner") -> Contender:
    """Spark's own stream-stream join on its default state store."""

    def build(session: SparkSession, left: Path, right: Path) -> DataFrame:
        session.conf.set(PROVIDER, HDFS)
        sides = read_side(session, left, "l"), read_side(session, right, "r")
        return between(*sides, window, how)

    return build


def between(left: DataFrame, right: DataFrame, window: str, how: str = "inner") -> DataFrame:
    """Spark's own stream-stream join within a window either way."""
    reach = F.expr(f"interval {window}")
    return left.join(
        right.withColumnRenamed("key", "r_key"),
        (F.col("key") == F.col("r_key"))
        & (F.col("r_time") <= F.col("l_time") + reach)
        & (F.col("r_time") >= F.col("l_time") - reach),
        how,
    )


def headgate(
    budget: Budget, policy: str = "auto", window: str = MINUTE, how: str = "inner"
) -> Contender:
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
            how=how,
        )
        return join.stream(read_side(session, left, "l"), read_side(session, right, "r"))

    return build


def identity(session: SparkSession, left: Path, right: Path) -> DataFrame:
    """The lower bound for rows through Python: pass them on with ``mapInArrow``, join nothing."""
    sides = [
        read_side(session, place, prefix).toDF("key", "time", "value", "text")
        for place, prefix in ((left, "l"), (right, "r"))
    ]
    return sides[0].unionAll(sides[1]).mapInArrow(lambda batches: batches, sides[0].schema)


SHARDS = 2
LABELS = shard_labels(SHARDS, SHARDS)
"""Labels that Spark sends to two tasks; of 0 and 1 one task would do all the work."""


class _Nothing(StatefulProcessor):
    """Keeps one number for each shard."""

    def init(self, handle: StatefulProcessorHandle) -> None:
        self._rows = handle.getValueState("rows", "count long")

    def handleInputRows(  # type: ignore[override]  # the pandas form of the two
        self, key: Any, rows: Iterator[pd.DataFrame], timerValues: Any
    ) -> Iterator[pd.DataFrame]:
        count = int(sum(frame["rows"].sum() for frame in rows))
        self._rows.update((count,))
        yield pd.DataFrame({"rows": [count]})

    def close(self) -> None:
        """Nothing to release."""


def _count(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Read all rows, and send a number to every shard."""
    rows = sum(batch.num_rows for batch in batches)
    shards = pa.array(LABELS, pa.int32())
    yield pa.record_batch([shards, pa.array([rows] * SHARDS)], names=["shard", "rows"])


def no_join(session: SparkSession, left: Path, right: Path) -> DataFrame:
    """The lower bound for state in Python: read all rows, send one number to each shard."""
    with own_workers(session):
        counts = [
            read_side(session, place, prefix).mapInArrow(_count, "shard int, rows long")
            for place, prefix in ((left, "l"), (right, "r"))
        ]
        return (
            counts[0]
            .unionAll(counts[1])
            .groupBy("shard")
            .transformWithStateInPandas(
                statefulProcessor=_Nothing(),
                outputStructType="rows long",
                outputMode="append",
                timeMode="None",
            )
        )


class _PassedOn(StatefulProcessor):
    """Puts out the left side's rows as they came."""

    def init(self, handle: StatefulProcessorHandle) -> None:
        self._blobs = handle.getValueState("blobs", "count long")

    def handleInputRows(  # type: ignore[override]  # the pandas form of the two
        self, key: Any, rows: Iterator[pd.DataFrame], timerValues: Any
    ) -> Iterator[pd.DataFrame]:
        count = 0
        for frame in rows:
            count += len(frame)
            for blob in frame["blob"][frame["side"] == 0]:
                if len(blob):
                    yield row_frame(from_blob(blob))
        self._blobs.update((count,))

    def close(self) -> None:
        """Nothing to release."""


def there_and_back(session: SparkSession, left: Path, right: Path) -> DataFrame:
    """The lower bound for a join of this build: its transport, and half its rows as results.

    Rows are packed, shuffled to a processor with state, and put out as rows, as in a join; in
    between nothing is joined or stored.
    """
    schema = read_side(session, left, "l").schema
    shown = [ResultColumn(field.name, field.dataType) for field in schema.fields]
    policy = Random()
    with own_workers(session):
        packed = []
        for side, (place, prefix) in enumerate(((left, "l"), (right, "r"))):
            rows = read_side(session, place, prefix)
            pack = Packing(side, LABELS, tuple(rows.columns), ("key",), policy, hashed=True)
            packed.append(rows.mapInArrow(pack, PACKED))
        passed = (
            packed[0]
            .unionAll(packed[1])
            .groupBy("shard")
            .transformWithStateInPandas(
                statefulProcessor=_PassedOn(),
                outputStructType=row_schema(shown),
                outputMode="append",
                timeMode="None",
            )
        )
        return rows_alone(passed, shown)
