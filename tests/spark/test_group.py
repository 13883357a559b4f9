"""Limits that change while a query runs, and two real queries that share a budget as they drift."""

import json
import time
import uuid
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming import StreamingQuery

import headgate as hg
from headgate.planner.balancer import Member
from headgate.spark.join.join_stream import stream
from headgate.spark.join.limits_folder import KEPT, members_before
from headgate.spark.join.published_changes import publish_limit
from headgate.spark.spark_versions import figures_of
from headgate.spark.state.blobs import from_blob, to_blob
from tests.spark.one_shard import LABEL, OneShard
from tests.spark.streams import START_US, multiset, timestamps, write_side

pytestmark = pytest.mark.spark

SIDE_TIMES = ("stored_at", "probed_at")
WINDOW_S = 20


def aging(rising: list[bool], rows: int, seconds: int, seed: int) -> tuple[list[pa.Table], ...]:
    """Left rows with keys of their own and four matches each, cut into equal stretches of time.

    In a stretch that is rising, matches come at the end of the window; else at its beginning.
    """
    rng = np.random.default_rng(seed)
    left = np.sort(rng.integers(0, seconds * 1_000_000, rows))
    stretch = left * len(rising) // (seconds * 1_000_000)
    key = np.repeat(np.arange(rows), 4)
    share = rng.random(len(key)) ** 0.25
    age = np.where(np.array(rising)[stretch][key], share, 1 - share) * WINDOW_S * 1e6
    right = left[key] + age.astype(np.int64) + 1
    order = np.argsort(right, kind="stable")
    edges = np.arange(len(rising) + 1) * seconds * 1_000_000 // len(rising)
    sides = []
    for keys, times, name in (
        (np.arange(rows), left, SIDE_TIMES[0]),
        (key[order], right[order], SIDE_TIMES[1]),
    ):
        table = pa.table({"key": keys, name: timestamps(START_US + times)})
        cuts = np.searchsorted(times, edges)
        sides.append([table.slice(a, b - a) for a, b in pairwise(cuts)])
    return tuple(sides)


def make_join(policy: Any, budget: hg.Budget) -> hg.WindowJoin:
    return hg.WindowJoin(
        on="key",
        left=hg.Side(time=SIDE_TIMES[0], window=f"{WINDOW_S} seconds"),
        right=hg.Side(time=SIDE_TIMES[1], window="0 seconds"),
        budget=budget,
        policy=policy,
    )


