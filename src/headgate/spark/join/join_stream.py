"""Joins two DataFrames on Spark: pack, shuffle by shard, join, observe, unpack."""

import json
import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import (
    BooleanType,
    DoubleType,
    IntegerType,
    LongType,
    StructField,
    StructType,
)

from headgate.engine.bound_columns import BoundColumns
from headgate.engine.definitions import nothing_to_redefine
from headgate.engine.request import Request
from headgate.engine.shape import CERTAIN, Shape
from headgate.spark.arrow_batches import bytes_a_row
from headgate.spark.batch_writer import batched_frame
from headgate.spark.carried_columns import (
    ResultColumn,
    column_of,
    numbered,
    restored,
    travelling,
)
from headgate.spark.column_types import are_hashed_here, compared_keys
from headgate.spark.join import join_metrics
from headgate.spark.join.band_cells import (
    LABEL_COLUMN,
    BandCells,
    Labelled,
    can_spread_freely,
    copied_side,
)
from headgate.spark.join.join_processor import JoinProcessor
from headgate.spark.join.joined_frame import joined_frame
from headgate.spark.join.output_watermark import STORES, held_back
from headgate.spark.join.published_changes import Redefined, packed_changes, packed_limits
from headgate.spark.join.shard_balance import PUBLISHED, amount_to_balance, balance_shards
from headgate.spark.join.shard_plan import ShardPlan, SharedBudget, shard_plan
from headgate.spark.join.shard_replay import ReplayShards, tagged
from headgate.spark.join.split_keys import SplitKeys
from headgate.spark.packing import PACKED, SHARD_COLUMN, Packing, Unpacking
from headgate.spark.requirements import (
    WATERMARK,
    bind_frames,
    check_inputs,
    check_state_store,
    check_watermarks,
    needed_columns,
    shuffle_partitions,
)
from headgate.spark.row_output import AS_NUMBERS, leave_as_rows, row_schema, rows_alone
from headgate.spark.session_access import access_to
from headgate.spark.shard_output import SCHEMA
from headgate.spark.shards import shard_labels
from headgate.spark.state.ended_queries import forget_when_queries_end
from headgate.spark.warm_kernel import warm_kernel
from headgate.spark.worker_check import check_stream_workers, check_workers
from headgate.spark.worker_environment import own_workers, start_workers
from headgate.spec import RowWindow, SpecError, TimeWindow
from headgate.spec.importance import Redefinition

MOST_CALL = 1000
"""Characters of a call that are shown to those who watch a query."""
Mark = dict[str, int] | None
"""A column's metadata in the schema."""


def stream(
    join: Request,
    left: DataFrame,
    right: DataFrame,
    shards: int | None,
    name: str,
    redefined: Redefined | None = None,
    limits: str | os.PathLike[str] | None = None,
    most: int | None = None,
    watermark: bool = True,
    balance: str | os.PathLike[str] | None = None,
    split_keys: Sequence[Any] = (),
) -> DataFrame:
    """The streaming form of `WindowJoin`; see there.

    ``limits`` is a folder from which the running join reads new limits on what it may store, and
    ``most`` is the highest limit possible.
    """
    session = check_inputs(left, right, streaming=True)
    if left is right:
        raise SpecError(
            "both sides are the same DataFrame object: read the stream twice (two readStream "
            "calls), with a watermark and column names for each side"
        )
    frames = needed_columns(join, (left, right))
    bound = bind_frames(join, frames)
    if redefined is not None and bound.definitions is None:
        raise nothing_to_redefine(join.goal)
    shape = bound.shape
    delays = check_watermarks(shape, frames)
    check_state_store(session)
    check_stream_workers(session)
    start_workers(session)
    count = _shard_count(join, shape, shards, access_to(session).cores)
    if balance is not None:
        most, place = amount_to_balance(join.budget), Path(balance).absolute()
        limits = place / PUBLISHED
        balance_shards(session, name, most, count, place)
    held = watermark and any(isinstance(window, TimeWindow) for window in join.windows)
    partitions = shuffle_partitions(session, count, stores=1 + STORES * held)
    sharing = None if limits is None else SharedBudget(most)
    plan = stream_plan(join, bound, frames, (count, partitions), sharing, split_keys)
    plan = replace(plan, row_bytes=bytes_a_row(session))
    forget_when_queries_end(session)
    warm_kernel(plan.terms)
    with own_workers(session):
        packed = _packed_sides(join, plan, frames)
        if redefined is not None:
            packed = packed.unionAll(packed_changes(session, redefined, plan.labels))
        if limits is not None:
            packed = packed.unionAll(packed_limits(session, limits, plan.labels))
        about, shown = _about(join, count), _shown(shape, frames)
        if leave_as_rows(shown) and plan.pacer is None:
            at_once = _joined_rows(packed, plan, name, about, shown)
        else:
            at_once = _unpacked(_joined(packed, plan, name, about), plan, shown)
        if not held:
            return batched_frame(at_once)
        later = held_back(_joined(packed, plan, name, about), packed, join.windows, partitions)
        marked = _unpacked(later, plan, _shown(shape, frames, _marks(join, delays)))
        return joined_frame(marked, at_once)


