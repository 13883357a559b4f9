"""Makes a checkpoint of Headgate's of that of Spark's own stream-stream join.

The rows in the join's buffers become stored rows. Everything else that a restart goes by is copied:
the query's id, the offsets of its sources, the number of its last batch, and the watermark.
"""

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from headgate.engine.bound_columns import BoundColumns
from headgate.engine.request import Request
from headgate.engine.shape import keys_as
from headgate.kernel.layout import Fate
from headgate.policies import Policy
from headgate.spark.carried_columns import arrow_schema, numbered, quoted
from headgate.spark.checkpoint import stored_rows
from headgate.spark.checkpoint.checkpoint_files import (
    JOIN,
    PARTITIONS,
    CheckpointFiles,
    Operator,
    check_place,
)
from headgate.spark.checkpoint.join_buffers import MATCHED, buffered_rows
from headgate.spark.checkpoint.new_checkpoint import NewCheckpoint
from headgate.spark.checkpoint.resharding import (
    SIDES,
    Moved,
    blob_bytes,
    labelled,
    pack_rows,
    settings_advice,
    timed,
)
from headgate.spark.checkpoint.row_packing import LABEL, RowPacking
from headgate.spark.checkpoint.state_writer import ROWS, WrittenShards, write_state
from headgate.spark.checkpoint.stored_state import reading
from headgate.spark.checkpoint.work_session import for_writing
from headgate.spark.column_types import compared_keys, time_in_micros
from headgate.spark.join.join_stream import shard_count, stream_plan
from headgate.spark.join.shard_plan import ShardPlan
from headgate.spark.requirements import (
    PROVIDER,
    ROCKSDB,
    bind_frames,
    check_watermarks,
    needed_columns,
)
from headgate.spec import How, RowWindow, SpecError


@dataclass(frozen=True)
class Weigh:
    """Weighs the keys of rows as a policy does; pickled with a task."""

    policy: Policy
    keys: tuple[tuple[str, ...], tuple[str, ...]]
    types: tuple[pa.DataType, ...]

    def __call__(self, rows: pa.Table, side: int) -> np.ndarray:
        """The weight of each row."""
        return self.policy.weigh(keys_as(rows, self.keys[side], self.types), side)


class AdoptingJoin(NamedTuple):
    """The join that takes over: on these streams, with so many shards."""

    join: Request
    frames: tuple[DataFrame, DataFrame]
    shards: int | None


def adopt_checkpoint(
    session: SparkSession,
    old: CheckpointFiles,
    to: Path,
    taking: AdoptingJoin,
    memory: int,
) -> Moved:
    """Take over the checkpoint of a stopped join; see `headgate.adopt`."""
    check_place(to, old.path)
    join, frames, shards = taking
    frames = needed_columns(join, frames)
    operator = _built_in(old)
    bound = bind_frames(join, frames)
    check_watermarks(bound.shape, frames)
    if any(isinstance(window, RowWindow) for window in join.windows):
        raise SpecError("Spark's own join has no windows in rows: give windows in time")
    count = shard_count(join, frames[0], frames[1], shards)
    partitions = int(frames[0].sparkSession.conf.get(PARTITIONS) or 200)
    plan = stream_plan(join, bound, frames, (count, partitions))
    batch = old.last_batch
    new = NewCheckpoint.at(to, old, description=plan.description, memory=memory)
    job = _Adoption(
        session=session,
        old=old,
        operator=operator,
        batch=batch,
        join=join,
        plan=plan,
        bound=bound,
        frames=frames,
        memory=memory,
    )
    seconds: dict[str, float] = {}
    with reading(old), timed(seconds, "read and sort"):
        for side in (0, 1):
            new.stage(f"{ROWS}/{SIDES[side]}", partial(job.pack, side))
        rows, clock = job.measured()
    conf = {PARTITIONS: str(partitions), PROVIDER: ROCKSDB}
    written = WrittenShards(
        description=plan.description,
        labels=plan.labels,
        clock=clock,
        watermark_us=1000 * old.offsets(batch).watermark_ms,
        settles=join.how != How.INNER,
    )
    writer = for_writing(session, old.offsets(batch).conf | conf)
    with timed(seconds, "write"):
        state = new.stage("written", partial(write_state, writer, new.folder, written), again=False)
    if old.last_batch != batch:
        raise SpecError(f"{old.path} has changed while it was read: stop the query first")
    with timed(seconds, "move"):
        new.finish(old, {operator.number: state / "state" / "0"}, conf)
    started = f"the query with join.stream(left, right, shards={count})"
    advice = (
        settings_advice(partitions, started),
        f"The old checkpoint is unchanged: if you discard the new query's results, you can restart "
        f"from {old.path} at batch {batch}.",
    )
    return Moved(to, rows, count, partitions, seconds, advice)


