"""Streaming joins that learn, or of every kind, side by side in one program that tests kill.

Usage: killed_learners.py FOLDER FILES [KIND ...]. Reads FOLDER/rows, so many files a batch; writes
FOLDER/out/KIND, and carries on from FOLDER/checkpoint/KIND when started again. Both sides come from
one source: two that are killed may each have noted other files, and then rows come out of order.
"""

import sys
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession
from pyspark.sql import functions as F

import headgate as hg
from tests.spark.quick_session import quick_session
from tests.spark.quick_settings import NO_DATA_BATCHES

SCHEMA = "side int, key bigint, at timestamp, id bigint, worth double"
KINDS: dict[str, dict[str, Any]] = {
    "prob": {"policy": "prob"},
    "life": {"policy": "life"},
    "age": {"policy": "age"},
    "hist": {"policy": hg.policies.Hist("walk")},
    "auto": {"policy": "auto"},
    "sample": {"goal": hg.Sample("auto")},
    "importance": {"policy": "prob", "goal": hg.MaxImportance("worth")},
}
"""Joins that learn."""
HOWS: dict[str, dict[str, Any]] = {
    how: {"how": how, "budget": hg.Budget(rows=100_000)}
    for how in ("left", "right", "full", "semi", "anti")
}
"""Kinds of join with memory to spare: when rows without a partner are given up depends on how far
behind the watermark is, and so on where batches are cut."""


def session() -> SparkSession:
    """A session that starts soon."""
    local = {"spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1"}
    # What comes out at the end must not depend on where the last batch began.
    at_the_end = {NO_DATA_BATCHES: "true"}
    return quick_session("local[2]", {**local, **at_the_end, "spark.sql.shuffle.partitions": "2"})


def main(folder: Path, files: int, kinds: list[str]) -> None:
    """Run the queries over all there is."""
    spark = session()
    queries = []
    for kind in kinds:
        rows = (
            spark.readStream.schema(SCHEMA)
            .option("maxFilesPerTrigger", files)
            .parquet(str(folder / "rows"))
            .withWatermark("at", "20 seconds")
        )
        left, right = (
            rows.where(F.col("side") == number).select(
                "key",
                F.col("at").alias(f"{side}_at"),
                F.col("id").alias(f"{side}_id"),
                F.col("worth").alias(f"{side}_worth" if kind != "importance" else "worth"),
            )
            for number, side in enumerate(("left", "right"))
        )
        join = hg.WindowJoin(
            on="key",
            left=hg.Side(time="left_at", window="5 minutes"),
            right=hg.Side(time="right_at", window="5 minutes"),
            **{"budget": hg.Budget(rows=500, monitor=0.25), **{**KINDS, **HOWS}[kind]},
        )
        joined = join.stream(left, right, shards=2, watermark=False)
        queries.append(
            joined.select(*(name for name in ("left_id", "right_id") if name in joined.columns))
            .writeStream.format("parquet")
            .option("path", str(folder / "out" / kind))
            .option("checkpointLocation", str(folder / "checkpoint" / kind))
            .trigger(availableNow=True)
            .start()
        )
    for query in queries:
        query.awaitTermination()
    spark.stop()


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3:] or [*KINDS])
