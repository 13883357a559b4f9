"""Packs rows that are to be stored into tables for their shards.

Rows come sorted by shard and time. They leave as blobs of bounded size, numbered anew in each
shard, in the form in which a segment stores them, with what is known of each row behind.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from headgate.columns.relabelling import relabelled
from headgate.spark.carried_columns import number
from headgate.spark.checkpoint.stored_rows import (
    FATE,
    HISTORY,
    MATCHES,
    RECENT,
    SEQUENCE,
    TIME,
    TOUCHED,
    WEIGHT,
)
from headgate.spark.state import segments
from headgate.spark.state.blobs import to_blob

PACKED = "shard int, side int, ordinal int, blob binary"
LABEL = "label"
BESIDE = (LABEL, SEQUENCE, TIME, FATE, WEIGHT)
"""Columns before the payload's."""
KNOWN = (FATE, MATCHES, TOUCHED, RECENT)
"""Columns behind a segment's own in a blob."""


@dataclass(frozen=True)
class RowPacking:
    """Packs the sorted rows of one side; run by ``mapInArrow``.

    Parameters
    ----------
    schema
        Of the payload.
    most_bytes
        How large the table of a blob may be.
    with_weight, with_time
        Whether segments have the policy's weights, and times, beside the payload.
    weigh
        Weighs keys, where weights are not known yet.
    """

    side: int
    schema: pa.Schema
    most_bytes: int
    with_weight: bool = False
    with_time: bool = False
    weigh: "Callable[[pa.Table, int], np.ndarray] | None" = None

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        waiting: list[pa.Table] = []
        size = count = ordinal = 0
        label: int | None = None
        for piece in _by_label(batches):
            own = piece.column(0)[0].as_py()
            if waiting and (own != label or size + piece.nbytes > self.most_bytes):
                yield self._packed(waiting, count, ordinal)
                count += sum(table.num_rows for table in waiting)
                waiting, size, ordinal = [], 0, ordinal + 1
            if own != label:
                label, count, ordinal = own, 0, 0
            waiting.append(piece)
            size += piece.nbytes
        if waiting:
            yield self._packed(waiting, count, ordinal)

    def _packed(self, pieces: list[pa.Table], first: int, ordinal: int) -> pa.RecordBatch:
        whole = pa.concat_tables(pieces).combine_chunks()
        width = len(BESIDE) + len(self.schema)
        table = relabelled(whole.select(range(len(BESIDE), width)), self.schema)
        sequence = np.arange(first, first + whole.num_rows, dtype=np.int64)
        table = table.append_column(segments.SEQUENCE, pa.array(sequence))
        if self.with_time:
            table = table.append_column(segments.TIME, whole.column(TIME))
        if self.with_weight:
            weight = whole.column(WEIGHT)
            if self.weigh is not None:
                weight = pa.array(self.weigh(table, self.side))
            table = table.append_column(segments.WEIGHT, weight)
        for name in KNOWN:
            table = table.append_column(f"__headgate_{name}", whole.column(name))
        label = whole.column(0)[0].as_py()
        return pa.record_batch(
            {
                "shard": pa.array([label], pa.int32()),
                "side": pa.array([self.side], pa.int32()),
                "ordinal": pa.array([ordinal], pa.int32()),
                "blob": pa.array([to_blob(table)], pa.binary()),
            }
        )


def packed_columns(width: int) -> list[str]:
    """The columns that `RowPacking` takes, for a payload of so many."""
    return [*BESIDE, *map(number, range(width)), *HISTORY.names]


def _by_label(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.Table]:
    """The rows, a table for each run of rows of one shard."""
    for batch in batches:
        if not batch.num_rows:
            continue
        label = batch.column(0).to_numpy()
        starts = np.flatnonzero(np.diff(label)) + 1
        for first, end in zip((0, *starts), (*starts, len(label)), strict=True):
            yield pa.Table.from_batches([batch.slice(first, end - first)])
