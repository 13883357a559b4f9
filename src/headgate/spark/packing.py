"""Packs rows into blobs before the shuffle, and unpacks result blobs after the join.

Shuffling a few large binary rows costs far less than shuffling every row, and the rows reach the
join in the columnar form it works on.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark import TaskContext

from headgate.columns.row_source import SMALL_BYTES, in_pieces
from headgate.engine.shape import keys_as
from headgate.policies import Policy
from headgate.spark.join.band_cells import BandCells
from headgate.spark.join.split_keys import SplitKeys
from headgate.spark.join.task_ledger import PACK, UNPACK, TaskLedger
from headgate.spark.shard_hash import shards_of
from headgate.spark.shards import CONTROL
from headgate.spark.state.blobs import from_blob, to_blob
from headgate.spark.worker_settings import settle

PACKED = "shard int, side int, part int, ordinal int, blob binary"
_PACKED_ARROW = pa.schema(
    [
        ("shard", pa.int32()),
        ("side", pa.int32()),
        ("part", pa.int32()),
        ("ordinal", pa.int32()),
        ("blob", pa.binary()),
    ]
)
SHARD_COLUMN = "shard"
WEIGHT_COLUMN = "__headgate_weight"
ROWS_AT_ONCE = 1 << 17


@dataclass(frozen=True)
class Packing:
    """Turns the rows of one side into a blob per shard; run by ``mapInArrow``.

    The first input column is the shard number, unless it is computed here; if the policy weighs
    keys, the last output column is the weight. Both are found by position, so that names cannot
    clash.

    Every shard gets a row, even if it is empty, so that it takes part in every batch with input.
    """

    side: int
    labels: tuple[int, ...]
    names: tuple[str, ...]
    """Of all columns; Spark hands them over by number."""
    keys: tuple[str, ...]
    policy: Policy
    spread: BandCells | None = None
    timed: str | None = None
    """The operator whose processor time this is part of, where that is limited."""
    key_types: tuple[pa.DataType, ...] = ()
    """The types in which keys are compared, as of `Shape`."""
    row_bytes: int | None = None
    """See `padded`."""
    split: SplitKeys | None = None
    """Keys whose rows are spread over all shards."""
    hashed: bool = False
    """Whether rows come without a shard number, which is computed from their keys."""

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        with timing(self.timed, PACK):
            yield from self._packed(batches)
            settle()

    def _packed(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        context = TaskContext.get()
        part = context.partitionId() if context is not None else 0
        ordinal = 0
        silent = {*self.labels, CONTROL}
        for table in _gather(batches):
            for label, rows in self._split(table):
                silent.discard(label)
                for piece in in_pieces(rows):
                    blobs = padded([to_blob(piece)], self.row_bytes)
                    yield packed([label] * len(blobs), self.side, part, ordinal, blobs)
                    ordinal += 1
        yield packed(sorted(silent), self.side, part, ordinal, [b""] * len(silent))

    def _split(self, table: pa.Table) -> Iterator[tuple[int, pa.Table]]:
        rows = (table if self.hashed else table.remove_column(0)).rename_columns(list(self.names))
        if self.policy.weighs_keys:
            weight = self.policy.weigh(keys_as(rows, self.keys, self.key_types), self.side)
            rows = rows.append_column(WEIGHT_COLUMN, pa.array(weight))
        if len(self.labels) == 1:
            yield self.labels[0], rows
            return
        if self.hashed:
            shard = shards_of([rows.column(key) for key in self.keys], len(self.labels))
        else:
            shard = table.column(0).to_numpy()
        sent = np.arange(len(shard))
        if self.spread is not None:
            name = self.spread.condition.columns[self.side]
            sent, shard = self.spread.route(rows.column(name), self.side)
        elif self.split is not None:
            sent, shard = self.split.route(rows, self.side, shard, len(self.labels))
        order = np.argsort(shard.astype(np.uint16), kind="stable")
        ends = np.searchsorted(shard[order], np.arange(len(self.labels) + 1))
        for index, label in enumerate(self.labels):
            mine = order[ends[index] : ends[index + 1]]
            if len(mine):
                yield label, rows.take(pa.array(sent[mine]))


def _gather(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.Table]:
    """Combine or split Arrow batches into tables of bounded size, each large enough for a blob."""
    waiting: list[pa.Table] = []
    rows = size = 0
    for batch in batches:
        for piece in in_pieces(pa.Table.from_batches([batch]), SMALL_BYTES):
            if waiting and size + piece.nbytes > SMALL_BYTES:
                yield pa.concat_tables(waiting).combine_chunks()
                waiting, rows, size = [], 0, 0
            waiting.append(piece)
            rows += piece.num_rows
            size += piece.nbytes
            if rows >= ROWS_AT_ONCE:
                yield pa.concat_tables(waiting).combine_chunks()
                waiting, rows, size = [], 0, 0
    if waiting:
        yield pa.concat_tables(waiting).combine_chunks()


def padded(blobs: Sequence[bytes], row_bytes: int | None) -> list[bytes]:
    """Append empty blobs, so that rows have at most ``row_bytes`` on average.

    If Spark limits Arrow batches only by row count, a batch of blobs would be as large as a
    thousand batches of rows. ``row_bytes`` is None if Spark limits them by bytes as well.
    """
    if row_bytes is None:
        return list(blobs)
    return [*blobs, *[b""] * (sum(len(blob) for blob in blobs) // row_bytes)]


def packed(
    labels: Sequence[int], side: int, part: int, ordinal: int, blobs: Sequence[bytes]
) -> pa.RecordBatch:
    """Blobs for shards, as an Arrow batch for the shuffle."""
    count = len(labels)
    return pa.record_batch(
        [
            pa.array(labels, pa.int32()),
            pa.array([side] * count, pa.int32()),
            pa.array([part] * count, pa.int32()),
            pa.array([ordinal] * count, pa.int32()),
            pa.array(blobs, pa.binary()),
        ],
        schema=_PACKED_ARROW,
    )


@dataclass(frozen=True)
class Unpacking:
    """Turns result blobs back into rows; run by ``mapInArrow``."""

    column: str = "blob"
    timed: str | None = None
    """As of `Packing`."""

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        with timing(self.timed, UNPACK):
            for batch in batches:
                blobs = batch.column(self.column)
                lengths = pc.fill_null(pc.binary_length(blobs), 0).to_numpy()
                for place in np.flatnonzero(lengths):
                    yield from from_blob(blobs[int(place)].as_buffer()).to_batches()
            settle()


def timing(operator: str | None, task: str) -> AbstractContextManager[None]:
    """Add the work inside the context to an operator's processor time, if that is recorded."""
    return nullcontext() if operator is None else TaskLedger(operator).timing(task)
