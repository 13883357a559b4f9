"""From two DataFrames to one: pack, shuffle by shard, join, observe, unpack."""

import os
import uuid
from collections.abc import Sequence
from dataclasses import replace

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import DoubleType, IntegerType, LongType, StructField, StructType

from headgate.engine.definitions import Definitions, nothing_to_redefine
from headgate.engine.limits import most_dead_bytes, room_for, terms_for
from headgate.engine.request import Request
from headgate.engine.shape import Shape
from headgate.spark.arrow_batches import bytes_a_row
from headgate.spark.carried_columns import (
    Shown,
    arrow_schema,
    column_of,
    numbered,
    restored,
    travelling,
)
from headgate.spark.column_types import compared_keys
from headgate.spark.join import join_metrics
from headgate.spark.join.band_cells import LABEL_COLUMN, Labelled, Spread, can_spread_freely
from headgate.spark.join.join_processor import JoinProcessor
from headgate.spark.join.output_watermark import STORES, held_back
from headgate.spark.join.published_changes import Redefined, packed_changes, packed_limits
from headgate.spark.join.shard_plan import Allowance, ShardPlan, describe
from headgate.spark.join.shard_replay import ReplayShards, tagged
from headgate.spark.packing import PACKED, SHARD_COLUMN, Pack, Unpack
from headgate.spark.requirements import (
    WATERMARK,
    check_columns,
    check_inputs,
    check_state_store,
    check_watermarks,
    shuffle_partitions,
)
from headgate.spark.shards import shard_labels
from headgate.spark.state.ended_queries import forget_when_queries_end
from headgate.spark.warm_kernel import warm_kernel
from headgate.spark.worker_check import check_workers
from headgate.spec import MaxImportance, RowWindow, SpecError, TimeWindow
from headgate.spec.budget import RESERVE
from headgate.spec.importance import Change

Mark = dict[str, int] | None
"""What the schema says of a column beside its type."""


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
) -> DataFrame:
    """The streaming form of `WindowJoin`; see there.

    ``limits`` is a folder where the join is told, while it runs, how much it may store, and
    ``most`` the most that can be.
    """
    session = check_inputs(left, right, streaming=True)
    if left is right:
        raise SpecError(
            "both sides are the same DataFrame object: read the stream twice (two readStream "
            "calls), with a watermark and column names for each side"
        )
    shape = _shape(join, left, right)
    delays = check_watermarks(shape, (left, right))
    check_state_store(session)
    check_workers(session.sparkContext)
    count = _shard_count(join, shape, shards, session.sparkContext.defaultParallelism)
    spread = _spread(join, shape, count)
    held = watermark and any(isinstance(window, TimeWindow) for window in join.windows)
    partitions = shuffle_partitions(session, count, stores=1 + STORES * held)
    labels = shard_labels(count, partitions)
    definitions = _definitions(join, (left, right), (), redefined)
    plan = _plan(
        join, shape, (left, right), labels, partitions, RESERVE, live=True, definitions=definitions
    )
    plan = replace(plan, row_bytes=bytes_a_row(session))
    if limits is not None:
        allowance = Allowance(join.budget, RESERVE, join.monitor_share(live=True), most)
        plan = replace(plan, allowance=allowance)
    forget_when_queries_end(session)
    warm_kernel(plan.terms)

    timed = plan.operator if plan.pacer is not None else None
    packed = _packed(join, plan, left, 0, spread, timed).unionAll(
        _packed(join, plan, right, 1, spread, timed)
    )
    if redefined is not None:
        packed = packed.unionAll(packed_changes(session, redefined, labels))
    if limits is not None:
        packed = packed.unionAll(packed_limits(session, limits, labels))
    joined = packed.groupBy("shard").transformWithStateInPandas(
        statefulProcessor=JoinProcessor(plan),
        outputStructType=join_metrics.OUTPUT,
        outputMode="append",
        timeMode="EventTime",
    )
    blobs = join_metrics.observe(
        joined, name, join_metrics.observed(shared=limits is not None)
    ).select("blob")
    if watermark:
        blobs = held_back(blobs, packed, join.windows, partitions)
    shown = _shown(shape, left, right, _marks(join, delays) if watermark else (None, None))
    return restored(blobs.mapInArrow(Unpack(timed=timed), travelling(shown)), shown)


