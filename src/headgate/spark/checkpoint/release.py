"""Makes a checkpoint of Spark's own stream-stream join of that of a Headgate join.

A query of one batch joins the stored rows by Spark's own join, so that they are in its buffers, and
throws the result away: all of it has come out before. Its state becomes that of a new checkpoint.
"""

from collections.abc import Callable
from functools import partial
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from headgate.kernel.layout import Fate
from headgate.spark.arrow_batches import ARROW_ROWS
from headgate.spark.carried_columns import Shown, number, restored
from headgate.spark.checkpoint import stored_rows
from headgate.spark.checkpoint.checkpoint_files import (
    JOIN,
    PARTITIONS,
    CheckpointFiles,
    check_place,
)
from headgate.spark.checkpoint.new_checkpoint import NewCheckpoint
from headgate.spark.checkpoint.resharding import SIDES, Moved, settings_advice, timed
from headgate.spark.checkpoint.stored_state import StoredState, reading
from headgate.spark.checkpoint.work_session import NO_DATA_BATCHES, PARTS_AT_ONCE
from headgate.spark.requirements import CHANGELOG, PROVIDER, WATERMARK
from headgate.spec import SpecError

Query = Callable[[DataFrame, DataFrame], DataFrame]
OUTER = {"left": (0,), "right": (1,), "full": (0, 1)}


def release_checkpoint(
    session: SparkSession,
    old: CheckpointFiles,
    to: Path,
    query: Query,
    frames: tuple[DataFrame, DataFrame],
) -> Moved:
    """Write a checkpoint for Spark's own join; see `headgate.release`."""
    check_place(to, old.path)
    session.conf.set(ARROW_ROWS, PARTS_AT_ONCE)
    state = StoredState.read(session, old)
    _check(state)
    user = frames[0].sparkSession
    conf = {name: user.conf.get(name) or "" for name in (PARTITIONS, PROVIDER)}
    new = NewCheckpoint.at(to, old, **conf, columns=[each.schema.json() for each in frames])
    seconds: dict[str, float] = {}
    with reading(old), timed(seconds, "read"):
        for side in (0, 1):
            new.stage(f"rows/{SIDES[side]}", partial(_write_rows, state, side, frames[side]))
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
            f"the query has the stateful operators {names}: give one whose only one is Spark's "
            f"stream-stream join"
        )
    state.check_unchanged()
    rows = [_count(session, new.folder / "rows" / name) for name in SIDES]
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
            f"{state.files.path} is that of a query with {others} other stateful operators and "
            f"{sources} sources: one can be given back whose only stateful operator is the join, "
            f"of two sources"
        )
    if state.join.counts_rows:
        raise SpecError("Spark's own join has no windows of the last n rows")


def _write_rows(state: StoredState, side: int, frame: DataFrame, folder: Path) -> None:
    """Write a side's stored rows in the columns and types of its stream."""
    known = stored_rows.stored_columns(state, side)
    if known is None:
        state.session.createDataFrame([], frame.schema).write.parquet(str(folder))
        return
    if known.schema.names != frame.columns:
        raise SpecError(
            f"the {SIDES[side]} stream has the columns {', '.join(frame.columns)}, and stored rows "
            f"{', '.join(known.schema.names)}: give the streams that were joined"
        )
    rows = stored_rows.live_rows_frame(state, side, known.schema)
    if side in OUTER.get(state.join.how, ()):
        _check_unmatched(rows, side)
    payload = rows.select(*map(number, range(len(known.schema))))
    shown = [Shown(field.name, field.dataType) for field in frame.schema]
    restored(payload, shown).write.parquet(str(folder))


def _check_unmatched(rows: DataFrame, side: int) -> None:
    """Raise where rows of an outer side have met a partner: their buffer could not be told so."""
    matched = rows.where(F.col(stored_rows.FATE).bitwiseAND(int(Fate.MATCHED)) != 0).count()
    if matched:
        raise SpecError(
            f"{matched:,} stored {SIDES[side]} rows of this outer join have met a partner, which "
            f"may be gone, and Spark's buffers cannot be told so: such rows would come out once "
            f"more, as unmatched. `headgate state --rows` writes them as a file; inner and semi "
            f"joins can be given back"
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


def _count(session: SparkSession, folder: Path) -> int:
    return session.read.parquet(str(folder)).count()
