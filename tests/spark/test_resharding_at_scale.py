"""A million stored rows resharded, from one shard to eight and back: exact, and what it takes.

Run by name, with ``-s`` to see the table.
"""

import sys
import threading
from pathlib import Path

import duckdb
import numpy as np
import psutil
import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

import headgate as hg
from tests.spark.query_lives import PARTITIONS
from tests.spark.streams import START_US, read_side, timestamps, write_side

pytestmark = [pytest.mark.spark, pytest.mark.slow, pytest.mark.timeout(3600)]

STORED, PER_FILE, FIRST_FILES = 1_000_000, 100_000, 5
CUTS = (1, 2, 8, 2, 1)
NAMES = ("left", "right")
KEYS = 300_000


class Peak:
    """The most memory that this process's Python workers, and its Java, had within the context."""

    def __init__(self) -> None:
        self.worker_bytes = self.java_bytes = 0
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> "Peak":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._stop.wait(0.2):
            for child in psutil.Process().children(recursive=True):
                try:
                    size, name = child.memory_info().rss, child.name()
                except psutil.Error:
                    continue
                if "java" in name:
                    self.java_bytes = max(self.java_bytes, size)
                elif "python" in name:
                    self.worker_bytes = max(self.worker_bytes, size)


def table_of(rng: np.random.Generator, side: int, number: int) -> pa.Table:
    """A file of rows of one minute."""
    seconds = number * 60 + np.sort(rng.integers(0, 60_000_000, PER_FILE)) / 1e6
    return pa.table(
        {
            "key": rng.integers(0, KEYS, PER_FILE),
            f"{NAMES[side]}_at": timestamps(START_US + (seconds * 1e6).astype(np.int64)),
            f"{NAMES[side]}_id": np.arange(PER_FILE, dtype=np.int64) + PER_FILE * number,
        }
    )


def joined(budget: hg.Budget) -> hg.WindowJoin:
    """Every row waits an hour: none expires."""
    return hg.WindowJoin(
        on="key",
        left=hg.Side(time="left_at", window="1 hour"),
        right=hg.Side(time="right_at", window="1 hour"),
        budget=budget,
        policy="fifo",
    )


class Scaled:
    """The query, run file by file."""

    def __init__(self, spark: SparkSession, folder: Path, budget: hg.Budget) -> None:
        self.spark, self.folder, self.budget = spark, folder, budget
        self.rng = np.random.default_rng(61)
        self.files = 0

    def bring(self, count: int) -> None:
        for number in range(self.files, self.files + count):
            for side, name in enumerate(NAMES):
                write_side(self.folder / name, [table_of(self.rng, side, number)], first=number)
        self.files += count

    def run(self, shards: int, checkpoint: Path) -> dict[str, int]:
        self.spark.conf.set(PARTITIONS, str(shards))
        left, right = (
            read_side(
                self.spark,
                self.folder / name,
                f"key bigint, {name}_at timestamp, {name}_id bigint",
                f"{name}_at",
            )
            for name in NAMES
        )
        query = (
            joined(self.budget)
            .stream(left, right, shards=shards)
            .writeStream.format("parquet")
            .option("path", str(self.folder / "out"))
            .option("checkpointLocation", str(checkpoint))
            .trigger(availableNow=True)
            .start()
        )
        query.awaitTermination()
        progress = query.recentProgress
        stored = [each["observedMetrics"]["headgate"]["stored_rows"] for each in progress]
        return {"stored": stored[-1], "most": max(stored)}


@pytest.mark.parametrize("rows", [None, 400_000], ids=["ample", "tight"])
def test_a_million_rows_go_from_one_shard_to_eight_and_back(
    spark: SparkSession, tmp_path: Path, rows: int | None
) -> None:
    before = spark.conf.get(PARTITIONS)
    life = Scaled(spark, tmp_path, hg.Budget(rows=rows or 10 * STORED, monitor=0.0))
    life.bring(FIRST_FILES)
    checkpoint = tmp_path / "checkpoint-0"
    figures = life.run(CUTS[0], checkpoint)
    heads = f"{'shards':>8} {'rows':>10} {'read':>6} {'sort':>6} {'write':>6} {'worker':>8} java"
    sys.stdout.write(f"\n{heads}\n")
    for step, shards in enumerate(CUTS[1:], 1):
        with Peak() as peak:
            moved = hg.reshard(
                checkpoint, tmp_path / f"checkpoint-{step}", spark, shards=shards, memory="64 MB"
            )
        took = [moved.seconds[stage] for stage in ("read", "sort", "write")]
        sys.stdout.write(
            f"{CUTS[step - 1]:>3} -> {shards} {sum(moved.rows):>10,} "
            + " ".join(f"{seconds:5.1f}s" for seconds in took)
            + f" {peak.worker_bytes / 1e6:5.0f} MB {peak.java_bytes / 1e6:5.0f} MB\n"
        )
        assert sum(moved.rows) == figures["stored"]
        checkpoint = moved.checkpoint
        life.bring(1)
        figures = life.run(shards, checkpoint)
        assert rows is None or figures["most"] <= rows
    spark.conf.set(PARTITIONS, before or "1")
    left, right, out = (f"'{tmp_path}/{name}/*.parquet'" for name in (*NAMES, "out"))
    pairs = "SELECT left_id, right_id FROM {l} l JOIN {r} r ON l.key = r.key"
    exact = pairs.format(l=left, r=right)
    made = f"SELECT left_id, right_id FROM {out}"
    with duckdb.connect() as database:
        total, missing = (
            database.sql(f"SELECT count(*) FROM ({query})").fetchall()[0][0]
            for query in (exact, f"({exact}) EXCEPT ALL ({made})")
        )
        invented = database.sql(f"SELECT count(*) FROM (({made}) EXCEPT ALL ({exact}))").fetchall()
    sys.stdout.write(f"result rows {total:,}, missing {missing:,}, invented {invented[0][0]:,}\n")
    assert invented[0][0] == 0
    assert (missing == 0) == (rows is None)
    assert rows is not None or figures["stored"] >= STORED