class TestOneShard:
    SIDES = aging([True] * 8, 1600, 160, seed=1)

    def shard(self, budget: hg.Budget, policy: str = "fifo", shared: bool = True) -> OneShard:
        schemas = (self.SIDES[0][0].schema, self.SIDES[1][0].schema)
        return OneShard(make_join(policy, budget), schemas, uuid.uuid4().hex, shared)

    def test_a_limit_holds_from_its_batch_on_and_what_it_costs_is_counted(self) -> None:
        shard = self.shard(hg.Budget(rows=150, monitor=0.2))
        limits = {2: ["40"], 5: ["200"], 6: ["100", "120"]}
        in_force = [150, 150, 40, 40, 40, 200, 120, 120]
        shed = []
        for at, limit in enumerate(in_force):
            figures = shard.batch(
                self.SIDES[0][at], self.SIDES[1][at], limits=limits.get(at, ())
            ).metrics
            assert figures["limit"] == limit
            assert figures["peak_rows"] <= limit
            shed.append(figures["shed"])
        assert figures["stored_rows"] > 40
        assert shed[2] > 100

    def test_bytes_are_given_back_with_the_batch_that_brings_the_limit(self) -> None:
        shard = self.shard(hg.Budget(memory=16_000, monitor=0.2))
        for at in range(3):
            before = shard.batch(self.SIDES[0][at], self.SIDES[1][at]).metrics
        assert before["held_bytes"] > 8_000
        after = shard.batch(self.SIDES[0][3], self.SIDES[1][3], limits=["8000"]).metrics
        assert after["held_bytes"] + after["monitor_bytes"] <= 8_000

    def test_a_batch_of_nothing_but_a_limit_is_one_too(self) -> None:
        shard = self.shard(hg.Budget(rows=150, monitor=0.2))
        shard.batch(self.SIDES[0][0], self.SIDES[1][0])
        figures = shard.batch(limits=["30"]).metrics
        assert figures["limit"] == 30
        assert 0 < figures["stored_rows"] <= 30

    def test_a_limit_that_is_none_changes_nothing_and_is_counted(self) -> None:
        shard = self.shard(hg.Budget(rows=150, monitor=0.2))
        for limit in (
            "0",
            "many",
            "-5",
            "9" * 400,
            "9" * 5000,
            "1000001",
            "1e5",
            "5.0",
            "１２",
            "",
            "[" * 9000,
        ):
            figures = shard.batch(self.SIDES[0][0].slice(0, 10), None, limits=[limit]).metrics
            assert (figures["limit"], figures["misdefined"]) == (150, 1)

    def test_the_last_limit_that_is_one_holds(self) -> None:
        shard = self.shard(hg.Budget(rows=150, monitor=0.2))
        told = ["40", "x", "50", "9" * 400]
        figures = shard.batch(self.SIDES[0][0], self.SIDES[1][0], limits=told).metrics
        assert (figures["limit"], figures["misdefined"]) == (50, 2)
        again = shard.batch(self.SIDES[0][1], self.SIDES[1][1]).metrics
        assert (again["limit"], again["misdefined"]) == (50, 0)

    def test_a_limit_kept_with_the_state_that_is_none_any_more_is_left_out(self) -> None:
        """As one that a smaller share of the budget for learning would need."""
        shard = self.shard(hg.Budget(rows=150, monitor=0.2))
        shard.batch(self.SIDES[0][0], self.SIDES[1][0], limits=["40"])
        head = from_blob(shard.tester.peekValueState("head", LABEL)[0])
        facts = {**json.loads(head.schema.metadata[b"facts"]), "limit": -1}
        poisoned = head.replace_schema_metadata({"facts": json.dumps(facts)})
        shard.tester.updateValueState("head", LABEL, (to_blob(poisoned, checked=True),))
        figures = shard.batch(self.SIDES[0][1], self.SIDES[1][1]).metrics
        assert (figures["limit"], figures["misdefined"]) == (150, 1)

    def test_with_limits_that_stay_results_are_those_of_a_join_alone(self) -> None:
        pairs = []
        for shared in (True, False):
            shard = self.shard(hg.Budget(rows=100, monitor=0.2), "auto", shared)
            got = [shard.batch(left, right).pairs for left, right in zip(*self.SIDES, strict=True)]
            pairs.append(multiset(pa.concat_tables(got)))
        assert pairs[0] == pairs[1]

    def test_a_shard_knows_what_more_memory_would_bring(self) -> None:
        """Of rows that match late, a straight line to begin with."""
        shard = self.shard(hg.Budget(rows=100, monitor=0.3), "age")
        for left, right in zip(*self.SIDES, strict=True):
            figures = shard.batch(left, right).metrics
        exact = figures["expected_exact"]
        assert exact == pytest.approx(40, rel=0.25)
        assert figures["expected_full"] == pytest.approx(200, rel=0.2)
        assert figures["expected_double"] == pytest.approx(2 * figures["expected_now"], rel=0.15)
        assert figures["expected_fourfold"] == pytest.approx(exact, rel=0.01)


NO_DATA = "spark.sql.streaming.noDataMicroBatches.enabled"
BATCHES, DRIFTS_AT = 12, 2
LAST = 3
"""Batches that are judged."""
ROWS_A_BATCH = 1000
WHOLE = 2000
"""Of the 4,000 rows that both exact joins hold."""


@pytest.fixture(scope="module")
def drifting() -> dict[str, tuple[list[pa.Table], ...]]:
    """Two pairs of streams, both easy to begin with; one becomes hard."""
    later = [at >= DRIFTS_AT for at in range(BATCHES)]
    rows, seconds = BATCHES * ROWS_A_BATCH, BATCHES * 10
    return {
        "ads": aging([False] * BATCHES, rows, seconds, seed=2),
        "orders": aging(later, rows, seconds, seed=3),
    }