def stream_plan(
    join: Request,
    bound: BoundColumns,
    frames: tuple[DataFrame, DataFrame],
    parts: tuple[int, int],
    sharing: SharedBudget | None = None,
    split_keys: Sequence[Any] = (),
) -> ShardPlan:
    """The plan of a stream with so many shards and shuffle partitions."""
    shards, partitions = parts
    return shard_plan(
        join,
        bound,
        shard_labels(shards, partitions),
        live=True,
        partitions=partitions,
        columns=_described(frames),
        sharing=sharing,
        split=SplitKeys.of(join, bound.shape, split_keys),
    )


def _unpacked(blobs: DataFrame, plan: ShardPlan, shown: list[ResultColumn]) -> DataFrame:
    """The rows in result blobs."""
    return restored(blobs.mapInArrow(Unpacking(timed=_timed(plan)), travelling(shown)), shown)


def batch(
    join: Request,
    left: DataFrame,
    right: DataFrame,
    shards: int | None,
    redefined: Sequence[Redefinition] = (),
) -> DataFrame:
    """The bounded form of `WindowJoin`; see there."""
    session = check_inputs(left, right, streaming=False)
    frames = needed_columns(join, (left, right))
    bound = bind_frames(join, frames, redefined)
    shape = bound.shape
    check_workers(session)
    count = _shard_count(join, shape, shards, access_to(session).cores)
    labels = shard_labels(count, count)
    plan = shard_plan(join, bound, labels, live=False, partitions=count, columns=_described(frames))
    warm_kernel(plan.terms)
    spread = _spread(join, shape, count)
    rows = _tagged(shape, frames, 0, labels, spread).unionAll(
        _tagged(shape, frames, 1, labels, spread)
    )
    shown = _shown(shape, frames)
    with own_workers(session):
        results = (
            rows.repartition(count, "shard")
            .sortWithinPartitions("shard", "time", "side", "position")
            .mapInArrow(ReplayShards(plan, join.policy), travelling(shown))
        )
    return restored(results, shown)


def shard_count(join: Request, left: DataFrame, right: DataFrame, given: int | None) -> int:
    """The number of shards of a stream, given the number requested."""
    session = check_inputs(left, right, streaming=True)
    cores = access_to(session).cores
    return _shard_count(join, bind_frames(join, (left, right)).shape, given, cores)


def _described(frames: tuple[DataFrame, DataFrame]) -> tuple[StructType, StructType]:
    """Each side's columns, with Spark's types."""
    return frames[0].schema, frames[1].schema


def _timed(plan: ShardPlan) -> str | None:
    """Name under which a query's tasks record processor time; None if it is not limited."""
    return None if plan.pacer is None else plan.operator


def _about(join: Request, shards: int) -> str:
    """What the join is, as JSON, for those who watch it."""
    budget, call = join.budget, repr(join)
    return json.dumps(
        {
            "kind": "join",
            "call": call if len(call) <= MOST_CALL else f"{call[:MOST_CALL]}…",
            "policy": join.policy.asked_name,
            "goal": type(join.goal).__name__,
            "how": str(join.how),
            "rows": budget.rows,
            "memory": budget.memory,
            "cpu": budget.cpu,
            "shards": shards,
        }
    )


def _joined(packed: DataFrame, plan: ShardPlan, name: str, about: str) -> DataFrame:
    """The results of all shards as blobs; metrics go to the observation of this name."""
    joined = _put_out(packed, plan, SCHEMA)
    return join_metrics.observe(joined, name, join_metrics.observed(about)).select("blob")


def _joined_rows(
    packed: DataFrame, plan: ShardPlan, name: str, about: str, shown: list[ResultColumn]
) -> DataFrame:
    """The results of all shards as rows, which nothing has to unpack."""
    direct = replace(plan, row_columns=len(shown))
    put_out = _put_out(packed, direct, row_schema(shown))
    figures = join_metrics.observed(about, figures=AS_NUMBERS)
    return rows_alone(join_metrics.observe(put_out, name, figures), shown)


def _put_out(packed: DataFrame, plan: ShardPlan, schema: StructType | str) -> DataFrame:
    """All that the join's operator puts out: results and figures."""
    return packed.groupBy("shard").transformWithStateInPandas(
        statefulProcessor=JoinProcessor(plan),
        outputStructType=schema,
        outputMode="append",
        timeMode="EventTime",
    )


def _shard_count(join: Request, shape: Shape, given: int | None, cores: int) -> int:
    by_rows = any(isinstance(window, RowWindow) for window in join.windows)
    if given is None:
        apart = bool(join.keys.left) or can_spread_freely(shape.condition, join.windows)
        whole = join.keys.left or not _copies_settled(join, shape)
        return cores if apart and whole and not by_rows else 1
    if not isinstance(given, int) or isinstance(given, bool) or given < 1:
        raise SpecError(f"shards={given!r}: give a whole number of shards, one or more")
    if by_rows and given > 1:
        raise SpecError(
            f"shards={given}: a window of the last n rows needs them in one place; "
            f"use one shard, or a window in time"
        )
    if given > 1 and not join.keys.left and _copies_settled(join, shape):
        raise SpecError(
            f'shards={given}: how="{join.how}" must know of each row whether it has a partner '
            f"anywhere, and without keys rows near a border go to two shards: use one shard, or "
            f"give keys with on="
        )
    return given


