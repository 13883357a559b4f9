"""Checks the Spark session and the inputs before anything starts."""

import warnings
from collections.abc import Sequence
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from headgate.engine.bound_columns import BoundColumns
from headgate.engine.request import Request
from headgate.engine.shape import Shape
from headgate.spark.carried_columns import arrow_schema, check_carried, quoted, with_columns
from headgate.spark.column_types import ANSI, check_char_types, compared_types
from headgate.spark.installed_package import PYSPARK
from headgate.spark.session_access import access_to, is_connect
from headgate.spark.spark_versions import check_streams
from headgate.spec import Keys, Predicate, Side, SpecError
from headgate.spec.importance import Redefinition

ROCKSDB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
PROVIDER = "spark.sql.streaming.stateStore.providerClass"
CHANGELOG = "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled"
PARTITIONS = "spark.sql.shuffle.partitions"
WATERMARK = "spark.watermarkDelayMs"
MANY = 4
"""So many partitions a core, and more, are worth a warning."""


def check_session(session: Any) -> None:
    """Raise unless it is a session, classic or Connect, of a supported Spark version."""
    if not isinstance(session, SparkSession) and not is_connect(session):
        raise SpecError(f"{session!r} is not a Spark session: give one (spark=spark)")
    if not PYSPARK.fits(session.version):
        raise SpecError(
            f"the session is one of Spark {session.version}, which Headgate does not run on: use "
            f"one of {PYSPARK.wanted.removeprefix('py')}"
        )


def check_inputs(left: Any, right: Any, streaming: bool) -> SparkSession:
    """Raise unless both are DataFrames of one session, both streaming or both bounded."""
    method = "stream" if streaming else "batch"
    for which, frame in (("left", left), ("right", right)):
        if not isinstance(frame, DataFrame):
            raise SpecError(
                f"the {which} side is a {type(frame).__name__}: {method} takes Spark DataFrames "
                f"(Arrow tables and pandas frames go to run)"
            )
        check_session(frame.sparkSession)
        if frame.isStreaming != streaming:
            kind = "streaming" if frame.isStreaming else "bounded"
            other = "batch" if streaming else "stream"
            raise SpecError(f"the {which} side is {kind}: use {other}, or give another DataFrame")
    if left.sparkSession is not right.sparkSession:
        raise SpecError("the two sides come from different Spark sessions: read both in one")
    session: SparkSession = left.sparkSession
    return session


def check_columns(
    keys: Keys,
    sides: tuple[Side, Side],
    frames: tuple[DataFrame, DataFrame],
    suffix: str,
    where: Predicate | None = None,
) -> Shape:
    """Raise unless all columns named in the join exist with suitable types."""
    _check_carried(frames)
    columns = (frames[0].columns, frames[1].columns)
    return _compared(Shape.of(keys, sides, columns, suffix, where), frames, where)


def bind_frames(
    request: Request,
    frames: tuple[DataFrame, DataFrame],
    changes: Sequence[Redefinition] = (),
    shows_result: bool = True,
) -> BoundColumns:
    """`Request.bind` to the columns of two DataFrames, compared as Spark compares them."""
    _check_carried(frames)
    return request.bind(
        (arrow_schema(frames[0]), arrow_schema(frames[1])),
        changes,
        compare=lambda shape: _compared(shape, frames, request.where),
        shows_result=shows_result,
    )


def needed_columns(
    request: Request, frames: tuple[DataFrame, DataFrame]
) -> tuple[DataFrame, DataFrame]:
    """The frames with the columns that the join needs; Spark reads no others."""
    left, right = (
        with_columns(frame, request.needed(side, frame.columns))
        for side, frame in enumerate(frames)
    )
    return left, right


def _check_carried(frames: tuple[DataFrame, DataFrame]) -> None:
    for which, frame in zip(("left", "right"), frames, strict=True):
        check_carried(f"the {which} side", frame)


def _compared(shape: Shape, frames: tuple[DataFrame, DataFrame], where: Predicate | None) -> Shape:
    """Return the shape with the types in which Spark compares columns."""
    keys = shape.keys
    looked_at = [
        {*names, time, *(() if where is None else (name,))}
        for names, time, name in zip(
            (keys.left, keys.right),
            shape.times,
            ("", "") if where is None else (where.left, where.right),
            strict=True,
        )
    ]
    types = [
        compared_types(frame, f"{which} side", sorted(names))
        for frame, which, names in zip(frames, ("left", "right"), looked_at, strict=True)
    ]
    shown = [
        {name: frame.schema[name].dataType.simpleString() for name in frame.columns}
        for frame in frames
    ]
    ansi = frames[0].sparkSession.conf.get(ANSI, "true") == "true"
    shape = shape.compared(where, (types[0], types[1]), (shown[0], shown[1]), ansi)
    pairs = [*zip(keys.left, keys.right, strict=True)]
    pairs += [] if where is None else [(where.left, where.right)]
    for left, right in pairs:
        check_char_types(frames[0].schema[left], frames[1].schema[right])
    return shape


def check_watermarks(shape: Shape, frames: tuple[DataFrame, DataFrame]) -> tuple[int, int]:
    """Return each side's watermark delay, in milliseconds."""
    delays = []
    for which, frame, time in zip(("left", "right"), frames, shape.times, strict=True):
        delay = frame.schema[time].metadata.get(WATERMARK)
        if delay is None:
            named = time if time.isidentifier() else quoted(time)
            raise SpecError(
                f'the {which} side has no watermark on "{time}", so its state could never be '
                f'removed: add .withWatermark("{named}", "10 seconds") (the longest a row may be '
                f"late), after any expression that makes the column"
            )
        delays.append(int(delay))
    return delays[0], delays[1]


def check_state_store(session: SparkSession) -> None:
    """Raise unless the session's state store can hold the join's state; warn if it is slow."""
    check_streams(session)
    provider = session.conf.get(PROVIDER)
    if provider != ROCKSDB:
        raise SpecError(
            f"the session's state store is {provider}, which cannot hold this state: call "
            f"hg.configure(spark) before the query starts, or "
            f'spark.conf.set("{PROVIDER}", "{ROCKSDB}")'
        )
    if session.conf.get(CHANGELOG, "false") != "true":
        warnings.warn(
            f"every checkpoint will upload the whole state: call hg.configure(spark), or "
            f'spark.conf.set("{CHANGELOG}", "true"), so that it uploads what changed',
            stacklevel=4,
        )


def shuffle_partitions(session: SparkSession, shards: int, stores: int) -> int:
    """The number of shuffle partitions; warns if most of them would be idle at a high cost.

    Parameters
    ----------
    shards
        How many partitions can have work.
    stores
        State stores per partition.
    """
    partitions = int(session.conf.get(PARTITIONS) or 200)
    busy = max(shards, access_to(session).cores)
    if partitions > MANY * busy:
        warnings.warn(
            f"{PARTITIONS} is {partitions}, so every batch opens and writes {partitions * stores} "
            f"state stores, also an empty one, and there is work for {shards}: call "
            f'hg.configure(spark), or spark.conf.set("{PARTITIONS}", "{busy}"), before the query '
            f"first starts",
            stacklevel=4,
        )
    return partitions
