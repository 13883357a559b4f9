"""The stored rows of a join as DataFrames: what is live, with what the join knows of each row."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import (
    DoubleType,
    IntegerType,
    LongType,
    StructField,
    StructType,
)

from headgate.columns.row_sizes import row_bytes
from headgate.columns.row_source import SMALL_BYTES, RowSource, cuts
from headgate.kernel.settling import NEVER
from headgate.spark.carried_columns import number
from headgate.spark.checkpoint.stored_parts import tables_of
from headgate.spark.checkpoint.stored_state import StoredState
from headgate.spark.spark_versions import from_arrow_type
from headgate.spark.state.blobs import damaged, pieces_of_blob
from headgate.spark.state.given_up_filters import LATEST
from headgate.spark.state.segments import WEIGHT as WEIGHT_COLUMN
from headgate.spark.state.segments import Segment, held_rows, payload
from headgate.spark.state.shard_head import SegmentEntry
from headgate.spark.state.stored_tables import TablePlace

SHARD, SEQUENCE, TIME, SIZE, FATE, WEIGHT = (
    "shard",
    "sequence",
    "time",
    "size",
    "fate",
    "weight",
)
MATCHES, TOUCHED, RECENT = ("matches", "touched", "recent")
OWN = StructType(
    [
        StructField(SHARD, IntegerType()),
        StructField(SEQUENCE, LongType()),
        StructField(TIME, LongType()),
        StructField(SIZE, LongType()),
        StructField(FATE, IntegerType()),
        StructField(WEIGHT, DoubleType()),
    ]
)
"""What comes before the columns of a row: its shard's label, when it came, its event time in
microseconds, its bytes as a budget counts them, what is known of its partners, and the policy's
weight of its key."""
HISTORY = StructType(
    [
        StructField(MATCHES, IntegerType()),
        StructField(TOUCHED, LongType()),
        StructField(RECENT, DoubleType()),
    ]
)
"""What comes behind them."""


@dataclass(frozen=True)
class LiveRows:
    """Turns the parts of segments into their live rows; run by ``mapInArrow``."""

    side: int
    listed: dict[tuple[int, str], SegmentEntry]
    time_column: str | None
    """None where times are beside the payload: in windows of the last n rows."""

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        wanted = {at: each.stored for at, each in self.listed.items()}
        for shard, name, table in tables_of(batches, wanted):
            yield from self._rows(shard, table, self.listed[shard, name])

    def _rows(self, shard: int, table: pa.Table, listed: SegmentEntry) -> Iterator[pa.RecordBatch]:
        if table.num_rows != len(listed.alive):
            raise damaged(
                f"table {listed.stored.name} of shard {shard}",
                f"it has {table.num_rows} rows and the head says {len(listed.alive)}",
            )
        segment = Segment(listed.stored, self.side, table, listed.alive, 0, listed.fate)
        held = held_rows([segment], table.schema, self.time_column)
        rows, source, sizes = held.rows, RowSource(held.table), row_bytes(held.table)[held.place]
        for part in cuts(source.sizes[held.place], SMALL_BYTES):
            columns = source.take(held.place[part]).combine_chunks()
            own = {
                SHARD: np.full(columns.num_rows, shard, np.int32),
                SEQUENCE: rows.sequence[part],
                TIME: rows.time[part],
                SIZE: sizes[part],
                FATE: rows.fates[part].astype(np.int32),
                WEIGHT: rows.weight[part],
            }
            whole = pa.table(
                [*(pa.array(column) for column in own.values()), *columns.columns],
                names=[*own, *map(number, range(columns.num_columns))],
            )
            yield from whole.to_batches()


class StoredColumns(NamedTuple):
    """The columns of a side's rows, and whether the policy's weights are stored beside them."""

    schema: pa.Schema
    has_weight: bool


def stored_columns(state: StoredState, side: int) -> StoredColumns | None:
    """What a side's rows are made of, as the newest segment has it; None if there are no rows."""
    newest = max(
        (
            (entry.stored.name, shard.label)
            for shard in state.shards
            for entry in shard.segments(side)
        ),
        default=None,
    )
    if newest is None:
        return None
    name, label = newest
    first = state.parts("segments").where(
        (F.col("shard") == label) & (F.col("name") == name) & (F.col("part") == 0)
    )
    row = first.select("blob").first()
    blob = b"" if row is None else bytes(row[0])
    table = next(pieces_of_blob(pa.BufferReader(blob)))
    return StoredColumns(payload(table).schema, table.column_names[-1] == WEIGHT_COLUMN)


