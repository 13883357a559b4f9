"""Queries that share one budget: rebalances their limits as the streams drift."""

import json
import os
import threading
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.listener import StreamingQueryListener

from headgate.engine.request import Request
from headgate.planner.balancer import Balancer, Member
from headgate.spark.join.join_stream import shard_count, stream
from headgate.spark.join.published_changes import LONGEST_LIMIT, publish_limit
from headgate.spark.session_access import access_to
from headgate.spark.spark_versions import figures_of
from headgate.spec import SpecError
from headgate.spec.bounded_json import read_json

KEPT = "limits.json"
"""File beside the joins' folders with the limits last published and last in force."""
LONGEST_KEPT = 1_000_000


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
        self._frames, self._balancer, self._folder = dict(frames), balancer, folder
        self._session = session
        self._lock = threading.Lock()
        self._listener = _Listener(self)
        self.moves: list[dict[str, int]] = []
        """The limits published so far, latest last."""
        with self._lock:
            self._keep()
        access_to(session).listen(self._listener)

    def __getitem__(self, name: str) -> DataFrame:
        return self._frames[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._frames)

    def __len__(self) -> int:
        return len(self._frames)

    @property
    def limits(self) -> dict[str, int]:
        """Rows or bytes that each join may store now, according to its latest metrics."""
        with self._lock:
            return {name: member.in_force for name, member in self._balancer.members.items()}

    def stop(self) -> None:
        """Stop rebalancing; the limits stay as they are."""
        self._session.streams.removeListener(self._listener)

    def hear(self, observed: Mapping[str, Any]) -> None:
        """Process the metrics of a query's batch."""
        for name in self._frames:
            if name not in observed:
                continue
            figures = figures_of(observed[name])
            # Before the first rows arrive, no shard reports anything.
            if figures["limit"]:
                with self._lock:
                    self._tell(self._balancer.hear(name, figures))

    def fit(self) -> None:
        """Scale the limits down if the budget is smaller than when the joins last ran."""
        with self._lock:
            told = {name: member.told for name, member in self._balancer.members.items()}
            part = self._balancer.whole / sum(told.values())
            if part < 1:
                self._tell(
                    self._balancer.wants({name: int(part * limit) for name, limit in told.items()})
                )

    def _tell(self, limits: dict[str, int]) -> None:
        if not limits:
            return
        # Saved before publishing: after a crash in between, no memory is given away twice.
        self._keep()
        for name, limit in limits.items():
            publish_limit(self._folder / name, limit)
        self.moves.append(limits)

    def _keep(self) -> None:
        self._folder.mkdir(parents=True, exist_ok=True)
        unfinished = self._folder / f".{KEPT}.unfinished"
        told = {
            name: {"told": member.told, "in_force": member.in_force}
            for name, member in self._balancer.members.items()
        }
        unfinished.write_text(json.dumps(told))
        os.replace(unfinished, self._folder / KEPT)


class _Listener(StreamingQueryListener):
    """Forwards the progress reports of queries."""

    def __init__(self, shared: SharedStreams) -> None:
        self._shared = shared

    def onQueryStarted(self, event: Any) -> None:
        """Nothing to do."""

    def onQueryProgress(self, event: Any) -> None:
        """Forward the metrics of a finished batch."""
        self._shared.hear(event.progress.observedMetrics)

    def onQueryIdle(self, event: Any) -> None:
        """Nothing to do."""

    def onQueryTerminated(self, event: Any) -> None:
        """Nothing to do: the query's stored rows are still in its checkpoint."""


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
    shared = SharedStreams(frames, Balancer(whole, weights, members), folder, session)
    shared.fit()
    return shared


def members_before(folder: Path, names: Mapping[str, int]) -> dict[str, Member] | None:
    """Load the joins' limits from the folder of an earlier run; None if the folder is new.

    ``names`` are those of the joins, with the number of shards of each.
    """
    kept = folder / KEPT
    if not kept.exists():
        return None
    told = _read_kept(kept)
    if set(told) != set(names):
        raise SpecError(
            f"folder {str(folder)!r} belongs to a group of {', '.join(sorted(told))}, and this one "
            f"is of {', '.join(sorted(names))}: give each group a folder of its own"
        )
    return {
        name: Member(told[name]["told"], told[name]["in_force"], shards)
        for name, shards in names.items()
    }


def _read_kept(kept: Path) -> dict[str, dict[str, int]]:
    """Read the limits last published and last in force, by join."""
    try:
        with kept.open("rb") as file:
            text = file.read(LONGEST_KEPT + 1).decode()
        told = read_json(text, "a list of limits", LONGEST_KEPT, deepest=2)
    except (OSError, ValueError) as error:
        raise _broken(kept, error) from error
    limits = told.values() if isinstance(told, dict) else [None]
    if not all(isinstance(each, dict) and _is_told(each) for each in limits):
        raise _broken(kept, "it does not say what was told to each join, and what is in force")
    return dict(told)


def _is_told(limits: dict[str, Any]) -> bool:
    given = [limits.get("told"), limits.get("in_force")]
    return all(type(limit) is int and 0 < limit < 10**LONGEST_LIMIT for limit in given)


def _broken(kept: Path, reason: object) -> SpecError:
    return SpecError(
        f"{kept} cannot be read ({reason}): write it from a copy, or remove it together with the "
        f"checkpoints of the group's queries, since without it nobody knows their limits"
    )
