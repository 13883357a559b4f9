"""Queries that are restarted as another: drawn at random, run in one shard, held to the definition.

A case has two versions of a join. The first reads some batches and is stopped, or killed within a
batch; the second goes on from its state. A pair is made by the version in whose time its later row
comes, by that version's windows. Under a budget pairs may be missing, and none may be wrong; a row
is said to have no partner only if it has none.
"""

import copy
import uuid
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pyarrow as pa

import headgate as hg
from tests.golden.shard_states import restore, variables
from tests.spark.one_shard import OneShard, ShardBatch
from tests.spark.streams import START_US, timestamps

SECOND_US = 1_000_000
BATCHES, BATCH_SECONDS, ROWS, JITTER = 8, 10, 24, 4
KINDS: tuple[dict[str, pa.DataType], dict[str, pa.DataType]] = (
    {"k": pa.int32(), "a": pa.int32(), "f": pa.float32(), "d": pa.decimal128(8, 2)},
    {"rk": pa.int64(), "b": pa.int16(), "s": pa.string()},
)
"""The payload columns of each side, beside its time and id."""
WIDER = {
    "k": pa.int64(),
    "a": pa.int64(),
    "f": pa.float64(),
    "d": pa.decimal128(12, 3),
    "b": pa.int32(),
}
ADDED = (("extra", pa.string()), ("more", pa.list_(pa.int32())))
TIMES, IDS = ("lt", "rt"), ("id", "rid")
POLICIES = ("auto", "fifo", "random", "lru", "lfu", "prob", "life", "age", "ttl")
AMPLE = hg.Budget(rows=100_000)


@dataclass(frozen=True)
class Version:
    """A version of the join, and of the columns that its inputs have."""

    windows: tuple[int, int] = (8, 6)
    how: str = "inner"
    unmatched: str = "certain"
    policy: str = "fifo"
    goal: Any = None
    budget: hg.Budget = AMPLE
    seed: int = 0
    index: str = "auto"
    delay: int = 5
    wider: frozenset[str] = frozenset()
    dropped: frozenset[str] = frozenset()
    added: tuple[bool, bool] = (False, False)

    def join(self) -> hg.WindowJoin:
        """The join itself."""
        asked = {"goal": self.goal} if self.goal is not None else {"policy": self.policy}
        if isinstance(self.goal, hg.MaxImportance):
            asked["policy"] = self.policy
        return hg.WindowJoin(
            left_on="k",
            right_on="rk",
            left=hg.Side(TIMES[0], f"{self.windows[0]} seconds"),
            right=hg.Side(TIMES[1], f"{self.windows[1]} seconds"),
            how=self.how,
            unmatched=self.unmatched,
            budget=self.budget,
            seed=self.seed,
            index=self.index,
            **asked,
        )

    def schema(self, side: int) -> pa.Schema:
        """The columns of a side."""
        columns = {
            name: WIDER[name] if name in self.wider else kind
            for name, kind in KINDS[side].items()
            if name not in self.dropped
        }
        fields = [(TIMES[side], pa.timestamp("us", "UTC")), (IDS[side], pa.int64())]
        added = [ADDED[side]] if self.added[side] else []
        return pa.schema([*columns.items(), *fields, *added])

    @property
    def samples(self) -> bool:
        """Whether it draws a sample."""
        return isinstance(self.goal, hg.Sample)


@dataclass(frozen=True)
class Case:
    """Two versions, and where the one takes over from the other."""

    before: Version
    now: Version
    at: int
    killed: bool
    seed: int

    def version(self, batch: int) -> Version:
        """The version that has a batch."""
        return self.before if batch < self.at else self.now


@dataclass
class Lived:
    """What a case put out, by batch, and its figures."""

    case: Case
    rows: tuple[list[dict[str, Any]], list[dict[str, Any]]]
    """All rows of each side that came, with their batch."""
    out: list[list[dict[str, Any]]] = field(default_factory=list)
    metrics: list[dict[str, Any]] = field(default_factory=list)
    watermark: int = 0
    """That of the first version's last batch, in seconds."""


