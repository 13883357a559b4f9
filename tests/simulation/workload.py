"""What a simulated query is asked and fed: a join, and its input batch by batch, from one seed.

Everything is small. Keys collide, times tie, rows come late, one side falls silent, budgets are
tight: what is rare in a large stream is common in a small one.
"""

import random
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import pyarrow as pa

import headgate as hg
from headgate.policies import Hist

START_MS = 1_767_225_600_000
SCHEMAS = tuple(
    pa.schema(
        [
            ("key", pa.int64()),
            (f"{side}_at", pa.timestamp("us", "UTC")),
            (f"{side}_id", pa.int64()),
            (f"{side}_value", pa.int32()),
            (f"{side}_text", pa.string()),
        ]
    )
    for side in ("left", "right")
)
AMPLE = 300
"""Rows that are more than any workload has."""
FAR = 10_000
"""Seconds after which nothing waits any more."""
LEARN = ("auto", "prob", "life", "age", "hist")
SUBSET = (*("fifo", "random", "lru", "lfu") * 3, "ttl", *LEARN)


@dataclass(frozen=True)
class Row:
    """A row of the input; its number is its place among those of its side."""

    side: int
    number: int
    key: int | None
    second: int | None
    value: int
    text: str | None


@dataclass(frozen=True)
class Asked:
    """What is asked of the join, as plain values."""

    windows: tuple[int, int]
    how: str = "inner"
    unmatched: str = "certain"
    policy: str = "fifo"
    goal: str = "subset"
    rows: int | None = None
    memory: int | None = None
    monitor: float | None = None
    counted: bool = False
    """Whether windows are in rows."""
    band: bool = False
    seed: int = 0
    index: str = "auto"

    def join(self) -> hg.WindowJoin:
        """The join itself."""
        unit = "rows" if self.counted else "seconds"
        more: dict[str, Any] = {} if self.goal == "sample" else {"policy": self._policy}
        if self.goal == "importance":
            more["goal"] = hg.MaxImportance("left_value", "right_value")
        elif self.goal == "sample":
            more["goal"] = hg.Sample()
        if self.band:
            more["where"] = hg.Band(left="left_value", right="right_value", lower=-1, upper=2)
        return hg.WindowJoin(
            on="key",
            left=hg.Side("left_at", f"{self.windows[0]} {unit}"),
            right=hg.Side("right_at", f"{self.windows[1]} {unit}"),
            how=self.how,
            unmatched=self.unmatched,
            budget=hg.Budget(rows=self.rows, memory=self.memory, monitor=self.monitor),
            seed=self.seed,
            index=self.index,
            **more,
        )

    @property
    def _policy(self) -> Any:
        return Hist("walk") if self.policy == "hist" else self.policy


@dataclass(frozen=True)
class Batch:
    """What one batch brings."""

    rows: tuple[Row, ...] = ()
    has_input: bool = True
    """Whether shards get even an empty blob; a batch for the watermark alone has none."""
    limits: tuple[str, ...] = ()
    """New limits that come with it."""
    definitions: tuple[str, ...] = ()
    """New definitions of importance."""
    changes: tuple[tuple[str, Any], ...] = ()
    """What the program asks from this batch on, restarted as another join."""
    ahead: int | None = None
    """Seconds of the watermark, where it is not that of the rows."""