def live_rows_frame(state: StoredState, side: int, schema: pa.Schema) -> DataFrame:
    """The live rows of a side: columns as in `OWN`, then the payload's, by number."""
    listed = {
        (shard.label, entry.stored.name): entry
        for shard in state.shards
        for entry in shard.segments(side)
    }
    time = None if state.join.counts_rows else state.join.time(side)
    columns = [
        StructField(number(place), from_arrow_type(kind)) for place, kind in enumerate(schema.types)
    ]
    return state.parts("segments").mapInArrow(
        LiveRows(side, listed, time), StructType([*OWN.fields, *columns])
    )


@dataclass(frozen=True)
class HistoryEntries:
    """Turns the parts of history logs into their entries; run by ``mapInArrow``."""

    wanted: dict[tuple[int, str], TablePlace]

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for shard, name, table in tables_of(batches, self.wanted):
            where = {
                SHARD: pa.array(np.full(table.num_rows, shard, np.int32)),
                "name": pa.array([name] * table.num_rows, pa.string()),
            }
            columns = {column: table.column(column) for column in _ENTRY.names[2:]}
            yield from pa.table({**where, **columns}).cast(_ENTRY).to_batches()


_ENTRY = pa.schema(
    [
        (SHARD, pa.int32()),
        ("name", pa.string()),
        ("side", pa.int32()),
        (SEQUENCE, pa.int64()),
        (MATCHES, pa.int32()),
        (TOUCHED, pa.int64()),
        (RECENT, pa.float64()),
    ]
)


def with_history(state: StoredState, side: int, rows: DataFrame) -> DataFrame:
    """Live rows with how often and when each last matched, where the policy goes by that."""
    wanted = {
        (shard.label, stored.name): stored
        for shard in state.shards
        for stored, _ in shard.head.logs
    }
    if not wanted:
        nothing = (F.lit(None).cast(field.dataType).alias(field.name) for field in HISTORY)
        return rows.select("*", *nothing)
    entries = state.parts("histories").mapInArrow(
        HistoryEntries(wanted),
        "shard int, name string, side int, sequence long, matches int, touched long, recent double",
    )
    # Names ascend with the batch that wrote the log, and the last entry of a row counts.
    latest = entries.where(F.col("side") == side).groupBy(SHARD, SEQUENCE)
    last = latest.agg(F.max_by(F.struct(*HISTORY.names), "name").alias("history"))
    return rows.join(last, [SHARD, SEQUENCE], "left").select(
        *rows.columns, *(F.col(f"history.{name}").alias(name) for name in HISTORY.names)
    )


def given_up_marks(state: StoredState) -> tuple[int | None, int | None]:
    """For each side the latest mark in any shard's filter of given-up keys; None if none was."""
    wanted = {
        (shard.label, stored.name): (side, stored)
        for shard in state.shards
        for side, stored in enumerate(shard.head.filters)
        if stored is not None
    }
    found: dict[int, int] = {}
    if wanted:
        parts = state.parts("segments")
        names = [name for _, name in wanted]
        batches = parts.where(F.col("name").isin(names)).toArrow().to_batches()
        stored = {at: each for at, (_, each) in wanted.items()}
        for shard, name, table in tables_of(batches, stored):
            side = wanted[shard, name][0]
            latest = table.column(LATEST).to_numpy()
            found[side] = max(found.get(side, NEVER), int(latest.max(initial=NEVER)))
    left, right = (found[side] if found.get(side, NEVER) != NEVER else None for side in (0, 1))
    return left, right
