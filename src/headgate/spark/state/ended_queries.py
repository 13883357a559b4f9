"""Removes the local files of ended queries, on this machine and on executors.

If the driver is killed, Spark removes them when executors end; the files of killed executors are
removed by the next worker; see `local_files`.
"""

import contextlib
import os
import shutil
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import Any

from py4j.protocol import Py4JError
from pyspark import SparkContext
from pyspark.sql import SparkSession
from pyspark.sql.streaming.listener import JStreamingQueryListener, StreamingQueryListener

from headgate.spark.state.local_files import LOCAL_DIRS, ROOT, forget_run, is_ours

_watched: set[str] = set()
"""Sessions whose queries are listened to, by id."""


def forget_when_queries_end(session: SparkSession) -> None:
    """From now on, remove the local files of each of the session's queries when it ends."""
    name = str(session._jsparkSession.sessionUUID())
    if name not in _watched:
        session.streams.addListener(_Listener(session))
        _watched.add(name)


class _Listener(StreamingQueryListener):
    """Listens for queries that end."""

    def __init__(self, session: SparkSession) -> None:
        self._session = session

    def onQueryStarted(self, event: Any) -> None:
        """Nothing to do."""

    def onQueryProgress(self, event: Any) -> None:
        """Nothing to do."""

    def onQueryIdle(self, event: Any) -> None:
        """Nothing to do."""

    @cached_property
    def _jlistener(self) -> Any:
        """What Spark calls: reports of batches go no further than this."""
        java: Any = SparkContext._jvm
        return java.PythonStreamingQueryListenerWrapper(_OnlyEnds(self))

    def onQueryTerminated(self, event: Any) -> None:
        """Remove the local files of the run."""
        query, run = str(event.id), str(event.runId)
        # A session that is stopping accepts no jobs, and Spark removes all its files.
        with contextlib.suppress(Py4JError):
            _forget_here(self._session, query, run)
            _forget_on_executors(self._session, query, run)


class _OnlyEnds(JStreamingQueryListener):
    """Leaves reports of batches unread.

    Reading one takes hundreds of calls to Java, a tenth of the processor time of a small batch.
    """

    def onQueryProgress(self, event: Any) -> None:
        """Nothing to do."""

    def onQueryIdle(self, event: Any) -> None:
        """Nothing to do."""


def _forget_here(session: SparkSession, query: str, run: str) -> None:
    for place in _local_dirs(session):
        for folder in place.glob(f"blockmgr-*/{ROOT}/*-{query}-{run}"):
            with contextlib.suppress(OSError):
                if is_ours(folder):
                    shutil.rmtree(folder, ignore_errors=True)


def _local_dirs(session: SparkSession) -> Iterator[Path]:
    """The local folders of a driver that is its own executor."""
    context = session.sparkContext
    java: Any = context._jvm
    usual = java.java.lang.System.getProperty("java.io.tmpdir")
    told = context.getConf().get("spark.local.dir", usual)
    for place in (os.environ.get(LOCAL_DIRS) or told or "").split(","):
        if place.strip():
            yield Path(place.strip())


def _forget_on_executors(session: SparkSession, query: str, run: str) -> None:
    """Run one task per core, so that most likely each executor gets one."""
    context = session.sparkContext
    if str(context.master).partition("[")[0] == "local":
        return
    tasks = context.defaultParallelism
    context.parallelize(range(tasks), tasks).foreach(lambda _: forget_run(query, run))