@dataclass(frozen=True)
class Workload:
    """A join, its shards, and its input."""

    asked: Asked
    batches: tuple[Batch, ...]
    shards: int = 1
    partitions: int = 1
    delay: int = 3
    shared: bool = False
    """Whether its budget may change while it runs."""

    def version(self, number: int) -> Asked:
        """What is asked in a batch."""
        asked = self.asked
        for batch in self.batches[: number + 1]:
            asked = replace(asked, **dict(batch.changes))
        return asked

    @cached_property
    def watermarks_ms(self) -> tuple[int, ...]:
        """Of each batch: behind what came before it, the lesser of both sides; never falling."""
        latest, now, found = [0, 0], 0, []
        for batch in self.batches:
            if batch.ahead is not None:
                now = max(now, START_MS + 1000 * batch.ahead)
            found.append(now)
            for row in batch.rows:
                if row.second is not None:
                    at = START_MS + 1000 * (row.second - self.delay)
                    latest[row.side] = max(latest[row.side], at)
            now = max(now, min(latest))
        return tuple(found)

    def rows(self, side: int) -> list[tuple[int, Row]]:
        """All rows of a side, with their batch."""
        return [
            (number, row)
            for number, batch in enumerate(self.batches)
            for row in batch.rows
            if row.side == side
        ]

    def is_late(self, number: int, row: Row) -> bool:
        """Whether a row of a batch is at or behind the watermark of the batch before."""
        if number == 0 or row.second is None or not self.watermarks_ms[number - 1]:
            return False
        return START_MS + 1000 * row.second <= self.watermarks_ms[number - 1]


def table_of(rows: list[Row], side: int) -> pa.Table:
    """Rows of a side as a table."""
    times = [None if r.second is None else 1000 * (START_MS + 1000 * r.second) for r in rows]
    columns = [
        pa.array([row.key for row in rows], pa.int64()),
        pa.array(times, pa.int64()).cast(pa.timestamp("us", "UTC")),
        pa.array([row.number for row in rows], pa.int64()),
        pa.array([row.value for row in rows], pa.int32()),
        pa.array([row.text for row in rows], pa.string()),
    ]
    return pa.table(columns, schema=SCHEMAS[side])


def in_order(work: Workload) -> tuple[tuple[Batch, ...], tuple[Batch, ...]]:
    """All rows with a time in order, in batches of the same sizes, and all in one batch."""
    rows = [row for batch in work.batches for row in batch.rows if row.second is not None]
    rows.sort(key=lambda row: (row.second, row.side, row.number))
    cut, at = [], 0
    for batch in work.batches[:-2]:
        cut.append(Batch(tuple(rows[at : at + len(batch.rows)])))
        at += len(batch.rows)
    return (*cut, *work.batches[-2:]), (Batch(tuple(rows)), *work.batches[-2:])


def drawn_workload(seed: int) -> Workload:
    """A join and its input."""
    rng = random.Random(f"workload {seed}")
    asked = _drawn_join(rng)
    shared = asked.goal != "sample" and rng.random() < 0.25
    given = _drawn_batches(rng, asked, shared)
    shards = rng.choice((1, 1, 1, 1, 1, 1, 2, 3))
    return Workload(asked, given, shards, rng.choice((1, 2)), rng.choice((0, 3, 6)), shared)


def _drawn_join(rng: random.Random) -> Asked:
    goal = rng.choice(("subset",) * 6 + ("importance", "importance", "sample"))
    how = "inner"
    if goal != "sample" and rng.random() < 0.45:
        how = rng.choice(("left", "right", "full", "semi", "anti"))
    windows = (rng.choice((0, 3, 5, 9, 14)), rng.choice((0, 2, 5, 8, 14)))
    policy = rng.choice(SUBSET)
    counted = how == "inner" and goal == "subset" and rng.random() < 0.1
    if counted:
        windows = (rng.randint(1, 6), rng.randint(1, 6))
        policy = rng.choice(("fifo", "random", "lru", "lfu"))
    if policy == "life" and 0 in windows:
        windows = (7, 9)
    room: dict[str, Any] = {"rows": AMPLE}
    if rng.random() < 0.75:
        tight = rng.choice((4, 6, 9, 14, 25, 60))
        room = {"rows": tight} if rng.random() < 0.6 else {"memory": 260 * tight}
    monitor = rng.choice((None, *(0.0,) * 5, 0.1, 0.3, 0.6))
    if goal == "sample" or policy in LEARN:
        monitor = monitor or rng.choice((0.1, 0.3))
    return Asked(
        windows,
        how,
        rng.choice(("certain", "all")) if how in ("left", "right", "full", "anti") else "certain",
        policy,
        goal,
        monitor=monitor,
        counted=counted,
        band=not counted and rng.random() < 0.15,
        seed=rng.choice((0, 1)),
        index=rng.choice(("auto", "auto", "hash", "btree", "ttree", "scan", "bitmap")),
        **room,
    )


