"""Hears what a session's queries report, as text, and passes it on.

PySpark turns each report into Python objects with hundreds of calls to Java, a tenth of the
processor time of a small batch. Here a report is one string, and nothing is done with it on the
thread that Spark tells it on.
"""

import json
from collections.abc import Callable
from typing import Any

from pyspark.sql import SparkSession
from pyspark.sql.streaming.listener import StreamingQueryListener

from headgate.spark.session_access import access_to

Hear = Callable[[str, str], None]
"""Takes what happened (`STARTED`, `REPORTED` or `ENDED`) and its text, JSON; must not wait."""
STARTED, REPORTED, ENDED = "started", "reported", "ended"


class ReportListener(StreamingQueryListener):
    """Passes on reports of batches, and of queries that start and end."""

    def __init__(self, hear: Hear) -> None:
        self._hear = hear

    def on_report(self, text: str) -> None:
        """A batch is done; its report as JSON."""
        self._hear(REPORTED, text)

    def onQueryProgress(self, event: Any) -> None:
        """The same, from a client of Connect."""
        self.on_report(event.progress.json)

    def onQueryStarted(self, event: Any) -> None:
        """A query starts."""
        told = {"id": str(event.id), "runId": str(event.runId), "name": event.name}
        self._hear(STARTED, json.dumps(told))

    def onQueryIdle(self, event: Any) -> None:
        """Nothing to do."""

    def onQueryTerminated(self, event: Any) -> None:
        """A query has ended. Why is not passed on: messages may hold paths and secrets."""
        failed = event.exception is not None
        told = {"id": str(event.id), "runId": str(event.runId), "failed": failed}
        self._hear(ENDED, json.dumps(told))


def listen(session: SparkSession, hear: Hear) -> Callable[[], None]:
    """Pass on what the session's queries report from now on; call the result to stop that."""
    listener = ReportListener(hear)
    access_to(session).listen_to_reports(listener)
    return lambda: session.streams.removeListener(listener)
