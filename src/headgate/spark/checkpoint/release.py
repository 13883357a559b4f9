"""Makes a checkpoint of Spark's own stream-stream join of that of a Headgate join.

A query of one batch joins the stored rows by Spark's own join, so that they are in its buffers, and
throws the result away: all of it has come out before. Its state becomes that of a new checkpoint.
In outer joins, rows stand for partners that are gone, so that Spark knows which rows have met one.
"""

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from headgate.engine.request import Request
from headgate.spark.arrow_batches import ARROW_ROWS
from headgate.spark.carried_columns import ResultColumn, carried_type, number, restored, travelling
from headgate.spark.checkpoint import stored_rows
from headgate.spark.checkpoint.checkpoint_files import (
    JOIN,
    PARTITIONS,
    CheckpointFiles,
    check_place,
)
from headgate.spark.checkpoint.gone_partners import OUTER, check_settled, is_alone, partners_of
from headgate.spark.checkpoint.join_buffers import MATCHED, buffered_rows
from headgate.spark.checkpoint.new_checkpoint import NewCheckpoint
from headgate.spark.checkpoint.resharding import SIDES, Moved, settings_advice, timed
from headgate.spark.checkpoint.stored_state import StoredState, reading
from headgate.spark.checkpoint.work_session import NO_DATA_BATCHES, PARTS_AT_ONCE
from headgate.spark.requirements import CHANGELOG, PROVIDER, WATERMARK
from headgate.spec import How, SpecError

Query = Callable[[DataFrame, DataFrame], DataFrame]


def release_checkpoint(
    session: SparkSession,
    old: CheckpointFiles,
    to: Path,
    join: Request,
    query: Query,
    frames: tuple[DataFrame, DataFrame],
) -> Moved:
    """Write a checkpoint for Spark's own join; see `headgate.release`."""
    check_place(to, old.path)
    query(*frames)  # raises where there is no such query, before anything is read or written
    session.conf.set(ARROW_ROWS, PARTS_AT_ONCE)
    state = StoredState.read(session, old)
    _check(state)
    _check_join(state, join, frames)
    user = frames[0].sparkSession
    conf = {name: user.conf.get(name) or "" for name in (PARTITIONS, PROVIDER)}
    new = NewCheckpoint.at(to, old, **conf, columns=[each.schema.json() for each in frames])
    seconds: dict[str, float] = {}
    with reading(old), timed(seconds, "read"):
        stored = []
        for side, name in enumerate(SIDES):
            needed = join.needed(side, frames[side].columns)
            write = partial(_write_stored, state, side, frames[side], needed)
            stored.append(session.read.parquet(str(new.stage(f"stored/{name}", write))))
        for side, name in enumerate(SIDES):
            new.stage(f"rows/{name}", partial(_write_rows, state, side, stored, frames))
    writer = _writing_session(session, user, conf)
    streams = [
        _stored_stream(writer, new.folder / "rows" / SIDES[side], frames[side]) for side in (0, 1)
    ]
    with timed(seconds, "write"):
        written = new.stage(
            "written", partial(_write_state, query(streams[0], streams[1])), again=False
        )
    made = CheckpointFiles.of(written)
    if [operator.name for operator in made.operators()] != [JOIN]:
        names = ", ".join(operator.name for operator in made.operators())
        raise SpecError(
            f"the query has the stateful operators {names}: give a query whose only stateful "
            f"operator is Spark's stream-stream join"
        )
    for side in OUTER.get(state.join.how, ()):
        _check_flags(session, made, side, stored[side], state)
    state.check_unchanged()
    rows = [each.count() for each in stored]
    with timed(seconds, "move"):
        new.finish(old, {0: written / "state" / "0"}, made.offsets(0).conf)
    partitions = int(conf[PARTITIONS])
    advice = (settings_advice(partitions, "the query with Spark's own join"),)
    return Moved(to, (rows[0], rows[1]), None, partitions, seconds, advice)


def _check(state: StoredState) -> None:
    """Raise where Spark's own join cannot go on from what is stored."""
    others = len(state.files.operators()) - 1
    sources = len(state.files.offsets(state.batch).lines)
    if others or sources != len(SIDES):
        raise SpecError(
            f"{state.files.path} is the checkpoint of a query with {others} other stateful "
            f"operators and {sources} sources: only a query with two sources and the join as its "
            f"only stateful operator can move to Spark's own join"
        )
    if state.join.counts_rows:
        raise SpecError("Spark's own join has no windows of the last n rows")
    if state.join.how == How.ANTI:
        raise SpecError('Spark has no stream-stream join with how="anti"')
    check_settled(state)


