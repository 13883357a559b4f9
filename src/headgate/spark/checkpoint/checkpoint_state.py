"""What is in a checkpoint: the join, its rows by side and shard, ages, frequent keys, models."""

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from headgate.report.report_section import ReportSection, as_text
from headgate.spark.arrow_batches import ARROW_ROWS
from headgate.spark.carried_columns import number
from headgate.spark.checkpoint.checkpoint_files import CheckpointFiles
from headgate.spark.checkpoint.described_join import HIDDEN, INNER
from headgate.spark.checkpoint.row_file import write_rows
from headgate.spark.checkpoint.state_wording import sections
from headgate.spark.checkpoint.stored_rows import (
    SHARD,
    SIZE,
    TIME,
    live_rows_frame,
    stored_columns,
)
from headgate.spark.checkpoint.stored_state import StoredShard, StoredState, reading
from headgate.spark.checkpoint.work_session import PARTS_AT_ONCE
from headgate.spark.shards import shard_labels

TOP_KEYS = 10
SIDES = ("left", "right")
UNSEEN = "(not shown; ask for values)"


@dataclass(frozen=True)
class SideState:
    """The stored rows of one side: how many, their bytes as a budget counts them, and their times.

    Times are in microseconds since 1970; None if there are no rows.
    """

    rows: int = 0
    bytes: int = 0
    oldest_us: int | None = None
    median_us: int | None = None
    newest_us: int | None = None


@dataclass(frozen=True)
class StoppedShard:
    """What one shard holds.

    Parameters
    ----------
    number, label
        The shard's place among all, and the number by which Spark knows it.
    sides
        The stored rows of each side.
    segments
        Tables in which these rows are.
    dead_rows
        Rows given up or expired whose bytes are not reclaimed yet.
    seen
        Rows of each side so far.
    batches
        Batches so far.
    limit
        Rows or bytes that the whole join may store, where that was changed since the start.
    policy
        The policy that is followed, where the join chooses it by what it learned.
    watched_share
        The share of arrivals that is watched to learn from; None if nothing is learned.
    pairs, lost
        Result rows, and rows given up, since the join began to learn.
    learned_bytes
        Bytes that learned models take in the state store.
    """

    number: int
    label: int
    sides: tuple[SideState, SideState]
    segments: int
    dead_rows: int
    seen: tuple[int, int]
    batches: int
    limit: int | None
    policy: str | None
    watched_share: float | None
    pairs: int | None
    lost: int | None
    learned_bytes: int


@dataclass(frozen=True)
class FrequentKey:
    """A key that many stored rows have; a hash stands for its value unless values are asked for."""

    key: str
    rows: tuple[int, int]


@dataclass(frozen=True)
class CheckpointState:
    """What is in the checkpoint of a join, as of its last finished batch.

    Made by `headgate.state`; prints as a report.
    """

    path: str
    format: int
    batch: int
    unfinished: tuple[int, ...]
    watermark_us: int | None
    clock_us: int
    join: dict[str, Any]
    settings: dict[str, str]
    offsets: tuple[str, ...]
    shards: tuple[StoppedShard, ...]
    sides: tuple[SideState, SideState]
    top_keys: tuple[FrequentKey, ...]

    @property
    def rows(self) -> int:
        """Stored rows of both sides, over all shards."""
        return sum(side.rows for side in self.sides)

    @property
    def bytes(self) -> int:
        """Their bytes, as a budget counts them."""
        return sum(side.bytes for side in self.sides)

    @property
    def followed(self) -> str | None:
        """The policy that most shards follow, which another join may begin with
        (``WindowJoin(prior=)``); None where the join does not choose it."""
        names = Counter(shard.policy for shard in self.shards if shard.policy)
        return names.most_common(1)[0][0] if names else None

    def to_json(self) -> str:
        """All of it as JSON."""
        return json.dumps(asdict(self), indent=2)

    def sections(self) -> tuple[ReportSection, ...]:
        """The report, section by section."""
        return sections(self)

    def __str__(self) -> str:
        return as_text(self.sections())


