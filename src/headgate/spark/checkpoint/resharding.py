"""Writes the checkpoint of a join anew for another number of shards."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial, reduce
from pathlib import Path

import pyarrow as pa
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import StructField, StructType

from headgate.spark.arrow_batches import ARROW_ROWS
from headgate.spark.carried_columns import number
from headgate.spark.checkpoint import stored_rows
from headgate.spark.checkpoint.checkpoint_files import PARTITIONS, CheckpointFiles, check_place
from headgate.spark.checkpoint.described_columns import described_columns
from headgate.spark.checkpoint.described_join import INNER, SPLIT_KEYS
from headgate.spark.checkpoint.new_checkpoint import NewCheckpoint
from headgate.spark.checkpoint.row_packing import LABEL, PACKED, RowPacking, packed_columns
from headgate.spark.checkpoint.state_writer import ROWS, WrittenShards, write_state
from headgate.spark.checkpoint.stored_rows import StoredColumns
from headgate.spark.checkpoint.stored_state import StoredState, reading
from headgate.spark.checkpoint.work_session import PARTS_AT_ONCE, ROWS_AT_ONCE, for_writing
from headgate.spark.column_types import compared_keys
from headgate.spark.join.join_stream import shard_column
from headgate.spark.requirements import check_columns
from headgate.spark.shards import shard_labels
from headgate.spark.spark_versions import from_arrow_type
from headgate.spark.state.unsettled import Unsettled
from headgate.spec import Keys, Side, SpecError

SIDES = ("left", "right")
BLOBS_IN_MEMORY = 8
"""Tables of a blob's size that a worker may have in memory at a time, with their copies."""
SMALLEST_BLOB, LARGEST_BLOB = 1 << 16, 1 << 25


@dataclass(frozen=True)
class Moved:
    """What was moved into a new checkpoint.

    Parameters
    ----------
    checkpoint
        Where it is.
    rows
        Stored rows of each side.
    shards
        How many shards the join has there; None if it is Spark's own.
    partitions
        How many shuffle partitions.
    seconds
        How long each stage took; a stage that was finished by an earlier attempt took none.
    advice
        What to do now.
    """

    checkpoint: Path
    rows: tuple[int, int]
    shards: int | None
    partitions: int
    seconds: dict[str, float]
    advice: tuple[str, ...] = ()

    def __str__(self) -> str:
        took = ", ".join(f"{stage} {seconds:.1f} s" for stage, seconds in self.seconds.items())
        into = "" if self.shards is None else f" in {self.shards} shards"
        first = (
            f"{self.checkpoint}: {self.rows[0]:,} left and {self.rows[1]:,} right rows{into} "
            f"({took})."
        )
        return "\n".join([first, *self.advice])


def settings_advice(partitions: int, query: str) -> str:
    """How to start the query on the new checkpoint."""
    return f'Start {query} on this checkpoint, with spark.conf.set("{PARTITIONS}", "{partitions}").'