def read(spark: SparkSession, folder: Path) -> tuple[DataFrame, DataFrame]:
    frames = []
    for side, name in zip(("left", "right"), SIDE_TIMES, strict=True):
        place = folder / side
        place.mkdir(parents=True, exist_ok=True)
        files = spark.readStream.schema(f"key long, {name} timestamp")
        frames.append(files.parquet(str(place)).withWatermark(name, "0 seconds"))
    return frames[0], frames[1]


class Running:
    """Queries fed batch by batch, all of them before the next."""

    def __init__(self, frames: dict[str, DataFrame], folder: Path) -> None:
        self.folder = folder
        self.queries: dict[str, StreamingQuery] = {}
        for name, frame in frames.items():
            place = str(folder / f"checkpoint-{name}")
            writer = frame.writeStream.format("noop").option("checkpointLocation", place)
            self.queries[name] = writer.start()

    def feed(self, streams: dict[str, tuple[list[pa.Table], ...]], batch: int) -> None:
        for name, sides in streams.items():
            for side, tables in zip(("left", "right"), sides, strict=True):
                write_side(self.folder / name / side, [tables[batch]], first=batch)
        for query in self.queries.values():
            query.processAllAvailable()

    def figures(self, name: str) -> list[dict[str, Any]]:
        """Of every batch that had something to say."""
        told = [
            figures_of(progress["observedMetrics"][name])
            for progress in self.queries[name].recentProgress
            if name in progress["observedMetrics"]
        ]
        return [figures for figures in told if figures["limit"]]

    def stop(self) -> None:
        for query in self.queries.values():
            query.stop()


def recall_after_drift(figures: list[dict[str, Any]]) -> float:
    """The share of the exact result made in the last batches: every left row has four matches."""
    last = [each for each in figures if each["left_rows"]][-LAST:]
    return sum(each["pairs"] for each in last) / (LAST * 4 * ROWS_A_BATCH)


@pytest.fixture
def quick(spark: SparkSession) -> Iterator[SparkSession]:
    """Without a batch for the watermark alone after every other."""
    spark.conf.set(NO_DATA, "false")
    yield spark
    spark.conf.unset(NO_DATA)


