"""Hears the metrics of running queries, and publishes the limits that follow from them."""

import json
import threading
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession
from pyspark.sql.streaming.listener import StreamingQueryListener

from headgate.planner.balancer import Balancer
from headgate.spark.join.limits_folder import keep_limits
from headgate.spark.session_access import access_to

Heard = Iterator[tuple[str, Mapping[str, Any]]]
"""Names of members of a budget, each with the figures of a batch."""


class LimitListener(StreamingQueryListener, ABC):
    """Passes figures to a balancer, and publishes the limits it decides on.

    Parameters
    ----------
    balancer
        Divides the budget among its members.
    folder
        Where limits are written down and published.
    """

    def __init__(self, balancer: Balancer, folder: Path) -> None:
        self.balancer, self.folder = balancer, folder
        self._lock = threading.Lock()
        self.moves: list[dict[str, int]] = []
        """The limits published so far, latest last."""

    def start(self, session: SparkSession) -> None:
        """Listen to the queries of a session.

        If the budget is smaller than when the queries last ran, their limits are lowered at once.
        """
        with self._lock:
            keep_limits(self.folder, self.balancer.members)
            told = {name: member.told for name, member in self.balancer.members.items()}
            part = self.balancer.whole / sum(told.values())
            if part < 1:
                self._publish(
                    self.balancer.wants({name: int(part * limit) for name, limit in told.items()})
                )
        access_to(session).listen_to_reports(self)

    @property
    def limits(self) -> dict[str, int]:
        """Rows or bytes that each member may store now, according to its latest metrics."""
        with self._lock:
            return {name: member.in_force for name, member in self.balancer.members.items()}

    def on_report(self, text: str) -> None:
        """A batch is done, of any query of the session; its report as JSON."""
        self._decide(json.loads(text).get("observedMetrics") or {})

    def onQueryProgress(self, event: Any) -> None:
        """The same, from a client of Connect."""
        self._decide(event.progress.observedMetrics)

    def _decide(self, observed: Mapping[str, Any]) -> None:
        """Decide on limits by the metrics of a finished batch."""
        for name, figures in self.members_in(observed):
            # Before the first rows arrive, no shard reports anything.
            if figures["limit"]:
                with self._lock:
                    self._publish(self.balancer.hear(name, figures))

    def _publish(self, limits: dict[str, int]) -> None:
        if limits:
            keep_limits(self.folder, self.balancer.members)
            for name, limit in limits.items():
                self.publish(name, limit)
            self.moves.append(limits)

    @abstractmethod
    def members_in(self, observed: Mapping[str, Any]) -> Heard:
        """The members whose figures are among the observed metrics of a query."""

    @abstractmethod
    def publish(self, name: str, limit: int) -> None:
        """Publish the limit of a member."""

    def onQueryStarted(self, event: Any) -> None:
        """Nothing to do."""

    def onQueryIdle(self, event: Any) -> None:
        """Nothing to do."""

    def onQueryTerminated(self, event: Any) -> None:
        """Nothing to do: the query's stored rows are still in its checkpoint."""
