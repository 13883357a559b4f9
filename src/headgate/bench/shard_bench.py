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
from headgate.bench.bench_workload import BenchWorkload
from headgate.bench.contenders import read_side
from headgate.bench.spark_measurement import measure
from headgate.spark.join.join_metrics import of_shard
from headgate.spark.requirements import CHANGELOG, PROVIDER, ROCKSDB
from headgate.spec import Budget, Side

BATCHES, ROWS_A_BATCH = 30, 2_000
WINDOW_S = 6
"""6,000 rows a side."""
BUDGET = 1_200
"""A tenth of the rows in both windows."""
SHARDS = 4
HOT = [0, 1, 2]
"""The most frequent keys; the first is a tenth of all rows."""
JUDGED = BATCHES // 2
"""Batches whose recall is told, the last ones: memory has moved by then."""


@dataclass(frozen=True)
class Shared:
    """What a division of the budget made of the stream."""

    name: str
    recall: float
    """Of the last batches."""
    peak: int
    """Rows stored at most in any batch, after any arrival: peaks of the shards, added up."""
    in_force: int
    """Limits of all shards together, at most in any batch; 0 where limits do not move."""
    limits: tuple[int, ...]
    """Of each shard in the last batch; empty where limits do not move."""
    copied: int
    """Rows of split keys that went to further shards, in the last batches."""

    def row(self) -> tuple[str, ...]:
        """As a line of the table."""
        limits = ", ".join(f"{limit:,}" for limit in self.limits)
        in_force = f"{self.in_force:,}" if self.limits else ""
        return (
            self.name,
            f"{self.recall:.3f}",
            f"{self.peak:,}",
            in_force,
            limits,
            f"{self.copied:,}",
        )


def measure_shards(session: SparkSession, folder: Path) -> Iterator[Shared]:
    """The same stream of Zipf(1.1) keys, on one shard and on four."""
    workload = BenchWorkload((ROWS_A_BATCH,) * BATCHES, keys=20_000, zipf=1.1)
    places = workload.write(folder)
    exact = _exact(places)
    session.conf.set(PROVIDER, ROCKSDB)
    session.conf.set(CHANGELOG, "true")
    for number, (name, way) in enumerate(_ways(folder).items()):
        left, right = (
            read_side(session, place, side) for side, place in zip("lr", places, strict=True)
        )
        frame = make_join(BUDGET).stream(left, right, watermark=False, **way)
        done = measure(frame, folder / f"checkpoint-{number}", warm_up=0)
        figures = [each["headgate"] for each in done.metrics]
        limits = [_limits(each) for each in figures] if "balance" in way else [()]
        yield Shared(
            name,
            recall=sum(each["pairs"] for each in figures[-JUDGED:]) / exact,
            peak=max(each["peak_rows"] for each in figures),
            in_force=max(sum(each) for each in limits),
            limits=limits[-1],
            copied=sum(each["copied"] for each in figures[-JUDGED:]),
        )


def _ways(folder: Path) -> dict[str, dict[str, Any]]:
    """How memory and keys are shared out, as arguments of `WindowJoin.stream`."""
    return {
        "one shard": {"shards": 1},
        "equal parts": {"shards": SHARDS},
        "memory moves": {"shards": SHARDS, "balance": folder / "limits"},
        f"{len(HOT)} keys split": {"shards": SHARDS, "split_keys": HOT},
        "both": {"shards": SHARDS, "split_keys": HOT, "balance": folder / "both"},
    }


def _limits(figures: Any) -> tuple[int, ...]:
    """The limits in force in a batch, by shard; none of a shard that had nothing to do."""
    told = [of_shard(figures, number) for number in range(SHARDS)]
    return tuple(0 if own is None else int(own["limit"] or 0) for own in told)


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
    table = Table(
        title=f"Zipf(1.1) keys on {SHARDS} shards, a tenth of the memory: {BUDGET:,} of 12,000 rows"
    )
    headings = ("", "recall", "stored at most", "limits at most", "limits at the end", "copied")
    for heading in headings:
        table.add_column(heading, justify="right" if heading else "left")
    for way in measure_shards(session, folder):
        table.add_row(*way.row())
    return table