def _drawn_batches(rng: random.Random, asked: Asked, shared: bool) -> tuple[Batch, ...]:
    keys = rng.choice((1, 2, 4, 7))
    most = rng.choice((1, 3, 6, 10))
    silent_side = rng.choice((None, None, None, 0, 1))
    numbers, second = [0, 0], 0
    batches = []
    for place in range(rng.randint(3, 7)):
        rows: list[Row] = []
        is_silent = rng.random() < 0.1
        for side in (0, 1):
            held_back = side == silent_side and place < 4
            for _ in range(0 if is_silent or held_back else rng.randint(0, most)):
                rows.append(_drawn_row(rng, side, numbers[side], keys, second))
                numbers[side] += 1
        if rng.random() < 0.5:
            rng.shuffle(rows)
        batches.append(_with_news(rng, Batch(tuple(rows), not is_silent), asked, shared, place))
        second += rng.choice((0, 2, 5, 10))
    # A row is behind the watermark of the batch before, so the last rows leave in the second.
    return (*batches, Batch(has_input=False, ahead=FAR), Batch(has_input=False, ahead=FAR + 1))


def _drawn_row(rng: random.Random, side: int, number: int, keys: int, second: int) -> Row:
    at: int | None = second + rng.choice((0, 0, 1, 2, 3, 4, -2, -6))
    if rng.random() < 0.02:
        at = None
    key = None if rng.random() < 0.05 else int(keys * rng.random() ** 2)
    text = rng.choice((None, "", "x" * rng.randint(1, 40)))
    return Row(side, number, key, at, rng.randint(0, 5), text)


def _with_news(rng: random.Random, batch: Batch, asked: Asked, shared: bool, place: int) -> Batch:
    """The batch with new limits, a new definition, or a program that was changed before it."""
    if shared and batch.has_input and rng.random() < 0.4:
        amount = asked.rows or asked.memory or 0
        least = 1 if asked.rows else 200
        told = str(rng.randint(least, max(amount, least)))
        batch = replace(batch, limits=(rng.choice((told, told, f"0:{told}", "x", "-1")),))
    if asked.goal == "importance" and batch.has_input and rng.random() < 0.2:
        other = hg.MaxImportance(rng.choice(("left_value", "5 - left_value")), "right_value")
        batch = replace(batch, definitions=(rng.choice((other.to_json(), "{}", "no json")),))
    if place and rng.random() < 0.15:
        batch = replace(batch, changes=_drawn_changes(rng, asked))
    return batch


def _drawn_changes(rng: random.Random, asked: Asked) -> tuple[tuple[str, Any], ...]:
    """What may change at a restart without changing which pairs there are."""
    changes: dict[str, Any] = {}
    if rng.random() < 0.5:
        tight = rng.choice((3, 8, 20, 100))
        changes |= {"rows": tight, "memory": None} if asked.rows else {"memory": 300 * tight}
    plain = not asked.counted and asked.goal != "sample"
    if plain and rng.random() < 0.5:
        learner = (asked.monitor or 0) > 0
        changes["policy"] = rng.choice(("fifo", "random", "lru", *(["prob", "age"] * learner)))
    if rng.random() < 0.3:
        changes["index"] = rng.choice(("hash", "btree", "auto"))
    if asked.goal != "sample" and asked.monitor is not None and rng.random() < 0.2:
        changes["seed"] = 5
    return tuple(changes.items())
