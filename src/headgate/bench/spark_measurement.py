"""Runs a streaming query to the end of its input and measures its steady batches."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame

from headgate.spark.spark_versions import figures_of

WARM_UP_BATCHES = 3


@dataclass(frozen=True)
class SparkMeasurement:
    """Figures of a query's steady batches."""

    rows: int
    seconds: float
    batch_seconds: tuple[float, ...]
    state_rows: int
    state_bytes: int
    metrics: tuple[dict[str, Any], ...]

    @property
    def rows_per_second(self) -> float:
        """Input rows per second, both sides together."""
        return self.rows / self.seconds


def measure(
    frame: DataFrame,
    checkpoint: Path,
    on_batch: Callable[[dict[str, Any]], None] | None = None,
    most_seconds: float = 600.0,
    *,
    warm_up: int = WARM_UP_BATCHES,
) -> SparkMeasurement:
    """Run to the end of the input (or of the time given), discarding the output.

    Two kinds of batch are excluded: the first ones (``warm_up``), which start processes and
    compile code, and those without input, which only clean up.
    """
    query = frame.writeStream.format("noop").option("checkpointLocation", str(checkpoint)).start()
    seen: list[dict[str, Any]] = []
    started = time.monotonic()
    try:
        done = False
        while not done and time.monotonic() - started < most_seconds:
            ended, status = query.awaitTermination(1), query.status
            # Before its first batch a query that is still starting looks like one that is done.
            done = ended or (
                bool(seen) and not (status["isDataAvailable"] or status["isTriggerActive"])
            )
            known = {progress["batchId"] for progress in seen}
            for progress in query.recentProgress:
                if progress["batchId"] not in known and progress["numInputRows"]:
                    seen.append(dict(progress))
                    if on_batch:
                        on_batch(seen[-1])
    finally:
        query.stop()
    steady = seen[warm_up:]
    if not steady:
        raise RuntimeError("no steady batch: the input is too short, or a batch takes too long")
    batch_seconds = tuple(p["durationMs"]["triggerExecution"] / 1000 for p in steady)
    operators = steady[-1]["stateOperators"]
    return SparkMeasurement(
        rows=sum(p["numInputRows"] for p in steady),
        seconds=sum(batch_seconds),
        batch_seconds=batch_seconds,
        state_rows=sum(o["numRowsTotal"] for o in operators),
        state_bytes=sum(o["memoryUsedBytes"] for o in operators),
        metrics=tuple(
            {name: figures_of(told) for name, told in (p.get("observedMetrics") or {}).items()}
            for p in steady
        ),
    )