def reshard_checkpoint(
    session: SparkSession,
    old: CheckpointFiles,
    to: Path,
    shards: int,
    partitions: int | None,
    memory: int,
) -> Moved:
    """Write a checkpoint with another number of shards; see `headgate.reshard`."""
    check_place(to, old.path)
    session.conf.set(ARROW_ROWS, PARTS_AT_ONCE)
    state = StoredState.read(session, old)
    others = [each for each in old.operators() if each.number != state.operator.number]
    if partitions is None:
        partitions = state.join.partitions if others else shards
    _check(state, shards, partitions, others=len(others))
    new = NewCheckpoint.at(to, old, shards=shards, partitions=partitions, memory=memory)
    columns = [stored_rows.stored_columns(state, side) for side in (0, 1)]
    job = _Resharding(state, new, shard_labels(shards, partitions), memory)
    seconds: dict[str, float] = {}
    with reading(old), timed(seconds, "read"):
        for side, known in enumerate(columns):
            if known is not None:
                new.stage(f"read/{SIDES[side]}", partial(job.read, side, known))
    with reading(old), timed(seconds, "sort"):
        for side, known in enumerate(columns):
            if known is not None:
                new.stage(f"{ROWS}/{SIDES[side]}", partial(job.sort, side, known))
    plan = job.plan(partitions)
    writer = for_writing(session, old.offsets(state.batch).conf | {PARTITIONS: str(partitions)})
    with timed(seconds, "write"):
        written = new.stage("written", partial(write_state, writer, new.folder, plan), again=False)
    state.check_unchanged()
    counts = job.counts(columns)
    with timed(seconds, "move"):
        new.finish(
            old,
            {state.operator.number: written / "state" / "0"},
            {PARTITIONS: str(partitions)},
            as_it_is=[operator.number for operator in others],
        )
    advice = (
        settings_advice(partitions, f"the query with shards={shards}"),
        "Learned models belong to single shards, so learning starts again.",
    )
    return Moved(to, counts, shards, partitions, seconds, advice)


@dataclass(frozen=True)
class _Resharding:
    """The stages of the work."""

    state: StoredState
    new: NewCheckpoint
    labels: tuple[int, ...]
    memory: int

    def read(self, side: int, known: StoredColumns, folder: Path) -> None:
        """Write the live rows of a side as they are, in the order in which Spark reads them."""
        session = self.state.session
        session.conf.set(ARROW_ROWS, PARTS_AT_ONCE)
        rows = stored_rows.live_rows_frame(self.state, side, known.schema)
        whole = stored_rows.with_history(self.state, side, rows)
        whole.write.parquet(str(folder))

    def sort(self, side: int, known: StoredColumns, folder: Path) -> None:
        """Write them packed for their new shards, in order of time."""
        session = self.state.session
        session.conf.set(ARROW_ROWS, ROWS_AT_ONCE)
        rows = session.read.schema(_read_schema(known.schema)).parquet(
            str(self.new.folder / "read" / SIDES[side])
        )
        join = self.state.join
        frames = described_columns(session, join)
        hashed = self._keys(side, known.schema, frames)
        before = shard_labels(join.shards, join.partitions)
        label = labelled(hashed, self.labels)
        moved = rows.where(_is_at_home(hashed, before)).withColumn(LABEL, label)
        pack_rows(
            moved,
            RowPacking(
                side,
                known.schema,
                blob_bytes(self.memory),
                known.has_weight,
                join.counts_rows,
            ),
            len(self.labels),
            folder,
        )

    def plan(self, partitions: int) -> WrittenShards:
        """What the shards have beside their rows."""
        state = self.state
        heads = [shard.head for shard in state.shards]
        limits = {head.limit for head in heads}
        lost = [head.lost_us for head in heads if head.lost_us is not None]
        unsettled = [head.unsettled for head in heads if head.unsettled is not None]
        return WrittenShards(
            description=state.join.cut_into(len(self.labels), partitions),
            labels=self.labels,
            clock=state.clock,
            watermark_us=state.watermark_us,
            definitions=heads[0].progress.definitions,
            batches=max(head.batches for head in heads),
            limit=limits.pop() if len(limits) == 1 else None,
            given_up=stored_rows.given_up_marks(state),
            settles=state.join.how != INNER,
            lost_us=max(lost, default=None),
            unsettled=reduce(Unsettled.with_more, unsettled) if unsettled else None,
        )

    def counts(self, columns: list[StoredColumns | None]) -> tuple[int, int]:
        """Rows of each side."""
        session = self.state.session
        left, right = (
            0
            if known is None
            else session.read.parquet(str(self.new.folder / "read" / name)).count()
            for name, known in zip(SIDES, columns, strict=True)
        )
        return left, right

    def _keys(
        self, side: int, schema: pa.Schema, frames: tuple[DataFrame, DataFrame]
    ) -> list[Column]:
        """The key columns of a side's rows in the types in which they are compared."""
        join = self.state.join
        left, right = (join.keys(each, frames[each].columns) for each in (0, 1))
        if not left:
            return []
        sides = tuple(Side(time=join.time(each), window=join.window(each)) for each in (0, 1))
        shape = check_columns(Keys(left, right), (sides[0], sides[1]), frames, "_right")
        named = self.state.session.createDataFrame([], frames[side].select(*schema.names).schema)
        return compared_keys(named, (left, right)[side], shape.key_types)