def _check_join(state: StoredState, join: Request, frames: tuple[DataFrame, DataFrame]) -> None:
    """Raise unless the join that is given is the one that has stored the rows.

    Rows of an inner join, for example, do not say which of them have met a partner: Spark's outer
    join would put out again some that have.
    """
    stored = state.join
    told: dict[str, tuple[object, object]] = {
        "how=": (stored.how, str(join.how)),
        "where=": (
            stored.facts["predicate"],
            None if join.where is None else repr(join.where),
        ),
    }
    for side, name in enumerate(SIDES):
        keys = (join.keys.left, join.keys.right)[side]
        told |= {
            f"the {name} key": (stored.keys(side, frames[side].columns), tuple(keys)),
            f"the {name} time": (stored.time(side), join.sides[side].time),
            f"the {name} window": (stored.window(side), join.windows[side]),
        }
    for what, (was, given) in told.items():
        if was != given:
            raise SpecError(
                f"{what} is {_shown(was)} in {state.files.path}, and {_shown(given)} in the join "
                f"that is given: give the join that wrote the checkpoint"
            )


def _shown(fact: object) -> str:
    return ", ".join(fact) if isinstance(fact, tuple) else str(fact)


def _write_stored(
    state: StoredState, side: int, frame: DataFrame, needed: list[str], folder: Path
) -> None:
    """Write a side's stored rows: columns by number, time, and whether each has met a partner.

    Columns that are not needed are null: Spark's own join does not store them either.
    """
    known = stored_rows.stored_columns(state, side)
    own = (stored_rows.TIME, stored_rows.FATE)
    if known is None:
        kinds = travelling(ResultColumn(field.name, field.dataType) for field in frame.schema)
        for name in own:
            kinds = kinds.add(stored_rows.OWN[name])
        state.session.createDataFrame([], kinds).write.parquet(str(folder))
        return
    stored = known.schema.names
    if stored not in (frame.columns, needed):
        raise SpecError(
            f"the {SIDES[side]} stream has the columns {', '.join(frame.columns)}, and stored rows "
            f"{', '.join(stored)}: give the streams that were joined"
        )
    rows = stored_rows.live_rows_frame(state, side, known.schema)
    columns = [
        (
            F.col(number(stored.index(field.name)))
            if field.name in stored
            else F.lit(None).cast(carried_type(field.dataType))
        ).alias(number(place))
        for place, field in enumerate(frame.schema)
    ]
    rows.select(*columns, *own).write.parquet(str(folder))


def _write_rows(
    state: StoredState,
    side: int,
    stored: Sequence[DataFrame],
    frames: tuple[DataFrame, DataFrame],
    folder: Path,
) -> None:
    """Write a side's rows in the columns and types of its stream, and those that stand for
    partners which the other side's rows have met."""
    schema = frames[side].schema
    rows = stored[side].drop(stored_rows.TIME, stored_rows.FATE)
    if 1 - side in OUTER.get(state.join.how, ()):
        gone = partners_of(state, 1 - side, [each.schema for each in frames])
        rows = rows.unionAll(gone.rows(stored, schema))
    shown = [ResultColumn(field.name, field.dataType) for field in schema]
    restored(rows, shown).write.parquet(str(folder))


def _check_flags(
    session: SparkSession,
    made: CheckpointFiles,
    side: int,
    stored: DataFrame,
    state: StoredState,
) -> None:
    """Raise unless the buffer takes as many rows for unmatched as have met no partner."""
    buffer = buffered_rows(session, made, side, with_flag=True)
    time = state.join.time(side)
    alone = buffer.where(~F.col(MATCHED)).count() if time in buffer.columns else None
    if alone != stored.where(is_alone()).count():
        raise SpecError(
            f"the query and the join disagree about which {SIDES[side]} rows have found a partner: "
            f"give a query with the same result as the join (hg.built_in), or leave query= out"
        )


def _writing_session(
    session: SparkSession, user: SparkSession, conf: dict[str, str]
) -> SparkSession:
    """A session in which Spark's own join writes its state as the user's would."""
    writer: SparkSession = session.newSession()
    for name, value in conf.items():
        writer.conf.set(name, value)
    for name in ("spark.sql.session.timeZone", "spark.sql.ansi.enabled"):
        writer.conf.set(name, user.conf.get(name) or "")
    writer.conf.set(CHANGELOG, "false")
    writer.conf.set(NO_DATA_BATCHES, "false")
    return writer


def _stored_stream(session: SparkSession, folder: Path, frame: DataFrame) -> DataFrame:
    """Stored rows as a stream like the one they came from, with its watermark."""
    stream = session.readStream.schema(frame.schema).parquet(str(folder))
    for field in frame.schema:
        if WATERMARK in field.metadata:
            delay = int(field.metadata[WATERMARK])
            stream = stream.withWatermark(field.name, f"{delay} milliseconds")
    return stream


def _write_state(result: DataFrame, checkpoint: Path) -> None:
    query = (
        result.writeStream.format("noop")
        .option("checkpointLocation", str(checkpoint))
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination()
