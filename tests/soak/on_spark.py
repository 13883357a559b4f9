"""Soak of a real query: Spark makes the rows itself, so that nothing but the join takes room."""

import math
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import psutil
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

import headgate as hg
from headgate.spark.spark_versions import figures_of
from tests.soak.curve import Curve, files_in, recall_of
from tests.soak.in_process import DEFINITIONS, REDEFINED_EVERY, WINDOW
from tests.soak.soaked_stream import (
    BURST_EVERY,
    BURST_US,
    CALM_US,
    ONE_SIDED_EVERY,
    SILENCE_EVERY,
    SILENCE_US,
    START_US,
    SoakedStream,
)

PATIENCE_S = 600


def side_of(spark: SparkSession, stream: SoakedStream, side: int) -> DataFrame:
    """A side of the same kind of stream as in process, a chunk a batch, from row numbers alone."""
    rows = stream.rows // 2
    made = (
        spark.readStream.format("rate-micro-batch")
        .option("rowsPerBatch", rows)
        .option("numPartitions", 2)
        .load()
    )
    chunk = F.floor(F.col("value") / rows)
    place = (F.col("value") % rows) / rows
    chance = F.pmod(F.xxhash64("value", F.lit(stream.seed + side)), F.lit(1 << 30)) / (1 << 30)
    bursts, silences = F.floor(chunk / BURST_EVERY), F.floor(chunk / SILENCE_EVERY)
    begin = START_US + (chunk - bursts) * CALM_US + bursts * BURST_US + silences * SILENCE_US
    span = F.when(chunk % BURST_EVERY == BURST_EVERY - 1, BURST_US).otherwise(CALM_US)
    time_name, worth = (("at", "price"), ("bt", "fee"))[side]
    frame = made.select(
        (F.floor(stream.keys * F.pow(chance, 3)) + chunk * stream.drift).alias("key"),
        F.timestamp_micros((begin + place * span).cast("long")).alias(time_name),
        F.rand(stream.seed + side).alias(worth),
        chunk.alias("chunk"),
    )
    if side == 1:
        frame = frame.where(F.col("chunk") % ONE_SIDED_EVERY != ONE_SIDED_EVERY - 1)
    return frame.drop("chunk").withWatermark(time_name, "0 seconds")


def soak(
    arrivals: int,
    percent: float,
    stream: SoakedStream,
    report: Callable[[str], None],
    deadline: float = math.inf,
    settings: Mapping[str, str] | None = None,
) -> tuple[Curve, list[str]]:
    """Run a query over so many arrivals; the curve, and what went wrong.

    It ends earlier at the deadline, by the clock. ``settings`` are further ones of the session.
    """
    spark = hg.session("soak", master="local[2]", settings=settings)
    rows = round(stream.rows * 10 * percent / 100)
    join = hg.WindowJoin(
        on="key",
        left=hg.Side(time="at", window=WINDOW),
        right=hg.Side(time="bt", window=WINDOW),
        budget=hg.Budget(rows=rows),
        policy="prob",
        goal=DEFINITIONS[0],
    )
    curve = Curve("On Spark")
    wrong: list[str] = []
    with tempfile.TemporaryDirectory(prefix="soak-") as name:
        folder = Path(name)
        told = folder / "definitions"
        told.mkdir()
        frame = join.stream(
            side_of(spark, stream, 0), side_of(spark, stream, 1), shards=2, redefined=str(told)
        )
        query = (
            frame.writeStream.format("noop")
            .option("checkpointLocation", str(folder / "checkpoint"))
            .start()
        )
        last, heard = -1, time.monotonic()
        try:
            while not curve.arrivals or (curve.arrivals[-1] < arrivals and time.time() < deadline):
                if query.exception() is not None:
                    return curve, [*wrong, str(query.exception())]
                if time.monotonic() - heard > PATIENCE_S:
                    return curve, [*wrong, f"no batch for {PATIENCE_S} s"]
                for batch in query.recentProgress:
                    if batch["batchId"] <= last or "headgate" not in batch["observedMetrics"]:
                        continue
                    last, heard = batch["batchId"], time.monotonic()
                    if last % REDEFINED_EVERY == REDEFINED_EVERY - 1:
                        DEFINITIONS[last // REDEFINED_EVERY % 2].publish(told)
                    wrong += _noted(curve, dict(batch), folder, rows)
                    report(f"{curve.arrivals[-1]:,} arrivals, {curve.figures['batch_s'][-1]:.1f} s")
                time.sleep(0.2)
        finally:
            query.stop()
            spark.stop()
    return curve, wrong + curve.grown()


def _noted(curve: Curve, batch: dict[str, Any], folder: Path, rows: int) -> list[str]:
    """Add a batch to the curve; what is wrong with it."""
    figures = figures_of(batch["observedMetrics"]["headgate"])
    files, megabytes = files_in(folder / "checkpoint")
    stores = batch["stateOperators"]
    curve.add(
        batch["numInputRows"],
        batch_s=batch["durationMs"]["triggerExecution"] / 1000,
        **_processes(),
        store_MB=sum(each["memoryUsedBytes"] for each in stores) / 1e6,
        store_keys=sum(each["numRowsTotal"] for each in stores),
        tables_MB=sum(each["customMetrics"].get("rocksdbSstFileSize", 0) for each in stores) / 1e6,
        checkpoint_MB=megabytes,
        checkpoint_files=files,
        stored_rows=figures["stored_rows"],
        recall=recall_of(figures),
        redefinitions=figures["redefined"],
    )
    over = figures["peak_rows"] > rows
    return [f"batch {batch['batchId']} stored {figures['peak_rows']:,}"] if over else []


def _processes() -> dict[str, float]:
    """Memory of Java and of Python's workers, open files and threads of all."""
    java = workers = handles = threads = 0.0
    for child in psutil.Process().children(recursive=True):
        try:
            info = child.memory_full_info()
            handles, threads = handles + child.num_fds(), threads + child.num_threads()
            if "java" in child.name():
                java += info.rss / 1e6
            else:
                workers += info.uss / 1e6
        except psutil.NoSuchProcess:
            continue
    return {
        "java_MB": java,
        "workers_MB": workers,
        "open_handles": handles,
        "all_threads": threads,
    }
