"""Streams for tests: sides written as one file a micro-batch, read back, joined and collected.

Also Spark's rules for watermarks and late rows, in plain Python, so that the exact result of a
stream can be asked of any SQL engine.
"""

import os
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming import StreamingQuery
from pyspark.sql.types import StructType

from headgate.columns.times import NO_TIME, microseconds
from headgate.spark.spark_versions import figures_of

START_US = 1_767_225_600_000_000
"""2026-01-01: rows stamped 0 would be at the first watermark, and late."""

FIRST_FILE_TIME = 1_700_000_000


class Collected(NamedTuple):
    """What a query put out, and the metrics of each batch."""

    rows: Counter
    metrics: list[dict[str, int]]
    query: StreamingQuery | None = None

    def total(self, figure: str) -> int:
        """A figure summed over all batches."""
        return sum(batch[figure] for batch in self.metrics)


def timestamps(micros: Sequence[int] | np.ndarray, nulls: np.ndarray | None = None) -> pa.Array:
    """Times as Spark wants them in a parquet file."""
    return pa.array(np.asarray(micros, np.int64), mask=nulls).cast(pa.timestamp("us", "UTC"))


def write_side(folder: Path, batches: Sequence[pa.Table], first: int = 0) -> Path:
    """One file a micro-batch; Spark takes them in order of their time of change."""
    folder.mkdir(parents=True, exist_ok=True)
    for number, table in enumerate(batches, first):
        unseen = folder / f"_{number:04d}"
        pq.write_table(table, unseen)
        os.utime(unseen, (FIRST_FILE_TIME + number, FIRST_FILE_TIME + number))
        unseen.rename(folder / f"{number:04d}.parquet")
    return folder


def read_side(
    spark: SparkSession, folder: Path, schema: StructType | str, time: str, delay: str = "0 seconds"
) -> DataFrame:
    """The files as a stream, one a micro-batch."""
    frame = spark.readStream.schema(schema).option("maxFilesPerTrigger", 1).parquet(str(folder))
    return frame.withWatermark(time, delay)


def schema_of(spark: SparkSession, table: pa.Table, folder: Path) -> StructType:
    """The Spark schema of an Arrow table, as parquet carries it."""
    folder.mkdir(parents=True, exist_ok=True)
    pq.write_table(table.slice(0, 0), folder / "schema.parquet")
    return spark.read.parquet(str(folder / "schema.parquet")).schema


def collect(frame: DataFrame, checkpoint: Path, name: str = "headgate") -> Collected:
    """Run a streaming query over all there is, into memory."""
    table = f"collected_{abs(hash(str(checkpoint)))}"
    query = (
        frame.writeStream.format("memory")
        .queryName(table)
        .option("checkpointLocation", str(checkpoint))
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination()
    metrics = [
        figures_of(progress["observedMetrics"][name])
        for progress in query.recentProgress
        if name in progress["observedMetrics"]
    ]
    rows = multiset(frame.sparkSession.table(table))
    frame.sparkSession.sql(f"DROP VIEW {table}")
    return Collected(rows, metrics, query)


def multiset(rows: "DataFrame | pa.Table | Sequence[tuple]") -> Counter:
    """Rows with how often each occurs; NaN equals NaN, and 0.0 equals -0.0."""
    if isinstance(rows, DataFrame):
        rows = rows.toArrow()
    if isinstance(rows, pa.Table):
        rows = list(zip(*(_plain(column) for column in rows.columns), strict=True))
    return Counter(tuple(_comparable(value) for value in row) for row in rows)


def _plain(column: pa.ChunkedArray) -> list[Any]:
    if pa.types.is_timestamp(column.type):
        column = column.cast(pa.timestamp("us", column.type.tz)).cast(pa.int64())
    return column.to_pylist()


def _comparable(value: Any) -> Any:
    if isinstance(value, float):
        return "NaN" if value != value else value + 0.0
    if isinstance(value, dict):
        return tuple(_comparable(part) for part in value.values())
    if isinstance(value, list):
        return tuple(_comparable(part) for part in value)
    if isinstance(value, bytearray | memoryview):
        return bytes(value)
    return value


def punctual(
    batches: tuple[Sequence[pa.Table], Sequence[pa.Table]],
    times: tuple[str, str],
    delays_us: tuple[int, int],
) -> tuple[pa.Table, pa.Table]:
    """The rows of each side that Spark does not drop as late.

    A batch's watermark is the lesser of the sides' (latest time up to the batch before, less the
    delay), in whole milliseconds; rows at or before the watermark *of the batch before* are late.
    """
    kept: tuple[list[pa.Table], list[pa.Table]] = ([], [])
    latest = [0, 0]
    before = now = 0
    for number in range(max(len(batches[0]), len(batches[1]))):
        for side in (0, 1):
            if number < len(batches[side]):
                table = batches[side][number]
                time = microseconds(table.column(times[side]))
                kept[side].append(
                    table.filter(pa.array((time > before * 1000) & (time != NO_TIME)))
                )
                timed = time[time != NO_TIME]
                if len(timed):
                    newest = int(timed.max()) // 1000 - delays_us[side] // 1000
                    latest[side] = max(latest[side], newest)
        before, now = now, max(now, min(latest))
    return pa.concat_tables(kept[0]), pa.concat_tables(kept[1])