def _copies_settled(join: Request, shape: Shape) -> bool:
    """Whether rows may be copied to several shards of which it must be known if they match."""
    if shape.condition is None or not shape.condition.relation.is_band:
        return False
    copied = copied_side(join.windows)
    return join.how.outer[copied] or (join.how.frees_left and copied == 0)


def _label(keys: Sequence[Column], labels: tuple[int, ...]) -> Column:
    return F.element_at(
        F.array(*(F.lit(label) for label in labels)), shard_column(keys, labels) + 1
    )


def shard_column(keys: Sequence[Column], labels: tuple[int, ...]) -> Column:
    """The number of a row's shard, from its keys in the types in which they are compared."""
    if not keys:
        return F.lit(0)
    return F.pmod(F.xxhash64(*keys), F.lit(len(labels))).cast("int")


def _spread(join: Request, shape: Shape, shards: int) -> BandCells | None:
    """How rows without keys are assigned to shards."""
    return None if join.keys.left else BandCells.of(shape.condition, join.windows, shards)


def _tagged(
    shape: Shape,
    frames: tuple[DataFrame, DataFrame],
    side: int,
    labels: tuple[int, ...],
    spread: BandCells | None,
) -> DataFrame:
    frame = frames[side]
    rows = numbered(frame)
    columns, others = rows.schema, numbered(frames[1 - side]).schema
    time = column_of(frame, shape.times[side])
    if spread is None:
        keys = (shape.keys.left, shape.keys.right)[side]
        label = _label(compared_keys(frame, keys, shape.key_types), labels)
        return tagged(rows, side, label, time, columns, others)
    place = frame.columns.index(spread.condition.columns[side])
    labelled = rows.mapInArrow(
        Labelled(spread, side, labels, place),
        StructType([*columns.fields, StructField(LABEL_COLUMN, IntegerType())]),
    )
    return tagged(labelled, side, F.col(LABEL_COLUMN), time, columns, others)


def _packed_sides(join: Request, plan: ShardPlan, frames: tuple[DataFrame, DataFrame]) -> DataFrame:
    """The rows of both sides as blobs for their shards."""
    spread = _spread(join, plan.shape, len(plan.labels))
    left, right = (_packed(join, plan, frame, side, spread) for side, frame in enumerate(frames))
    return left.unionAll(right)


def _packed(
    join: Request, plan: ShardPlan, frame: DataFrame, side: int, spread: BandCells | None
) -> DataFrame:
    shape = plan.shape
    keys = (shape.keys.left, shape.keys.right)[side]
    hashed = bool(keys) and are_hashed_here(frame, keys, shape.key_types)
    pack = Packing(
        side,
        plan.labels,
        tuple(frame.columns),
        keys,
        join.policy,
        spread=spread,
        timed=_timed(plan),
        key_types=shape.key_types,
        row_bytes=plan.row_bytes,
        split=plan.split,
        hashed=hashed,
    )
    if hashed:
        return numbered(frame).mapInArrow(pack, PACKED)
    shard = shard_column(compared_keys(frame, keys, shape.key_types), plan.labels)
    return numbered(frame).select(shard.alias(SHARD_COLUMN), "*").mapInArrow(pack, PACKED)


def _marks(join: Request, delays: tuple[int, int]) -> tuple[Mark, Mark]:
    """The metadata that marks each side's time as event time for operators after a streaming join.

    Rows stored in a window of the last n rows may be of any age, so the watermark says nothing
    about their time, which stays unmarked.
    """
    left, right = (
        {WATERMARK: delay} if isinstance(window, TimeWindow) else None
        for window, delay in zip(join.windows, delays, strict=True)
    )
    return left, right


def _shown(
    shape: Shape, frames: tuple[DataFrame, DataFrame], marks: tuple[Mark, Mark] = (None, None)
) -> list[ResultColumn]:
    """The result's columns, with event times marked."""
    shown = []
    for name, side, column in shape.output:
        field = frames[side].schema[column]
        mark = marks[side] if column == shape.times[side] else None
        nullable = field.nullable or shape.nullable(name, side)
        shown.append(ResultColumn(name, field.dataType, nullable, mark))
    shown += [
        ResultColumn(name, kind, nullable=False)
        for name, kind in zip(shape.drawn, (DoubleType(), LongType()), strict=False)
    ]
    if shape.importance is not None:
        shown.append(ResultColumn(shape.importance, DoubleType(), nullable=False))
    if shape.shows_undecided:
        shown.append(ResultColumn(CERTAIN, BooleanType(), nullable=False))
    return shown
