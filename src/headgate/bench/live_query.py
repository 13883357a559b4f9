"""Runs a join of two streams written in real time, and measures its CPU use from outside.

A thread writes one file per side every half second, with as many rows as the rate gives for the
time since the last; the query reads them as they appear. Processor time is that of Spark's Python
workers, as counted by the operating system.
"""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession

from headgate import Budget, Side, WindowJoin
from headgate.spark.spark_versions import figures_of

EVERY_S = 0.5
NOTES = 1
"""Columns of text of each side."""
SIDES = ("left", "right")
SCHEMAS = tuple(
    ", ".join(
        [
            f"key bigint, {side}_time timestamp, {side}_value double",
            *(f"{side}_note_{number} string" for number in range(NOTES)),
        ]
    )
    for side in SIDES
)


class LiveStreams(threading.Thread):
    """Writes both streams until told to stop; ``rate`` may be changed at any time.

    Parameters
    ----------
    folder
        Where the files go, one folder per side.
    rate
        Rows per second of each side.
    keys
        Number of different keys, all equally frequent.
    """

    def __init__(self, folder: Path, rate: float, keys: int) -> None:
        super().__init__(daemon=True)
        self.rate, self._keys, self._folder = rate, keys, folder
        self.written = 0
        self._stop_asked = threading.Event()
        for side in SIDES:
            (folder / side).mkdir(parents=True)

    def run(self) -> None:
        """Write files until stopped."""
        rng = np.random.default_rng(7)
        words = pa.array([f"note {number:020d}" for number in range(1000)])
        until, number = time.time(), 0
        while not self._stop_asked.wait(EVERY_S):
            now = time.time()
            for side in SIDES:
                rows = rng.poisson(self.rate * (now - until))
                times = np.sort(rng.uniform(until, now, rows) * 1e6).astype(np.int64)
                table = pa.table(
                    {
                        "key": rng.integers(0, self._keys, rows),
                        f"{side}_time": pa.array(times).cast(pa.timestamp("us", tz="UTC")),
                        f"{side}_value": rng.random(rows),
                        **{
                            f"{side}_note_{number}": words.take(rng.integers(0, len(words), rows))
                            for number in range(NOTES)
                        },
                    }
                )
                path = self._folder / side / f"{number:06d}.parquet"
                pq.write_table(table, path.with_suffix(".part"))
                path.with_suffix(".part").rename(path)
                self.written += rows
            until, number = now, number + 1

    def stop(self) -> None:
        """Stop writing."""
        self._stop_asked.set()
        self.join()


def joined(
    session: SparkSession, folder: Path, budget: Budget, window: str, policy: str = "auto"
) -> DataFrame:
    """The join of both streams within a budget."""
    sides = [
        session.readStream.schema(schema)
        .option("maxFilesPerTrigger", 1000)
        .parquet(str(folder / side))
        .withWatermark(f"{side}_time", "1 second")
        for side, schema in zip(SIDES, SCHEMAS, strict=True)
    ]
    join = WindowJoin(
        on="key",
        left=Side("left_time", window),
        right=Side("right_time", window),
        budget=budget,
        policy=policy,
    )
    # Operators after the join are not measured, and must not slow it down.
    return join.stream(sides[0], sides[1]).select("key")


def worker_seconds() -> float:
    """Processor time used by Spark's Python workers so far, in seconds."""
    total = 0.0
    for process in psutil.Process().children(recursive=True):
        try:
            if "pyspark.daemon" in process.cmdline():
                times = process.cpu_times()
                total += times.user + times.system
        except psutil.NoSuchProcess:
            continue
    return total


@dataclass(frozen=True)
class LiveStretch:
    """Figures of one stretch of a live query."""

    seconds: float
    worker_seconds: float
    batches: tuple[dict[str, Any], ...]
    written: int
    """Rows that came in it."""

    @property
    def cores(self) -> float:
        """Processor time of the Python workers, in cores."""
        return self.worker_seconds / self.seconds

    def total(self, figure: str) -> int:
        """Sum one of the join's metrics over all batches."""
        return sum(
            int(figures_of(batch["observedMetrics"]["headgate"])[figure]) for batch in self.batches
        )

    @property
    def longest_batch_s(self) -> float:
        """Duration of the longest batch, in seconds."""
        return max(float(batch["durationMs"]["triggerExecution"]) / 1000 for batch in self.batches)

    @property
    def read(self) -> int:
        """Number of rows read."""
        return sum(int(batch["numInputRows"]) for batch in self.batches)


class LiveQuery:
    """A running query over live streams, measured stretch by stretch."""

    def __init__(self, frame: DataFrame, checkpoint: Path, streams: LiveStreams) -> None:
        self._streams = streams
        self._query = (
            frame.writeStream.format("noop")
            .option("checkpointLocation", str(checkpoint))
            .trigger(processingTime="1 second")
            .start()
        )
        self._seen = -1

    def watch(
        self, seconds: float, on_batch: Callable[[dict[str, Any]], None] | None = None
    ) -> LiveStretch:
        """Let the query run for a while and return the figures of that stretch."""
        began, before, written = time.monotonic(), worker_seconds(), self._streams.written
        batches: list[dict[str, Any]] = []
        while time.monotonic() - began < seconds:
            if self._query.awaitTermination(1):
                break
            for progress in self._query.recentProgress:
                if progress["batchId"] > self._seen and progress["numInputRows"]:
                    self._seen = progress["batchId"]
                    batches.append(dict(progress))
                    if on_batch:
                        on_batch(batches[-1])
        passed = time.monotonic() - began
        return LiveStretch(
            passed,
            worker_seconds() - before,
            tuple(batches),
            self._streams.written - written,
        )

    def stop(self) -> None:
        """Stop the query."""
        self._query.stop()
