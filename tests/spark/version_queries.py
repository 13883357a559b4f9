"""Queries of a version of a join, for tests that restart them as another."""

import json
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming import StreamingQuery

from tests.spark.restart_cases import TIMES, Lived, Version, table_of
from tests.spark.streams import schema_of, write_side


def stream_of(spark: SparkSession, folder: Path, version: Version) -> DataFrame:
    frames = []
    for side, name in enumerate(("left", "right")):
        schema = schema_of(spark, table_of([], side, version), folder / f"schema-{name}")
        frames.append(
            spark.readStream.schema(schema)
            .option("maxFilesPerTrigger", 1)
            .parquet(str(folder / name))
            .withWatermark(TIMES[side], f"{version.delay} seconds")
        )
    return version.join().stream(*frames, shards=2, watermark=False)


def put_out(folder: Path, batch: int) -> list[str]:
    """The files that a batch has put out, by the log of the sink."""
    log = folder / "_spark_metadata" / str(batch)
    return [json.loads(line)["path"] for line in log.read_text().splitlines()[1:]]


def started(spark: SparkSession, folder: Path, version: Version, out: Path) -> StreamingQuery:
    """A query over all there is, with its checkpoint in the folder."""
    return (
        stream_of(spark, folder, version)
        .writeStream.format("parquet")
        .option("path", str(out))
        .option("checkpointLocation", str(folder / "checkpoint"))
        .trigger(availableNow=True)
        .start()
    )


def rows_of(spark: SparkSession, out: Path, batch: int) -> list[dict[str, Any]]:
    """The rows that a batch has put out."""
    paths = put_out(out, batch)
    return spark.read.parquet(*paths).toArrow().to_pylist() if paths else []


def bring(folder: Path, lived: Lived, batches: range, version: Version) -> None:
    """Write the files of some batches in the columns of a version, over those that are there."""
    for side, name in enumerate(("left", "right")):
        tables = [
            table_of([row for row in lived.rows[side] if row["batch"] == each], side, version)
            for each in batches
        ]
        write_side(folder / name, tables, batches.start)