def _built_in(old: CheckpointFiles) -> Operator:
    """The join in the checkpoint; raises where it is not the only stateful operator."""
    found = old.operators()
    if [operator.name for operator in found] != [JOIN]:
        names = ", ".join(operator.name for operator in found) or "none"
        raise SpecError(
            f"{old.path} has the stateful operators {names}: give the checkpoint of a query whose "
            f"only stateful operator is Spark's stream-stream join ({JOIN})"
        )
    sources = len(old.offsets(old.last_batch).lines)
    if sources != len(SIDES):
        raise SpecError(
            f"{old.path} is the checkpoint of a query with {sources} sources: give that of a query "
            f"that reads two, the left side first"
        )
    return found[0]


@dataclass(frozen=True)
class _Adoption:
    """The parts of the work."""

    session: SparkSession
    old: CheckpointFiles
    operator: Operator
    batch: int
    join: Request
    plan: ShardPlan
    bound: BoundColumns
    frames: tuple[DataFrame, DataFrame]
    memory: int

    def pack(self, side: int, folder: Path) -> None:
        """Write a side's rows packed for their shards."""
        rows = self._rows(side)
        shape = self.bound.shape
        keys = (shape.keys.left, shape.keys.right)
        label = labelled(compared_keys(rows, keys[side], shape.key_types), self.plan.labels)
        policy = self.join.policy
        own = [
            F.lit(0).alias(stored_rows.SHARD),
            F.monotonically_increasing_id().alias(stored_rows.SEQUENCE),
            time_in_micros(rows, shape.times[side]).alias(stored_rows.TIME),
            self._fate(rows).alias(stored_rows.FATE),
            F.lit(0.0).alias(stored_rows.WEIGHT),
        ]
        history = [F.lit(None).cast(each.dataType).alias(each.name) for each in stored_rows.HISTORY]
        pack = RowPacking(
            side,
            arrow_schema(self.frames[side]),
            blob_bytes(self.memory),
            with_weight=policy.weighs_keys,
            weigh=Weigh(policy, keys, tuple(shape.key_types)) if policy.weighs_keys else None,
        )
        moved = numbered(rows).select(*own, label.alias(LABEL), "*", *history)
        pack_rows(moved, pack, len(self.plan.labels), folder)

    def measured(self) -> tuple[tuple[int, int], int]:
        """Rows of each side, and the clock: the latest event among them, or the watermark."""
        counts, clock = [], 2000 * self.old.offsets(self.batch).watermark_ms
        for side in (0, 1):
            rows = self._rows(side)
            time = time_in_micros(rows, self.bound.shape.times[side])
            found = numbered(rows).agg(F.count(time), F.max(time)).first()
            counts.append(0 if found is None else int(found[0]))
            if counts[-1] and found is not None:
                clock = max(clock, 2 * int(found[1]) + side)
        return (counts[0], counts[1]), clock

    def _fate(self, rows: DataFrame) -> Column:
        if MATCHED not in rows.columns[len(rows.columns) - 1 :]:
            return F.lit(0)
        place = f"c{len(rows.columns) - 1}"
        return F.when(F.col(place), F.lit(int(Fate.MATCHED))).otherwise(F.lit(0))

    def _rows(self, side: int) -> DataFrame:
        """The rows of a side's buffer: the columns of its stream, and whether a row has matched."""
        buffer = buffered_rows(
            self.session,
            self.old,
            side,
            with_flag=self.join.how.outer[side],
            operator=self.operator.number,
            batch=self.batch,
        )
        wanted, kinds = self.frames[side].schema, {each.name: each for each in buffer.schema}
        missing = [field.name for field in wanted if field.name not in kinds]
        if missing:
            raise SpecError(
                f"the {SIDES[side]} buffer of {self.old.path} has no column "
                f"{', '.join(missing)}, only {', '.join(kinds)}: the query did not need it, so "
                f"leave it out of the stream (.select)"
            )
        for field in wanted:
            if kinds[field.name].dataType != field.dataType:
                raise SpecError(
                    f'column "{field.name}" of the {SIDES[side]} side is '
                    f"{field.dataType.simpleString()}, and "
                    f"{kinds[field.name].dataType.simpleString()} in the buffer: cast it to that"
                )
        columns = [F.col(quoted(field.name)) for field in wanted]
        time = F.col(quoted(self.bound.shape.times[side]))
        keys = (self.bound.shape.keys.left, self.bound.shape.keys.right)[side]
        keyed = F.lit(True)
        for name in keys:
            keyed &= F.col(quoted(name)).isNotNull()
        rows = buffer.where(time.isNotNull())
        if self.join.how.outer[side]:
            self._check_keyed(rows.where(~keyed), side)
            columns.append(F.col(MATCHED))
        return rows.where(keyed).select(*columns)

    def _check_keyed(self, without: DataFrame, side: int) -> None:
        count = without.count()
        if count:
            raise SpecError(
                f"{count:,} {SIDES[side]} rows without a key wait in Spark's buffer to be returned "
                f"as unmatched, but Headgate returns such rows when they arrive: add a filter on "
                f"the key before the join, and let the old query run until these rows are out"
            )
