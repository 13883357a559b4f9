"""Streams read from and written to any format of Spark's, and what Spark says against it."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from headgate.spark.carried_columns import quoted
from headgate.spec import SpecError

SPARKS = (PySparkException, Py4JJavaError)
"""Errors that come from Spark."""
MOST_SAID = 600
"""Characters of a message of Spark's: some have a whole query plan in them."""
_OURS = "headgate.spec.errors.SpecError: "


def read_rows(
    session: SparkSession,
    kind: str,
    options: Mapping[str, str],
    schema: str | None,
    infers: bool,
    streaming: bool,
) -> DataFrame:
    """The rows of a source, as a stream or as what is there now.

    ``infers`` says that a stream of this kind must be told its schema: where none is given, it is
    that of the files which are there.
    """
    if streaming and schema is None and infers:
        found = session.read.format(kind).options(**options).load().schema
        return session.readStream.format(kind).options(**options).schema(found).load()
    reader = session.readStream if streaming else session.read
    reader = reader.format(kind).options(**options)
    return (reader if schema is None else reader.schema(schema)).load()


def with_column(frame: DataFrame, name: str, expression: str) -> DataFrame:
    """The frame with a column computed by Spark SQL, new or in the place of another."""
    return frame.withColumn(name, F.expr(expression))


def kept(frame: DataFrame, names: Iterable[str]) -> DataFrame:
    """The columns of these names alone."""
    return frame.select(*(F.col(quoted(name)) for name in names))


def with_watermark(frame: DataFrame, time: str, delay: str) -> DataFrame:
    """The stream with a watermark on a column, whatever is in its name."""
    return frame.withWatermark(quoted(time), delay)


@contextmanager
def plainly() -> Iterator[None]:
    """What Spark says against something, as a `SpecError` of one line."""
    try:
        yield
    except SPARKS as error:
        raise SpecError(said_by(error)) from error


def said_by(error: BaseException) -> str:
    """The heart of an error of Spark's, in one line: Headgate's own message where there is one."""
    # Where Spark has no error of its own for it, the text begins with a trace of Java's.
    java = error.java_exception if isinstance(error, Py4JJavaError) else None
    text = str(error) if java is None else str(java.getMessage())
    if _OURS in text:
        return text.split(_OURS, 1)[1].split("\n", 1)[0].strip()
    # Behind the first paragraph comes where in the query it is, or a trace of calls.
    lines: list[str] = []
    for line in text.strip().splitlines():
        if not line.strip() or line.lstrip().startswith(("at ", "== ", "JVM stacktrace")):
            break
        lines.append(line.strip())
    said = " ".join(lines) or type(error).__name__
    return said if len(said) <= MOST_SAID else f"{said[:MOST_SAID]}…"


def is_sparks(error: BaseException) -> bool:
    """Whether an error is one of Spark's own."""
    return isinstance(error, SPARKS)


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
    """A streaming query that writes the rows; ``trigger`` is as PySpark takes it, or empty."""
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
