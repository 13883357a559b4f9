"""The local files of queries that have ended are removed, on the machine at hand and on executors.

What this misses, where a driver is killed, Spark removes when executors end, and the next worker
removes what killed executors have left; see `local_files`.
"""

import contextlib
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from py4j.protocol import Py4JError
from pyspark.sql import SparkSession
from pyspark.sql.streaming.listener import StreamingQueryListener

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
    """Hears of queries that end."""

    def __init__(self, session: SparkSession) -> None:
        self._session = session

    def onQueryStarted(self, event: Any) -> None:
        """Nothing to do."""

    def onQueryProgress(self, event: Any) -> None:
        """Nothing to do."""

    def onQueryIdle(self, event: Any) -> None:
        """Nothing to do."""

    def onQueryTerminated(self, event: Any) -> None:
        """A run is over."""
        query, run = str(event.id), str(event.runId)
        # A session that is being stopped takes no more jobs, and Spark removes all its files.
        with contextlib.suppress(Py4JError):
            _forget_here(self._session, query, run)
            _forget_on_executors(self._session, query, run)


def _forget_here(session: SparkSession, query: str, run: str) -> None:
    for place in _local_dirs(session):
        for folder in place.glob(f"blockmgr-*/{ROOT}/*-{query}-{run}"):
            with contextlib.suppress(OSError):
                if is_ours(folder):
                    shutil.rmtree(folder, ignore_errors=True)


def _local_dirs(session: SparkSession) -> Iterator[Path]:
    """The folders in which a driver that is its own executor keeps files."""
    context = session.sparkContext
    java: Any = context._jvm
    usual = java.java.lang.System.getProperty("java.io.tmpdir")
    told = context.getConf().get("spark.local.dir", usual)
    for place in (os.environ.get(LOCAL_DIRS) or told or "").split(","):
        if place.strip():
            yield Path(place.strip())


def _forget_on_executors(session: SparkSession, query: str, run: str) -> None:
    """A task for every core; most likely each executor gets one."""
    context = session.sparkContext
    if str(context.master).partition("[")[0] == "local":
        return
    tasks = context.defaultParallelism
    context.parallelize(range(tasks), tasks).foreach(lambda _: forget_run(query, run))