def made_rows(seed: int) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Rows of both sides, a few seconds out of order within a batch."""
    rng = np.random.default_rng(seed)
    keys = 70 if seed % 2 else 9  # few partners, or many
    sides: tuple[list[dict[str, Any]], list[dict[str, Any]]] = ([], [])
    for side in (0, 1):
        for batch in range(BATCHES):
            for _ in range(ROWS):
                second = batch * BATCH_SECONDS + int(rng.integers(-JITTER, BATCH_SECONDS))
                number = len(sides[side])
                sides[side].append(
                    {
                        "batch": batch,
                        "key": None if rng.random() < 0.03 else int(rng.integers(0, keys)),
                        "second": second,
                        "number": number,
                    }
                )
    return sides


def values(row: dict[str, Any], side: int, version: Version, came_with: Version) -> dict[str, Any]:
    """A row's columns in a version; null where it came before there were such."""
    number = row["number"]
    made: dict[str, Any] = {
        ("k", "rk")[side]: row["key"],
        TIMES[side]: START_US + 100 * SECOND_US + row["second"] * SECOND_US,
        IDS[side]: number,
        "a": number * 7 - 50,
        "f": number / 4,
        "d": None if number % 9 == 0 else number / 100,
        "b": number % 300,
        "s": None if number % 5 == 0 else "s" * (number % 4),
    }
    if came_with.added[side]:
        made[ADDED[side][0]] = f"extra {number}" if side == 0 else [number, None]
    return {name: made.get(name) for name in version.schema(side).names}


def table_of(rows: list[dict[str, Any]], side: int, version: Version) -> pa.Table:
    """Rows as they come in a version."""
    schema = version.schema(side)
    lines = [values(row, side, version, version) for row in rows]
    columns = []
    for each in schema:
        given = [line[each.name] for line in lines]
        if pa.types.is_timestamp(each.type):
            columns.append(timestamps(given))
        elif pa.types.is_decimal(each.type):
            whole = pa.array([None if one is None else f"{one:.2f}" for one in given])
            columns.append(whole.cast(each.type))
        else:
            columns.append(pa.array(given, each.type))
    return pa.table(columns, schema=schema)


def live(case: Case) -> Lived:
    """Run both versions, the second from the state that the first has left."""
    lived, operator = Lived(case, made_rows(case.seed)), uuid.uuid4().hex
    shard = _shard(case.before, operator)
    watermark = told = -BATCH_SECONDS
    for batch in range(BATCHES):
        version = case.version(batch)
        sides = [
            table_of([row for row in rows if row["batch"] == batch], side, version)
            for side, rows in enumerate(lived.rows)
        ]
        if batch == case.at:
            lived.watermark = told
            state = copy.deepcopy(variables(shard))
            if case.killed:
                # What a batch did before it was killed is lost, but for its local copies.
                old = [
                    table_of([row for row in rows if row["batch"] == batch], side, case.before)
                    for side, rows in enumerate(lived.rows)
                ]
                _batch(shard, old, watermark)
            shard = _shard(case.now, operator)
            restore(shard, state)
        _note(lived, _batch(shard, sides, watermark))
        told = watermark
        seconds = [row["second"] for rows in lived.rows for row in rows if row["batch"] <= batch]
        watermark = max(watermark, max(seconds) - case.version(batch + 1).delay)
    # Twice: a row is behind the watermark of the batch before.
    for _ in range(2):
        _note(lived, _batch(shard, (None, None), 1000))
    return lived


def _batch(shard: OneShard, sides: Sequence[pa.Table | None], watermark: int) -> ShardBatch:
    """A batch with its watermark, which Spark's tester takes only where it is new."""
    millis = START_US // 1000 + 100_000 + 1000 * watermark
    is_new = shard.tester._currentWatermarkMs < millis
    return shard.batch(*sides, watermark_ms=millis if is_new else None)


def _shard(version: Version, operator: str) -> OneShard:
    return OneShard(version.join(), (version.schema(0), version.schema(1)), operator)


def _note(lived: Lived, outcome: ShardBatch) -> None:
    lived.out.append(outcome.pairs.to_pylist())
    lived.metrics.append(outcome.metrics)


def partners(lived: Lived) -> list[tuple[int, int, int]]:
    """All pairs of the definition: left and right row, and the batch that makes them."""
    found = []
    for left in lived.rows[0]:
        for right in lived.rows[1]:
            if left["key"] is None or left["key"] != right["key"]:
                continue
            batch = max(left["batch"], right["batch"])
            waits_left, waits_right = lived.case.version(batch).windows
            if -waits_right <= right["second"] - left["second"] <= waits_left:
                found.append((left["number"], right["number"], batch))
    return found


def surely_there(lived: Lived, pair: tuple[int, int, int]) -> bool:
    """Whether the earlier row of a pair cannot have left before the later one came: none has in
    windows that were not made longer."""
    case = lived.case
    if pair[2] < case.at:
        return True
    for side in (0, 1):
        row = lived.rows[side][pair[side]]
        shorter = case.before.windows[side] < case.now.windows[side]
        gone = row["second"] + case.before.windows[side] <= lived.watermark
        if row["batch"] < case.at and shorter and gone:
            return False
    return True


def changed_to(version: Version, **changes: Any) -> Version:
    """The version with some changes."""
    return replace(version, **changes)
