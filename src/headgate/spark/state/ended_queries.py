"""Removes the local files of ended queries, on this machine and on executors.

If the driver or the client is killed, Spark removes them when executors end. The files of killed
executors, of earlier runs and of queries long unused are removed by workers; see `local_files`.
"""

import contextlib
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession
from pyspark.sql.streaming.listener import StreamingQueryListener

from headgate.spark.session_access import SessionAccess, access_to, spark_errors
from headgate.spark.state.local_files import ROOT, forget_run, is_ours

_watched: set[str] = set()
"""Sessions whose queries are listened to, by id."""


def forget_when_queries_end(session: SparkSession) -> None:
    """From now on, remove the local files of each of the session's queries when it ends."""
    access = access_to(session)
    if access.name not in _watched:
        access.listen_for_ends(_Listener(access))
        _watched.add(access.name)


class _Listener(StreamingQueryListener):
    """Listens for queries that end."""

    def __init__(self, access: SessionAccess) -> None:
        self._access = access

    def onQueryStarted(self, event: Any) -> None:
        """Nothing to do."""

    def onQueryProgress(self, event: Any) -> None:
        """Nothing to do."""

    def onQueryIdle(self, event: Any) -> None:
        """Nothing to do."""

    def onQueryTerminated(self, event: Any) -> None:
        """Remove the local files of the run."""
        query, run = str(event.id), str(event.runId)
        # A session that is stopping accepts no jobs, and Spark removes all its files. A client of
        # Connect that is closed raises a ValueError.
        with contextlib.suppress(ValueError, *spark_errors()):
            here = self._access.local_dirs()
            _forget_here(here, query, run)
            if not here:
                self._access.on_every_core(lambda _: forget_run(query, run))


def _forget_here(places: Sequence[Path], query: str, run: str) -> None:
    for place in places:
        for folder in place.glob(f"blockmgr-*/{ROOT}/*-{query}-{run}"):
            with contextlib.suppress(OSError):
                if is_ours(folder):
                    shutil.rmtree(folder, ignore_errors=True)