def read_checkpoint(
    session: SparkSession,
    files: CheckpointFiles,
    top_keys: int = TOP_KEYS,
    values: bool = False,
    rows: Path | None = None,
) -> CheckpointState:
    """Read what a checkpoint holds; ``rows`` is a Parquet file for the rows themselves."""
    session.conf.set(ARROW_ROWS, PARTS_AT_ONCE)
    state = StoredState.read(session, files)
    frames: list[DataFrame | None] = []
    keys: list[tuple[str, ...]] = []
    columns = [stored_columns(state, side) for side in (0, 1)]
    for side, known in enumerate(columns):
        frames.append(None if known is None else live_rows_frame(state, side, known.schema))
        names = () if known is None else state.join.keys(side, known.schema.names)
        keys.append(tuple(number(known.schema.names.index(name)) for name in names if known))
    with reading(files):
        found = [_by_shard(frame) for frame in frames]
        whole = [_whole(frame) for frame in frames]
        frequent = _frequent(frames, keys, top_keys, values)
        if rows is not None:
            schemas = [None if known is None else known.schema for known in columns]
            settles = state.join.how != INNER
            write_rows(frames, schemas, _numbers(state), settles, rows)
    join = state.join.facts
    if not values:
        join = {
            name: UNSEEN if name in HIDDEN and told is not None else told
            for name, told in join.items()
        }
    logged = files.offsets(state.batch)
    return CheckpointState(
        path=str(files.path),
        format=max(shard.head.format for shard in state.shards),
        batch=state.batch,
        unfinished=tuple(files.begun),
        watermark_us=state.watermark_us,
        clock_us=state.clock >> 1,
        join=join,
        settings=logged.conf,
        offsets=logged.lines if values else (),
        shards=tuple(_shard(state, shard, found) for shard in state.shards),
        sides=(whole[0], whole[1]),
        top_keys=frequent,
    )


def _numbers(state: StoredState) -> dict[int, int]:
    """Places of shards among all, by label."""
    labels = shard_labels(state.join.shards, state.join.partitions)
    return {label: place for place, label in enumerate(labels)}


def _by_shard(frame: DataFrame | None) -> dict[int, SideState]:
    if frame is None:
        return {}
    figures = _figures()
    return {
        int(row[0]): SideState(*row[1:]) for row in frame.groupBy(SHARD).agg(*figures).collect()
    }


def _whole(frame: DataFrame | None) -> SideState:
    row = None if frame is None else frame.agg(*_figures()).first()
    return SideState() if row is None or not row[0] else SideState(*row)


def _figures() -> list[Any]:
    time = F.col(TIME)
    return [
        F.count(time),
        F.sum(SIZE),
        F.min(time),
        F.percentile_approx(time, 0.5),
        F.max(time),
    ]


def _shard(
    state: StoredState, shard: StoredShard, found: Sequence[dict[int, SideState]]
) -> StoppedShard:
    left, right = (by_shard.get(shard.label, SideState()) for by_shard in found)
    learned, head = shard.learned or {}, shard.head
    stored = sum(len(entry.alive) for entry in head.segments)
    return StoppedShard(
        number=_numbers(state)[shard.label],
        label=shard.label,
        sides=(left, right),
        segments=len(head.segments),
        dead_rows=stored - left.rows - right.rows,
        seen=head.progress.seen,
        batches=head.batches,
        limit=head.limit,
        policy=learned.get("followed"),
        watched_share=learned.get("share"),
        pairs=learned.get("pairs"),
        lost=learned.get("lost"),
        learned_bytes=shard.learned_bytes,
    )


def _frequent(
    frames: Sequence[DataFrame | None],
    keys: Sequence[tuple[str, ...]],
    most: int,
    values: bool,
) -> tuple[FrequentKey, ...]:
    """The keys with the most stored rows of both sides."""
    counted = None
    for side, (frame, names) in enumerate(zip(frames, keys, strict=True)):
        if frame is None or not names or not most:
            continue
        shown = F.concat_ws(", ", *(F.col(name).cast("string") for name in names))
        key = shown if values else F.lower(F.hex(F.xxhash64(*names)))
        mine = frame.groupBy(key.alias("key")).agg(
            *(F.count(F.lit(1) if at == side else F.lit(None)).alias(SIDES[at]) for at in (0, 1))
        )
        counted = mine if counted is None else counted.unionAll(mine)
    if counted is None:
        return ()
    sums = counted.groupBy("key").agg(*(F.sum(side).alias(side) for side in SIDES))
    most_first = sums.orderBy((F.col("left") + F.col("right")).desc(), "key").limit(most)
    return tuple(FrequentKey(row[0], (int(row[1]), int(row[2]))) for row in most_first.collect())
