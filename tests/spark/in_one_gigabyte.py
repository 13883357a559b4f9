"""Joins and lookups with wide rows and many results, in a session of Spark's default memory.

Usage: in_one_gigabyte.py FOLDER PART...; writes what came out to FOLDER/said.json.
"""

import json
import os
import sys
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

import headgate as hg
from headgate.bench.bench_workload import BenchWorkload
from headgate.bench.contenders import headgate
from headgate.lookup.parquet_table import ParquetTable
from headgate.spark.requirements import PROVIDER, ROCKSDB
from tests.spark.streams import START_US, read_side, timestamps, write_side

SECOND_US = 1_000_000
DAY_US = 86_400 * SECOND_US
SCHEMA = "key long, time timestamp, text string"


def rows(number: int, width: int, at: int, alone: bool = False) -> pa.Table:
    """Rows of one key and time, or each of its own; ``at`` keeps batches apart."""
    text = [f"{place:08d}" * (width // 8) for place in range(number)]
    own = np.arange(number) * int(alone)
    time = timestamps(START_US + at * DAY_US + own * SECOND_US)
    return pa.table({"key": at * 1_000_000 + own, "time": time, "text": text})


BATCHES = {
    "many-results": (150, 20_000, False),
    "wide-arrivals": (12_000, 16_000, True),
    "widest-rows": (16, 1_000_000, False),
}
"""Rows a side, bytes a row, and whether each key is of one row."""


def join() -> hg.WindowJoin:
    side = hg.Side(time="time", window="1 second")
    budget = hg.Budget(memory="128 MB")
    return hg.WindowJoin(on="key", left=side, right=side, budget=budget, policy="random")


def summed(frame: DataFrame) -> DataFrame:
    return frame.observe("out", F.count("*").alias("rows"), F.sum(F.length("text")).alias("bytes"))


def streamed(frame: DataFrame, checkpoint: Path) -> list[int]:
    query = (
        summed(frame)
        .writeStream.format("noop")
        .option("checkpointLocation", str(checkpoint))
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination()
    seen = [progress["observedMetrics"].get("out") for progress in query.recentProgress]
    return [figure for row in seen if row and row["rows"] for figure in (row["rows"], row["bytes"])]


def stream(spark: SparkSession, folder: Path, names: list[str]) -> list[int]:
    sides = []
    for side in ("left", "right"):
        tables = [rows(*BATCHES[name][:2], at, BATCHES[name][2]) for at, name in enumerate(names)]
        sides.append(read_side(spark, write_side(folder / side, tables), SCHEMA, "time"))
    return streamed(join().stream(*sides, watermark=False), folder / "checkpoint")


def batch(spark: SparkSession, folder: Path, names: list[str]) -> list[int]:
    table = pa.concat_tables(
        rows(*BATCHES[name][:2], at, BATCHES[name][2]) for at, name in enumerate(names)
    )
    place = write_side(folder / "bounded", [table])
    sides = [spark.read.schema(SCHEMA).parquet(str(place)) for _ in "lr"]
    out = join().batch(*sides).agg(F.count("*"), F.sum(F.length("text"))).first()
    return list(out or ())


def lookup(spark: SparkSession, folder: Path) -> list[int]:
    """Six hundred rows look up three of a megabyte."""
    table = pa.table({"key": pa.array([0, 1, 2]), "text": ["0123456789" * 100_000] * 3})
    given = pa.table({"key": pa.array([place % 4 for place in range(800)], pa.int64())})
    place = write_side(folder / "references", [given])
    pq.write_table(table, folder / "table.parquet")
    stored = ParquetTable(str(folder / "table.parquet"), table.schema)
    frame = spark.readStream.schema("key long").parquet(str(place))
    cached = hg.CachedLookup(table=stored, on="key", budget=hg.Budget(memory="8 MB"))
    return streamed(cached.stream(frame), folder / "lookup-checkpoint")


def skewed(spark: SparkSession, folder: Path, watch: "Watch", window: str) -> list[dict[str, int]]:
    """Zipf keys, 40,000 rows a side and batch: results by the hundred million. The curve."""
    sides = BenchWorkload((40_000,) * 5, keys=1_000, zipf=1.1).write(folder)
    frame = headgate(hg.Budget(memory="64 MB"), "random", window)(spark, *sides)
    query = (
        frame.writeStream.format("noop")
        .option("checkpointLocation", str(folder / "skewed-checkpoint"))
        .trigger(availableNow=True)
        .start()
    )
    curve: list[dict[str, int]] = []
    done = False
    while not done:
        done = query.awaitTermination(1)
        for progress in query.recentProgress[len(curve) :]:
            figures = progress["observedMetrics"]["headgate"]
            point = {"pairs": figures["pairs"], "held": figures["held_bytes"]}
            curve.append(point | {"worker": watch.since_last(), "ms": progress["batchDuration"]})
    return curve


class Watch(threading.Thread):
    """The most memory, of its own, that any Python worker has."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.peak = self._recent = 0
        self._done = threading.Event()

    def run(self) -> None:
        while not self._done.wait(0.1):
            now = max((own_bytes(pid) for pid in descendants(os.getpid())), default=0)
            self.peak, self._recent = max(self.peak, now), max(self._recent, now)

    def since_last(self) -> int:
        """The most since this was last asked for."""
        recent, self._recent = self._recent, 0
        return recent

    def stop(self) -> int:
        self._done.set()
        self.join()
        return self.peak


def descendants(pid: int) -> list[int]:
    try:
        children = [
            int(child)
            for task in Path(f"/proc/{pid}/task").iterdir()
            for child in (task / "children").read_text().split()
        ]
    except OSError:
        return []
    return children + [later for child in children for later in descendants(child)]


def own_bytes(pid: int) -> int:
    """What a Python process has in memory, but for mapped files: those can be given back."""
    try:
        if "python" not in Path(f"/proc/{pid}/exe").readlink().name:
            return 0
        status = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return 0
    kilobytes = [line.split()[1] for line in status if line.startswith("RssAnon:")]
    return int(kilobytes[0]) * 1024 if kilobytes else 0


def session() -> SparkSession:
    spark = (
        SparkSession.builder.master("local[2]")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.sql.shuffle.partitions", "2")
        # The reader of files holds a batch of decoded rows on the heap, whatever is done with them.
        .config("spark.sql.parquet.columnarReaderBatchSize", "256")
        .config(PROVIDER, ROCKSDB)
        .getOrCreate()
    )
    spark.sparkContext.setLogLevel("ERROR")
    return spark


def main(parts: list[str], folder: Path) -> dict[str, Any]:
    spark, watch = session(), Watch()
    watch.start()
    names = [part for part in parts if part in BATCHES]
    said: dict[str, Any] = {"heap": spark._jvm.java.lang.Runtime.getRuntime().maxMemory()}
    if "lookup" in parts:
        said["lookup"] = lookup(spark, folder)
    if "stream" in parts:
        said["stream"] = stream(spark, folder, names)
    if "batch" in parts:
        said["batch"] = batch(spark, folder, names)
    for part in parts:
        if part.startswith("skewed:"):
            said["skewed"] = skewed(spark, folder, watch, part.removeprefix("skewed:"))
    said["worker"] = watch.stop()
    spark.stop()
    return said


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    (folder / "said.json").write_text(json.dumps(main(sys.argv[2:], folder)))