@contextmanager
def timed(seconds: dict[str, float], stage: str) -> Iterator[None]:
    """Note how long a stage takes."""
    began = time.monotonic()
    yield
    seconds[stage] = time.monotonic() - began


def labelled(keys: list[Column], labels: tuple[int, ...]) -> Column:
    """The label of the shard to which rows with these keys belong."""
    every = F.array(*(F.lit(label) for label in labels))
    return F.element_at(every, shard_column(keys, labels) + 1)


def _is_at_home(keys: list[Column], labels: tuple[int, ...]) -> Column:
    """True; fails where a row is in another shard than its key says."""
    wrong = F.lit(
        "keys are not hashed here as they were by the query: give a session with its settings "
        "(spark.sql.ansi.enabled)"
    )
    at_home = F.col(stored_rows.SHARD) == labelled(keys, labels)
    return F.when(at_home, F.lit(True)).otherwise(F.raise_error(wrong).cast("boolean"))


def blob_bytes(memory: int) -> int:
    """How large a table of packed rows may be, in so much memory."""
    return min(max(memory // BLOBS_IN_MEMORY, SMALLEST_BLOB), LARGEST_BLOB)


def pack_rows(rows: DataFrame, pack: RowPacking, shards: int, folder: Path) -> None:
    """Write rows that have labels of shards as packed tables, those of each shard in time order."""
    order = (LABEL, stored_rows.TIME, stored_rows.SHARD, stored_rows.SEQUENCE)
    ordered = rows.repartition(shards, LABEL).sortWithinPartitions(*order)
    columns = ordered.select(*packed_columns(len(pack.schema)))
    columns.mapInArrow(pack, PACKED).write.parquet(str(folder))


def _read_schema(schema: pa.Schema) -> StructType:
    """Of the rows that were read, without looking into their files."""
    payload = [
        StructField(number(place), from_arrow_type(kind)) for place, kind in enumerate(schema.types)
    ]
    return StructType([*stored_rows.OWN.fields, *payload, *stored_rows.HISTORY.fields])


def _check(state: StoredState, shards: int, partitions: int, others: int) -> None:
    """Raise where the state cannot be cut anew."""
    join, one = state.join, "one shard is what it can have"
    for name, given in (("shards", shards), ("partitions", partitions)):
        if isinstance(given, bool) or not isinstance(given, int) or given < 1:
            raise SpecError(f"{name}={given!r}: give a whole number, one or more")
    changes = shards != join.shards
    if changes and join.counts_rows:
        raise SpecError(f"a window in rows needs all rows in one shard: {one}")
    if changes and not join.has_keys:
        raise SpecError(
            "this join has no keys, so rows went to shards by the values of a band, some to two, "
            "and rows cannot be told from copies: start it from a new checkpoint location"
        )
    if join.facts.get(SPLIT_KEYS) is not None:
        raise SpecError(
            "this join has split_keys=, so every shard stores copies of rows with these keys: "
            "start it from a new checkpoint location"
        )
    if any(pool for shard in state.shards for pool in shard.head.progress.thresholds):
        raise SpecError(
            "this is a sample that has dropped rows: probabilities hold within a shard only, so "
            "weights would be wrong in another one: start it from a new checkpoint location"
        )
    if others and partitions != join.partitions:
        raise SpecError(
            f"the query has {others} other stateful operators, whose state is in "
            f"{join.partitions} partitions: keep their number (partitions={join.partitions})"
        )