# What is published, heard and kept within the budget is tried step by step by the other tests.
@pytest.mark.long
def test_two_queries_that_drift_are_balanced_without_a_restart(
    quick: SparkSession, drifting: dict[str, tuple[list[pa.Table], ...]], tmp_path: Path
) -> None:
    group = hg.JoinGroup(
        budget=hg.Budget(rows=WHOLE),
        joins={name: make_join("age", hg.Budget(rows=1, monitor=0.1)) for name in drifting},
    )
    streams = {name: read(quick, tmp_path / name) for name in drifting}
    shared = group.stream(streams, folder=tmp_path / "limits", shards=2, watermark=False)
    assert shared.limits == dict.fromkeys(drifting, WHOLE // 2)
    running = Running(dict(shared), tmp_path)
    runs = {name: query.runId for name, query in running.queries.items()}
    in_force, stored = [], []
    try:
        for batch in range(BATCHES):
            running.feed(drifting, batch)
            time.sleep(0.3)  # listeners hear of a batch after it is done
            in_force.append(shared.limits)
            last = [running.figures(name)[-1] for name in drifting]
            stored.append(sum(each["stored_rows"] + each["watched_rows"] // 2 for each in last))
        for query in running.queries.values():
            query.processAllAvailable()
        figures = {name: running.figures(name) for name in drifting}
        assert {name: query.runId for name, query in running.queries.items()} == runs
    finally:
        running.stop()
        shared.stop()

    assert max(sum(limits.values()) for limits in in_force) <= WHOLE
    assert max(stored) <= WHOLE
    for name in drifting:
        assert all(each["peak_rows"] <= each["limit"] for each in figures[name])
    assert shared.moves
    assert in_force[-1]["orders"] > 1.2 * WHOLE / 2
    recalls = {name: recall_after_drift(figures[name]) for name in drifting}
    # What half of the budget brings the hard one, fixed: as much of its window as fits.
    rising = make_join("age", hg.Budget(rows=WHOLE // 2))
    tables = [pa.concat_tables(side) for side in drifting["orders"]]
    split = rising.run(*tables)
    late = split_recall(split.pairs, rising.within(hg.Budget(rows=10**6)).run(*tables).pairs)
    assert min(recalls.values()) > late
    assert (tmp_path / "limits" / KEPT).exists()


@pytest.mark.slow
def test_a_limit_told_to_a_query_outlives_it(quick: SparkSession, tmp_path: Path) -> None:
    """Told before its second batch; the query is stopped, and another takes its checkpoint up."""
    sides = aging([True] * 4, 800, 80, seed=4)
    join = make_join("fifo", hg.Budget(rows=150, monitor=0.2))

    def run(batches: range, folder: Path) -> list[dict[str, Any]]:
        frames = read(quick, tmp_path / "join")
        frame = stream(join, *frames, shards=2, name="join", limits=folder)
        running = Running({"join": frame}, tmp_path)
        try:
            for batch in batches:
                if batch == 1:
                    publish_limit(folder, 40)
                running.feed({"join": sides}, batch)
            return running.figures("join")
        finally:
            running.stop()

    before = run(range(2), tmp_path / "limits")
    after = run(range(2, 4), tmp_path / "limits")
    assert (before[0]["limit"], before[-1]["limit"]) == (150, 40)
    assert before[0]["stored_rows"] > 40
    assert [each["limit"] for each in after] == [40] * len(after)
    assert all(each["peak_rows"] <= 40 for each in after)


def test_a_folder_remembers_who_was_told_what(tmp_path: Path) -> None:
    assert members_before(tmp_path, {"ads": 1}) is None
    (tmp_path / KEPT).write_text('{"ads": {"told": 30, "in_force": 50}}')
    assert members_before(tmp_path, {"ads": 2}) == {"ads": Member(30, 50, shards=2)}
    with pytest.raises(hg.SpecError, match="holds the limits of ads, and these are orders"):
        members_before(tmp_path, {"orders": 1})


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"[" * 100_000,
        b"[]",
        b"\xff",
        b'{"ads": 5}',
        b'{"ads": {"told": 1e999, "in_force": 50}}',
        b'{"ads": {"told": 30, "in_force": -1}}',
        b'{"ads": {"told": 30, "in_force": 1' + b"0" * 50 + b"}}",
        b" " * 2_000_000,
    ],
)
def test_a_broken_memory_of_limits_is_refused_by_its_name(tmp_path: Path, raw: bytes) -> None:
    (tmp_path / KEPT).write_bytes(raw)
    with pytest.raises(hg.SpecError, match=rf"{KEPT} cannot be read"):
        members_before(tmp_path, {"ads": 1})


def test_groups_that_cannot_be_streamed_are_refused(tmp_path: Path) -> None:
    join = make_join("fifo", hg.Budget(rows=1))
    group = hg.JoinGroup(budget=hg.Budget(rows=10), joins={"a/b": join})
    with pytest.raises(hg.SpecError, match="streams are given for none"):
        group.stream({}, folder=tmp_path)
    with pytest.raises(hg.SpecError, match="'a/b' cannot name a folder"):
        group.stream({"a/b": (None, None)}, folder=tmp_path)  # type: ignore[dict-item]


def split_recall(pairs: pa.Table, exact: pa.Table) -> float:
    """Of the last batches, with a budget that stays."""
    after = START_US + (BATCHES - LAST) * 10 * 1_000_000
    made, all_of_it = (
        np.count_nonzero(table.column(SIDE_TIMES[1]).cast(pa.int64()).to_numpy() >= after)
        for table in (pairs, exact)
    )
    return made / all_of_it
