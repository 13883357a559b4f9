"""Reads and writes streams in any format of Spark, and turns Spark's errors into plain ones."""

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from headgate.spark.carried_columns import quoted
from headgate.spark.session_access import access_to, is_connect, message_of, spark_errors
from headgate.spec import SpecError

MOST_SAID = 600
"""Characters of a message of Spark's: some have a whole query plan in them."""
_OURS = "headgate.spec.errors.SpecError: "
_BEFORE_THE_PLAN = re.compile(r"(; line \d+ pos \d+)?;$")
"""How a line ends after which Spark prints the plan of the query."""


def read_rows(
    session: SparkSession,
    kind: str,
    options: Mapping[str, str],
    schema: str | None,
    infers: bool,
    streaming: bool,
) -> DataFrame:
    """Read the rows of a source, as a stream or as the data there now.

    ``infers`` says that a stream of this format needs a schema: if none is given, it is inferred
    from the existing files.
    """
    if streaming and schema is None and infers:
        found = session.read.format(kind).options(**options).load().schema
        return session.readStream.format(kind).options(**options).schema(found).load()
    reader = session.readStream if streaming else session.read
    reader = reader.format(kind).options(**options)
    return (reader if schema is None else reader.schema(schema)).load()


def resolved(frame: DataFrame) -> DataFrame:
    """The same frame; on Connect its columns are looked up now, and an unknown one is an error.

    A classic session does that where a frame is made, a client of Connect where it must.
    """
    if is_connect(frame):
        # Of a filter the client takes the schema to be that of its input, and asks nobody.
        _ = frame.select("*").schema
    return frame


def with_column(frame: DataFrame, name: str, expression: str) -> DataFrame:
    """Add or replace a column, computed by Spark SQL."""
    return frame.withColumn(name, F.expr(expression))


def kept(frame: DataFrame, names: Iterable[str]) -> DataFrame:
    """Select only the columns with these names."""
    return frame.select(*(F.col(quoted(name)) for name in names))


def with_watermark(frame: DataFrame, time: str, delay: str) -> DataFrame:
    """Set a watermark on a column, whatever characters its name has."""
    return frame.withWatermark(quoted(time), delay)


@contextmanager
def plainly() -> Iterator[None]:
    """Context that turns Spark's errors into a `SpecError` of one line."""
    try:
        yield
    except spark_errors() as error:
        raise SpecError(said_by(error)) from error


def said_by(error: BaseException) -> str:
    """The core of a Spark error in one line: Headgate's own message if it contains one."""
    text = message_of(error)
    if _OURS in text:
        return text.split(_OURS, 1)[1].split("\n", 1)[0].strip()
    # After the first paragraph comes the position in the query, its plan, or a stack trace.
    lines: list[str] = []
    for line in text.strip().splitlines():
        if not line.strip() or line.lstrip().startswith(("at ", "== ", "JVM stacktrace")):
            break
        lines.append(_BEFORE_THE_PLAN.sub("", line.strip()))
        if lines[-1] != line.strip():
            break
    said = " ".join(lines) or type(error).__name__
    return said if len(said) <= MOST_SAID else f"{said[:MOST_SAID]}…"


def is_sparks(error: BaseException) -> bool:
    """Whether an error comes from Spark."""
    return isinstance(error, spark_errors())


def check_format(session: SparkSession, kind: str) -> None:
    """Raise Spark's error where it does not know a format."""
    access_to(session).check_format(kind)


def start_query(
    frame: DataFrame,
    *,
    kind: str,
    options: Mapping[str, str],
    partition_by: tuple[str, ...],
    trigger: Mapping[str, Any],
    checkpoint: str,
    name: str,
) -> Any:
    """Start a streaming query that writes the rows; ``trigger`` has PySpark's arguments, if any."""
    writer = (
        frame.writeStream.format(kind)
        .options(**options)
        .option("checkpointLocation", checkpoint)
        .outputMode("append")
        .queryName(name)
    )
    if partition_by:
        writer = writer.partitionBy(*partition_by)
    if trigger:
        writer = writer.trigger(**trigger)
    return writer.start()
