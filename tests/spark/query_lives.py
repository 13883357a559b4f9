"""Queries that are stopped, changed and restarted: their input, and their output over time."""

import hashlib
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

import headgate as hg
from headgate.spark.spark_versions import figures_of
from tests.spark.streams import START_US, multiset, read_side, timestamps, write_side

SCHEMAS = (
    "key bigint, left_at timestamp, left_id bigint, note string",
    "key bigint, right_at timestamp, right_id bigint",
)
TIMES = ("left_at", "right_at")
NAMES = ("left", "right")
PARTITIONS = "spark.sql.shuffle.partitions"
PROVIDER = "spark.sql.streaming.stateStore.providerClass"
STORES = {
    "files": "org.apache.spark.sql.execution.streaming.state.HDFSBackedStateStoreProvider",
    "rocksdb": "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider",
}
FIRST_FILES, FILES = 3, 6
"""Files of each side until the query is stopped, and in all."""

ROWS = 200
"""Of each file."""

Query = Callable[[DataFrame, DataFrame], DataFrame]


def join(**asked: Any) -> hg.WindowJoin:
    """The join, within an ample budget unless told otherwise."""
    given: dict[str, Any] = {"budget": hg.Budget(rows=1_000_000), "policy": "fifo", **asked}
    return hg.WindowJoin(
        on="key",
        left=hg.Side(time="left_at", window="2 minutes"),
        right=hg.Side(time="right_at", window="1 minute"),
        **given,
    )


class Life:
    """A query from its first batch to its last, with its input and output in a folder.

    Some rows have no key, with ``nulls``. A tenth of the rows is out of order, up to four minutes,
    so that some are late.
    """

    def __init__(self, spark: SparkSession, folder: Path, seed: int, nulls: bool = True) -> None:
        self.spark, self.folder = spark, folder
        rng = np.random.default_rng(seed)
        self._files = [
            [self._made(rng, side, number, nulls) for number in range(FILES)] for side in (0, 1)
        ]
        self._there = 0
        self.metrics: list[dict[str, Any]] = []

    @staticmethod
    def _made(rng: np.random.Generator, side: int, number: int, nulls: bool) -> pa.Table:
        rows = ROWS
        seconds = number * 60 + rng.integers(0, 60, rows)
        # The last but one moves the watermark past all windows, which takes effect with the last.
        seconds += 3600 * max(0, number - (FILES - 3))
        seconds -= np.where(rng.random(rows) < 0.1, rng.integers(0, 240, rows), 0)
        name = NAMES[side]
        columns = {
            "key": pa.array(rng.integers(0, 60, rows), mask=rng.random(rows) < 0.02 * nulls),
            f"{name}_at": timestamps(START_US + 300_000_000 + seconds * 1_000_000),
            f"{name}_id": np.arange(rows) + rows * number,
        }
        if side == 0:
            columns["note"] = pa.array([None if at % 7 == 0 else f"n{at}" for at in seconds])
        return pa.table(columns)

    def bring(self, files: int) -> None:
        """Let so many files of each side be there."""
        for name, tables in zip(NAMES, self._files, strict=True):
            write_side(self.folder / name, tables[self._there : files], first=self._there)
        self._there = files

    def sides(self) -> tuple[DataFrame, DataFrame]:
        """Both streams, a file a batch."""
        left, right = (
            read_side(self.spark, self.folder / name, schema, time, "20 seconds")
            for name, schema, time in zip(NAMES, SCHEMAS, TIMES, strict=True)
        )
        return left, right

    def run(self, query: Query, checkpoint: Path, out: str = "out") -> Counter:
        """Run a query over all that is there; what it has put out so far, over its whole life."""
        target = self.folder / out
        started = (
            query(*self.sides())
            .writeStream.format("parquet")
            .option("path", str(target))
            .option("checkpointLocation", str(checkpoint))
            .trigger(availableNow=True)
            .start()
        )
        started.awaitTermination()
        self.metrics = [
            figures_of(progress["observedMetrics"]["headgate"])
            for progress in started.recentProgress
            if "headgate" in progress["observedMetrics"]
        ]
        return multiset(self.spark.read.parquet(str(target)))


def streamed(shards: int, **asked: Any) -> Query:
    """The join as a query with so many shards."""
    return lambda left, right: join(**asked).stream(left, right, shards=shards)


def listing(folder: Path) -> dict[str, tuple[int, str]]:
    """Every file in a folder, with the time of its last change and a hash of its bytes."""
    return {
        str(file.relative_to(folder)): (
            file.stat().st_mtime_ns,
            hashlib.sha256(file.read_bytes()).hexdigest(),
        )
        for file in sorted(folder.rglob("*"))
        if file.is_file()
    }
