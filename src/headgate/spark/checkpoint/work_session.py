"""A session for work on checkpoints, so that its settings do not reach the user's queries."""

from collections.abc import Mapping
from typing import Any

from pyspark.sql import SparkSession

from headgate.engine.inputs import is_spark
from headgate.spark.arrow_batches import ARROW_BYTES, ARROW_ROWS
from headgate.spark.column_types import ANSI
from headgate.spark.requirements import CHANGELOG, check_session
from headgate.spark.session_access import is_connect
from headgate.spark.worker_check import check_workers
from headgate.spec import SpecError

PARTS_AT_ONCE = "8"
"""Parts of stored tables in an Arrow batch, half a megabyte each."""
ROWS_AT_ONCE = "10000"
BYTES_AT_ONCE = str(1 << 23)
NO_DATA_BATCHES = "spark.sql.streaming.noDataMicroBatches.enabled"


def work_session(session: Any) -> SparkSession:
    """A new session beside the given one; keys are compared as there."""
    if not is_spark(session):
        raise SpecError(
            f"spark={session!r}: a checkpoint is read by Spark, give the session (spark=spark)"
        )
    if is_connect(session):
        raise SpecError(
            "checkpoints are read and written by a classic session on the machine with their "
            "files: start one there (hg.session()), or use the headgate command"
        )
    check_session(session)
    check_workers(session)
    work: SparkSession = session.newSession()
    work.conf.set(ANSI, session.conf.get(ANSI, "true") or "true")
    work.conf.set("spark.sql.session.timeZone", "UTC")
    work.conf.set("spark.sql.parquet.outputTimestampType", "TIMESTAMP_MICROS")
    work.conf.set(ARROW_ROWS, ROWS_AT_ONCE)
    work.conf.set(ARROW_BYTES, BYTES_AT_ONCE)
    return work


def for_writing(session: SparkSession, conf: Mapping[str, str]) -> SparkSession:
    """A session that writes state in the form that a query began with, whole and in one batch."""
    work: SparkSession = session.newSession()
    for name, value in conf.items():
        work.conf.set(name, value)
    # With a log of changes there would be no whole state to be read from.
    work.conf.set(CHANGELOG, "false")
    work.conf.set(NO_DATA_BATCHES, "false")
    work.conf.set("spark.sql.session.timeZone", "UTC")
    work.conf.set(ARROW_ROWS, "1")
    return work
