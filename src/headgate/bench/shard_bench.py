"""Benchmark of shards under skew: recall when memory stays, moves, or frequent keys are split."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import SparkSession
from rich.table import Table

from headgate.api.window_join import WindowJoin
from headgate.bench.bench_workload import Workload
from headgate.bench.contenders import read_side
from headgate.bench.spark_measurement import measure
from headgate.spark.requirements import CHANGELOG, PROVIDER, ROCKSDB
from headgate.spec import Budget, Side

BATCHES, ROWS_A_BATCH = 40, 2_000
WINDOW_S = 6
"""6,000 rows a side."""
BUDGET = 1_200
"""A tenth of the rows in both windows."""
SHARDS = 4
HOT = [0]
"""The most frequent key; a tenth of all rows."""
JUDGED = BATCHES // 2
"""Batches that are judged, the last ones: memory has moved by then."""


@dataclass(frozen=True)
class Shared:
    """What a division of the budget made of the last batches."""

    name: str
    recall: float
    most_stored: int
    """Rows stored at most, over all shards."""
    limits: tuple[int, ...]
    """Of each shard in the last batch; empty where limits do not move."""


def measure_shards(session: SparkSession, folder: Path) -> Iterator[Shared]:
    """The same stream of Zipf(1.1) keys, on one shard and on four."""
    workload = Workload((ROWS_A_BATCH,) * BATCHES, keys=20_000, zipf=1.1)
    places = workload.write(folder)
    exact = _exact(places)
    ways: dict[str, dict[str, Any]] = {
        "one shard": {"shards": 1},
        f"{SHARDS} shards, equal parts": {"shards": SHARDS},
        f"{SHARDS} shards, memory moves": {"shards": SHARDS, "balance": folder / "limits"},
        f"{SHARDS} shards, hot key split": {"shards": SHARDS, "split_keys": HOT},
    }
    session.conf.set(PROVIDER, ROCKSDB)
    session.conf.set(CHANGELOG, "true")
    for number, (name, way) in enumerate(ways.items()):
        left, right = (
            read_side(session, place, side) for side, place in zip("lr", places, strict=True)
        )
        frame = make_join(BUDGET).stream(left, right, watermark=False, **way)
        done = measure(frame, folder / f"checkpoint-{number}")
        figures = [each["headgate"] for each in done.metrics[-JUDGED:]]
        moved = "balance" in way
        yield Shared(
            name,
            sum(each["pairs"] for each in figures) / exact,
            max(each["stored_rows"] for each in figures),
            tuple(int(figures[-1][f"shard_{at}"][0]) for at in range(SHARDS)) if moved else (),
        )


def make_join(rows: int) -> WindowJoin:
    """A join of the workload within so many rows."""
    return WindowJoin(
        on="key",
        left=Side(time="l_time", window=f"{WINDOW_S} seconds"),
        right=Side(time="r_time", window=f"{WINDOW_S} seconds"),
        budget=Budget(rows=rows),
        policy="prob",
    )


def _exact(places: tuple[Path, Path]) -> int:
    """Pairs of the exact join in the batches that are judged."""
    left, right = (
        pa.concat_tables(pq.read_table(path) for path in sorted(place.iterdir()))
        for place in places
    )
    ample = make_join(10 * ROWS_A_BATCH * BATCHES)
    earlier = ROWS_A_BATCH * (BATCHES - JUDGED)
    before = ample.run(left.slice(0, earlier), right.slice(0, earlier)).stats.pairs
    return ample.run(left, right).stats.pairs - before


def shards_table(session: SparkSession, folder: Path) -> Table:
    """Recall and memory of each way, as a table."""
    table = Table(title=f"Zipf(1.1) keys, {BUDGET:,} rows of memory for 12,000 in the windows")
    for heading in ("", "recall", "rows stored at most", "limits of shards"):
        table.add_column(heading, justify="left" if not heading else "right")
    for way in measure_shards(session, folder):
        limits = ", ".join(f"{limit:,}" for limit in way.limits)
        table.add_row(way.name, f"{way.recall:.3f}", f"{way.most_stored:,}", limits)
    return table
