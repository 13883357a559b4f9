"""Queries that share one budget: rebalances their limits as the streams drift."""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from headgate.engine.request import Request
from headgate.planner.balancer import Balancer, Member, WorstOff
from headgate.spark.join.join_stream import shard_count, stream
from headgate.spark.join.limit_listener import Heard, LimitListener
from headgate.spark.join.limits_folder import members_before
from headgate.spark.join.published_changes import publish_limit
from headgate.spark.spark_versions import figures_of


class SharedStreams(Mapping[str, DataFrame]):
    """Streaming DataFrames of joins that share one budget, by name.

    Start a query on each. While they run, their limits are adapted to their needs without a
    restart; `stop` ends that and keeps the current limits.
    """

    def __init__(
        self,
        frames: Mapping[str, DataFrame],
        balancer: Balancer,
        folder: Path,
        session: SparkSession,
    ) -> None:
        self._frames, self._session = dict(frames), session
        self._listener = JoinLimits(balancer, folder)
        self._listener.start(session)

    def __getitem__(self, name: str) -> DataFrame:
        return self._frames[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._frames)

    def __len__(self) -> int:
        return len(self._frames)

    @property
    def limits(self) -> dict[str, int]:
        """Rows or bytes that each join may store now, according to its latest metrics."""
        return self._listener.limits

    @property
    def moves(self) -> list[dict[str, int]]:
        """The limits published so far, latest last."""
        return self._listener.moves

    def stop(self) -> None:
        """Stop rebalancing; the limits stay as they are."""
        self._session.streams.removeListener(self._listener)


class JoinLimits(LimitListener):
    """Moves memory between joins, each of which has a folder of its own for its limits."""

    def members_in(self, observed: Mapping[str, Any]) -> Heard:
        """The joins of the group that are in a query."""
        for name in self.balancer.members:
            if name in observed:
                yield name, figures_of(observed[name])

    def publish(self, name: str, limit: int) -> None:
        """Publish the limit of a join."""
        publish_limit(self.folder / name, limit)


def share(
    request: Callable[[str, int], Request],
    streams: Mapping[str, tuple[DataFrame, DataFrame]],
    whole: int,
    weights: Mapping[str, float],
    begin: Mapping[str, int],
    folder: Path,
    shards: int | None,
    watermark: bool,
) -> SharedStreams:
    """The streaming form of `JoinGroup`; see there.

    Parameters
    ----------
    request
        Returns a join by name, with a given part of the budget.
    whole, weights, begin
        The budget in rows or bytes, the joins' weights, and their initial parts.
    """
    counts, session = {}, None
    for name, (left, right) in streams.items():
        counts[name] = shard_count(request(name, begin[name]), left, right, shards)
        session = left.sparkSession
    assert session is not None  # a group has joins
    before = members_before(folder, counts)
    members = before or {
        name: Member(told, told, count)
        for name, count in counts.items()
        for told in (begin[name] // count * count,)
    }
    frames = {
        name: stream(
            request(name, members[name].told),
            left,
            right,
            counts[name],
            name,
            limits=folder / name,
            most=whole,
            watermark=watermark,
        )
        for name, (left, right) in streams.items()
    }
    balancer = Balancer(whole, WorstOff(weights), members)
    return SharedStreams(frames, balancer, folder, session)