def batch(
    join: Request,
    left: DataFrame,
    right: DataFrame,
    shards: int | None,
    redefined: Sequence[Change] = (),
) -> DataFrame:
    """The bounded form of `WindowJoin`; see there."""
    session = check_inputs(left, right, streaming=False)
    shape = _shape(join, left, right)
    check_workers(session.sparkContext)
    count = _shard_count(join, shape, shards, session.sparkContext.defaultParallelism)
    spread = _spread(join, shape, count)
    labels = shard_labels(count, count)
    definitions = _definitions(join, (left, right), redefined)
    plan = _plan(
        join,
        shape,
        (left, right),
        labels,
        count,
        reserve=0.0,
        live=False,
        definitions=definitions,
    )
    warm_kernel(plan.terms)
    rows = _tagged(shape, left, 0, labels, spread, right).unionAll(
        _tagged(shape, right, 1, labels, spread, left)
    )
    shown = _shown(shape, left, right)
    results = (
        rows.repartition(count, "shard")
        .sortWithinPartitions("shard", "time", "side", "position")
        .mapInArrow(ReplayShards(plan, join.policy), travelling(shown))
    )
    return restored(results, shown)


def shard_count(join: Request, left: DataFrame, right: DataFrame, given: int | None) -> int:
    """Into how many shards a stream is cut, where so many are asked for."""
    session = check_inputs(left, right, streaming=True)
    cores = session.sparkContext.defaultParallelism
    return _shard_count(join, _shape(join, left, right), given, cores)


def _shape(join: Request, left: DataFrame, right: DataFrame) -> Shape:
    shape = check_columns(join.keys, join.sides, (left, right), join.suffix, join.where)
    return shape.sampled(join.drawn).weighed(join.importance_column)


def _definitions(
    join: Request,
    frames: tuple[DataFrame, DataFrame],
    changes: Sequence[Change],
    source: Redefined | None = None,
) -> Definitions | None:
    """What is important, as known beforehand."""
    if not isinstance(join.goal, MaxImportance):
        if changes or source is not None:
            raise nothing_to_redefine(join.goal)
        return None
    definitions = Definitions.of(join.goal, changes)
    definitions.check((arrow_schema(frames[0]), arrow_schema(frames[1])))
    return definitions


def _shard_count(join: Request, shape: Shape, given: int | None, cores: int) -> int:
    by_rows = any(isinstance(window, RowWindow) for window in join.windows)
    if given is None:
        apart = bool(join.keys.left) or can_spread_freely(shape.condition, join.windows)
        return cores if apart and not by_rows else 1
    if not isinstance(given, int) or isinstance(given, bool) or given < 1:
        raise SpecError(f"shards={given!r}: give a whole number of shards, one or more")
    if by_rows and given > 1:
        raise SpecError(
            f"shards={given}: a window of the last n rows needs them in one place; "
            f"use one shard, or a window in time"
        )
    return given


