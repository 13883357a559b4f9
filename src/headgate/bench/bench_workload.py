"""Benchmark inputs: Parquet files for two sides, in order of time."""

import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

START_US = 1_767_225_600_000_000  # 2026-01-01; Spark loses rows stamped 0
ROWS_PER_SECOND = 1_000


@dataclass(frozen=True)
class BenchWorkload:
    """Two sides of equal rate, keys uniform or Zipf.

    With 1,000 rows per second and side, 120,000 uniform keys give about one match per row in a
    window of one minute either way; the same number of Zipf(1.1) keys do so in 20 milliseconds.
    """

    batches: tuple[int, ...]
    """Rows a side of each batch."""
    keys: int = 120_000
    zipf: float | None = None
    seed: int = 1

    def write(self, folder: Path) -> tuple[Path, Path]:
        """Write both sides, one file per batch, and return where."""
        places = (folder / "left", folder / "right")
        for side, place in enumerate(places):
            place.mkdir(parents=True, exist_ok=True)
            rng = np.random.default_rng([self.seed, side])
            gap = 1_000_000 // ROWS_PER_SECOND
            first = START_US
            for number, rows in enumerate(self.batches):
                table = self._table(rng, rows, first, gap, side)
                first += rows * gap
                path = place / f"{number:05d}.parquet"
                pq.write_table(table, path)
                os.utime(path, (number + 1, number + 1))  # Spark takes files in order of age
        return places

    def _table(
        self, rng: np.random.Generator, rows: int, first: int, gap: int, side: int
    ) -> pa.Table:
        time = first + np.arange(rows, dtype=np.int64) * gap + rng.integers(0, gap, rows)
        if self.zipf is None:
            key = rng.integers(0, self.keys, rows)
        else:
            weight = np.arange(1, self.keys + 1) ** -self.zipf
            key = rng.choice(self.keys, rows, p=weight / weight.sum())
        prefix = "lr"[side]
        return pa.table(
            {
                "key": key,
                f"{prefix}_time": pa.array(time, pa.timestamp("us", "UTC")),
                f"{prefix}_value": rng.random(rows),
                f"{prefix}_text": pa.array(key * 7919 % 10**12).cast(pa.string()),
            }
        )
