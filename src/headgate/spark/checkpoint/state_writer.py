"""Writes the state of a join's shards, by a query of its own that runs for one batch.

The query has the operator of a join, with the same state variables, so its state is what a join
reads. Its processor stores the rows it is handed, and joins nothing.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import SparkSession
from pyspark.sql import functions as F
from pyspark.sql.streaming.stateful_processor import TimerValues

from headgate.kernel.step_progress import StepProgress
from headgate.spark.checkpoint.row_packing import KNOWN, PACKED
from headgate.spark.checkpoint.stored_parts import NoCopies
from headgate.spark.shard_output import SCHEMA
from headgate.spark.shard_processor import ShardProcessor
from headgate.spark.shards import CONTROL
from headgate.spark.state.blobs import from_blob
from headgate.spark.state.given_up_filters import GivenUpFilters
from headgate.spark.state.local_copy import new_name
from headgate.spark.state.segments import SEQUENCE, new_segment
from headgate.spark.state.shard_head import SegmentEntry, ShardHead, ShardPlace
from headgate.spark.state.stored_tables import StoredTables, TablePlace
from headgate.spark.state.unsettled import Unsettled

AT = "at"
ROWS, SHARDS = "rows", "shards"
"""Folders of what is to be stored: packed rows, and a row for every shard."""
FACTS = -1
"""Stands for the side in the row of a shard."""


@dataclass(frozen=True)
class WrittenShards:
    """What every shard of the new state has beside its rows; fields as in `ShardState`.

    Parameters
    ----------
    description
        Of the join.
    labels
        Of all shards.
    clock, watermark_us, definitions, batches, limit
        The progress of the join, the same for all shards.
    given_up
        For each side the latest mark of a key that was given up; None if none was.
    settles
        Whether the join knows which rows have met a partner.
    lost_us, unsettled
        As in `ShardHead`.
    """

    description: str
    labels: tuple[int, ...]
    clock: int
    watermark_us: int | None
    definitions: tuple[tuple[int, str], ...] = ()
    batches: int = 0
    limit: int | None = None
    given_up: tuple[int | None, int | None] = (None, None)
    settles: bool = False
    lost_us: int | None = None
    unsettled: Unsettled | None = None


class StateWriter(ShardProcessor):
    """Stores the rows that a shard is handed."""

    _plan: Any

    def _advance(
        self, shard: int, frames: Iterator[pd.DataFrame], timer_values: TimerValues
    ) -> Iterator[pd.DataFrame]:
        plan: WrittenShards = self._plan
        local: Any = NoCopies(shard)
        tables = StoredTables(self._store.segments, local)
        logs = StoredTables(self._store.histories, local)
        placed = []
        for frame in frames:
            for side, ordinal, blob in zip(
                frame["side"], frame["ordinal"], frame["blob"], strict=True
            ):
                if side != FACTS:
                    piece = self._stored(tables, logs, side, from_blob(blob))
                    placed.append((side, ordinal, *piece))
        placed.sort(key=lambda each: each[:2])
        entries = [entry for _, _, entry, _ in placed]
        rows = [sum(len(each.alive) for each in entries if each.side == side) for side in (0, 1)]
        head = ShardHead(
            description=plan.description,
            place=ShardPlace(plan.labels.index(shard), shard, len(plan.labels)),
            progress=StepProgress(
                clock=plan.clock, seen=(rows[0], rows[1]), definitions=plan.definitions
            ),
            segments=entries,
            filters=self._filters(tables),
            logs=[log for *_, log in placed if log is not None],
            batches=plan.batches,
            watermark_us=plan.watermark_us,
            limit=plan.limit,
            lost_us=plan.lost_us,
            unsettled=plan.unsettled,
        )
        self._store.head.update((head.to_blob(),))
        if plan.watermark_us is not None:
            self._store.watermark.update((plan.watermark_us,))
        yield from ()

    def _filters(self, tables: StoredTables) -> list[TablePlace | None]:
        """Filters of one slot, which say of every key what is known of any."""
        marks = [b"" if mark is None else np.int64(mark).tobytes() for mark in self._plan.given_up]
        filters = GivenUpFilters(tables)
        filters.write((marks[0], marks[1]), self._plan.batches)
        return filters.stored

    def _stored(
        self, tables: StoredTables, logs: StoredTables, side: int, table: pa.Table
    ) -> tuple[SegmentEntry, tuple[TablePlace, int] | None]:
        """Store the rows of a blob as a segment, and their history as a part of the log."""
        width = table.num_columns - len(KNOWN)
        rows = table.select(range(width))
        fate, matches, touched, recent = table.columns[width:]
        batches = self._plan.batches
        segment = new_segment(tables.put(new_name(batches), rows), side, rows)
        known = fate.to_numpy().astype(np.uint8) if self._plan.settles else None
        entry = SegmentEntry(segment.stored, side, segment.alive, segment.bytes, known)
        history = pa.table(
            {
                "side": pa.array(np.full(rows.num_rows, side, np.int8)),
                "sequence": rows.column(SEQUENCE),
                "matches": matches,
                "touched": touched,
                "recent": recent,
            }
        ).filter(touched.is_valid())
        if not history.num_rows:
            return entry, None
        return entry, (logs.put(new_name(batches), history), history.num_rows)


def write_state(
    session: SparkSession, entries: Path, plan: WrittenShards, checkpoint: Path
) -> None:
    """Run the query that writes the state, from packed rows in files.

    Its checkpoint holds the state after one batch. Started again, it does what is left to do.
    """
    write_shard_rows(entries / SHARDS, plan.labels)
    packed = session.readStream.schema(PACKED).parquet(str(entries / SHARDS))
    if (entries / ROWS).is_dir():
        for folder in sorted((entries / ROWS).iterdir()):
            packed = packed.unionAll(session.readStream.schema(PACKED).parquet(str(folder)))
    timed = packed.withColumn(AT, F.timestamp_seconds(F.lit(1_000_000_000)))
    written = (
        timed.withWatermark(AT, "0 seconds")
        .groupBy("shard")
        .transformWithStateInPandas(
            statefulProcessor=StateWriter(plan),  # type: ignore[arg-type]
            outputStructType=SCHEMA,
            outputMode="append",
            timeMode="EventTime",
        )
    )
    query = (
        written.writeStream.format("noop")
        .option("checkpointLocation", str(checkpoint))
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination()


def write_shard_rows(folder: Path, labels: tuple[int, ...]) -> None:
    """A row for every shard, so that each is written, and for the one that checks restarts."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "shards.parquet"
    if file.exists():
        return
    every = [*labels, CONTROL]
    table = pa.table(
        {
            "shard": pa.array(every, pa.int32()),
            "side": pa.array([FACTS] * len(every), pa.int32()),
            "ordinal": pa.array([0] * len(every), pa.int32()),
            "blob": pa.array([b""] * len(every), pa.binary()),
        }
    )
    unfinished = folder / f"_{file.name}"
    pq.write_table(table, unfinished)
    unfinished.replace(file)