def _plan(
    join: Request,
    shape: Shape,
    frames: tuple[DataFrame, DataFrame],
    labels: tuple[int, ...],
    partitions: int,
    reserve: float,
    live: bool,
    definitions: Definitions | None,
) -> ShardPlan:
    shards = len(labels)
    policy = join.policy.without_model()
    share = join.monitor_share(live)
    terms = join.weighed(
        terms_for(
            join.budget,
            join.windows,
            policy,
            shards,
            reserve,
            share,
            shape.relation,
            join.indexes(join.rates, keys=0),
        )
    )
    facts = {
        "left keys": ", ".join(join.keys.left),
        "right keys": ", ".join(join.keys.right),
        "left time and window": f"{join.left.time}, {join.left.window}",
        "right time and window": f"{join.right.time}, {join.right.window}",
        "policy": repr(policy),
        "left columns": frames[0].schema.simpleString(),
        "right columns": frames[1].schema.simpleString(),
    }
    if join.seed:
        facts["seed"] = str(join.seed)
    if join.where is not None:
        facts["predicate"] = repr(join.where)
    if isinstance(join.goal, MaxImportance):
        facts["importance"] = join.goal.to_json()
    return ShardPlan(
        terms=terms,
        shape=shape,
        schemas=(arrow_schema(frames[0]), arrow_schema(frames[1])),
        most_dead_bytes=most_dead_bytes(terms, reserve),
        room=room_for(join.budget, policy, shards, share, join.seed) if share else None,
        labels=labels,
        description=describe(shards, partitions, facts),
        operator=uuid.uuid4().hex[:16],
        definitions=definitions,
        pacer=join.pacer(shards),
    )


def _label(keys: Sequence[Column], labels: tuple[int, ...]) -> Column:
    return F.element_at(
        F.array(*(F.lit(label) for label in labels)), shard_column(keys, labels) + 1
    )


def shard_column(keys: Sequence[Column], labels: tuple[int, ...]) -> Column:
    """The number of the shard that a row belongs to, by its keys as they are compared."""
    if not keys:
        return F.lit(0)
    return F.pmod(F.xxhash64(*keys), F.lit(len(labels))).cast("int")


def _spread(join: Request, shape: Shape, shards: int) -> Spread | None:
    """How rows without keys are shared out over shards."""
    return None if join.keys.left else Spread.of(shape.condition, join.windows, shards)


def _tagged(
    shape: Shape,
    frame: DataFrame,
    side: int,
    labels: tuple[int, ...],
    spread: Spread | None,
    other: DataFrame,
) -> DataFrame:
    rows = numbered(frame)
    columns, others = rows.schema, numbered(other).schema
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


def _packed(
    join: Request,
    plan: ShardPlan,
    frame: DataFrame,
    side: int,
    spread: Spread | None,
    timed: str | None,
) -> DataFrame:
    shape, names = plan.shape, tuple(frame.columns)
    keys = (shape.keys.left, shape.keys.right)[side]
    shard = shard_column(compared_keys(frame, keys, shape.key_types), plan.labels)
    pack = Pack(
        side,
        plan.labels,
        names,
        keys,
        join.policy,
        spread,
        timed,
        key_types=shape.key_types,
        row_bytes=plan.row_bytes,
    )
    return numbered(frame).select(shard.alias(SHARD_COLUMN), "*").mapInArrow(pack, PACKED)


def _marks(join: Request, delays: tuple[int, int]) -> tuple[Mark, Mark]:
    """What marks each side's time as event time for the operators after a streaming join.

    Stored rows of a window of the last n rows may be of any age, so the watermark says nothing of
    their time, and it stays without a mark.
    """
    left, right = (
        {WATERMARK: delay} if isinstance(window, TimeWindow) else None
        for window, delay in zip(join.windows, delays, strict=True)
    )
    return left, right


def _shown(
    shape: Shape, left: DataFrame, right: DataFrame, marks: tuple[Mark, Mark] = (None, None)
) -> list[Shown]:
    """The result's columns, with marks on the times."""
    shown = []
    for name, side, column in shape.output:
        field = (left, right)[side].schema[column]
        mark = marks[side] if column == shape.times[side] else None
        shown.append(Shown(name, field.dataType, field.nullable, mark))
    shown += [
        Shown(name, kind, nullable=False)
        for name, kind in zip(shape.drawn, (DoubleType(), LongType()), strict=False)
    ]
    if shape.importance is not None:
        shown.append(Shown(shape.importance, DoubleType(), nullable=False))
    return shown
