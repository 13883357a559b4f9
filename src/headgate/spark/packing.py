"""Rows to blobs before the shuffle, and blobs to rows after the join.

A shuffle of a handful of large binary rows costs far less than one of every row, and the rows reach
the join in the columns it works on.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from pyspark import TaskContext

from headgate.engine.shape import keys_as
from headgate.policies import Policy
from headgate.spark.blobs import from_blob, to_blob
from headgate.spark.ledger import PACK, UNPACK, Ledger
from headgate.spark.shards import CONTROL
from headgate.spark.spread import Spread
from headgate.spark.worker import settle

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
class Pack:
    """Turns the rows of one side into a blob per shard; to be run by ``mapInArrow``.

    Rows come with the number of their shard in front of their columns, and go with the weight of
    their keys behind them, where policies weigh keys: by place, so that names cannot clash.

    Every shard gets a row, if only an empty one, so that it hears of every batch that has input.
    """

    side: int
    labels: tuple[int, ...]
    names: tuple[str, ...]
    """Of all columns; Spark hands them over by number."""
    keys: tuple[str, ...]
    policy: Policy
    spread: Spread | None = None
    timed: str | None = None
    """The operator whose processor time this is part of, where that is limited."""
    key_types: tuple[pa.DataType, ...] = ()
    """The types in which keys are compared, as of `Shape`."""

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
                yield packed([label], self.side, part, ordinal, [to_blob(rows)])
            ordinal += 1
        yield packed(sorted(silent), self.side, part, ordinal, [b""] * len(silent))

    def _split(self, table: pa.Table) -> Iterator[tuple[int, pa.Table]]:
        shard = table.column(0).to_numpy()
        rows = table.remove_column(0).rename_columns(list(self.names))
        if self.policy.weighs_keys:
            weight = self.policy.weigh(keys_as(rows, self.keys, self.key_types), self.side)
            rows = rows.append_column(WEIGHT_COLUMN, pa.array(weight))
        if len(self.labels) == 1:
            yield self.labels[0], rows
            return
        sent = np.arange(len(shard))
        if self.spread is not None:
            name = self.spread.condition.columns[self.side]
            sent, shard = self.spread.route(rows.column(name), self.side)
        order = np.argsort(shard.astype(np.uint16), kind="stable")
        ends = np.searchsorted(shard[order], np.arange(len(self.labels) + 1))
        for index, label in enumerate(self.labels):
            mine = order[ends[index] : ends[index + 1]]
            if len(mine):
                yield label, rows.take(pa.array(sent[mine]))


def _gather(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.Table]:
    """Arrow batches joined into tables large enough to be worth a blob."""
    waiting: list[pa.RecordBatch] = []
    rows = 0
    for batch in batches:
        waiting.append(batch)
        rows += batch.num_rows
        if rows >= ROWS_AT_ONCE:
            yield pa.Table.from_batches(waiting)
            waiting, rows = [], 0
    if rows:
        yield pa.Table.from_batches(waiting)


def packed(
    labels: Sequence[int], side: int, part: int, ordinal: int, blobs: Sequence[bytes]
) -> pa.RecordBatch:
    """Blobs for shards, as the shuffle takes them."""
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
class Unpack:
    """Turns result blobs back into rows; to be run by ``mapInArrow``."""

    column: str = "blob"
    timed: str | None = None
    """As of `Pack`."""

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        with timing(self.timed, UNPACK):
            for batch in batches:
                for blob in batch.column(self.column):
                    if blob.is_valid:
                        yield from from_blob(blob.as_buffer()).to_batches()
            settle()


def timing(operator: str | None, task: str) -> AbstractContextManager[None]:
    """Adds what is done within to an operator's processor time, if to any."""
    return nullcontext() if operator is None else Ledger(operator).timing(task)
