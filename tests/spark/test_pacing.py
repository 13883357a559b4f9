"""A processor budget on a stream, batch by batch, with a clock and a machine the test decides."""

import uuid
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

import headgate as hg
from headgate.kernel.pace import Costs
from headgate.spark.join import shard_pacing
from headgate.spark.join.task_ledger import PACK, UNPACK, TaskLedger
from headgate.spark.spark_versions import figures_of
from tests.spark.one_shard import OneShard, ShardBatch
from tests.spark.streams import (
    START_US,
    multiset,
    read_side,
    timestamps,
    write_side,
)
from tests.thoroughness import usually

pytestmark = pytest.mark.spark

SCHEMAS = (
    pa.schema([("key", pa.int64()), ("opened", pa.timestamp("us", tz="UTC"))]),
    pa.schema([("key", pa.int64()), ("answered", pa.timestamp("us", tz="UTC"))]),
)
TRUE_COSTS = Costs(2e-6, 1e-6, 5e-7)
STEP_S = 0.002
CPU = 0.05


class Live:
    """A shard with a batch every second, on a machine that takes as long as it is told."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, join: hg.WindowJoin) -> None:
        self.shard = OneShard(join, SCHEMAS, f"pacing-{uuid.uuid4().hex[:8]}")
        self.second = 0
        self.taken = 0.0
        self._rng = np.random.default_rng(3)
        monkeypatch.setattr(shard_pacing.time, "time", lambda: 1e9 + self.second)
        monkeypatch.setattr(
            TaskLedger, "total", lambda _, task: 0.0 if task in (PACK, UNPACK) else self.taken
        )

    def batch(self, rate: int, keys: int) -> ShardBatch:
        """The rows of the next second."""
        tables = []
        for schema in SCHEMAS:
            micros = (
                START_US + 1_000_000 * self.second + np.sort(self._rng.integers(0, 10**6, rate))
            )
            columns = [pa.array(self._rng.integers(0, keys, rate)), timestamps(micros)]
            tables.append(pa.table(columns, names=schema.names).cast(schema))
        watermark_ms = (START_US + 1_000_000 * self.second) // 1000 - 1
        done = self.shard.batch(*tables, watermark_ms=watermark_ms)
        figures = done.metrics
        looked_at = 2 * rate  # but for rows that stayed outside, which none does here
        self.taken += STEP_S + TRUE_COSTS.of(looked_at, figures["admitted"], figures["pairs"])
        self.second += 1
        return done


def join(cpu: float = CPU) -> hg.WindowJoin:
    """Rows wait ten seconds."""
    return hg.WindowJoin(
        on="key",
        left=hg.Side("opened", "10 seconds"),
        right=hg.Side("answered", "10 seconds"),
        budget=hg.Budget(cpu=cpu, monitor=0.05),
        policy="fifo",
    )


@pytest.mark.parametrize("keys", usually((25,), (50, 25, 8)))
def test_a_minute_takes_its_part_of_a_core(monkeypatch: pytest.MonkeyPatch, keys: int) -> None:
    """At three factors of overload, some two, four and twelve, once windows are full."""
    live = Live(monkeypatch, join())
    for _ in range(20):
        live.batch(500, keys)
    before = live.taken
    batches = [live.batch(500, keys) for _ in range(60)]
    assert 0.45 / 0.5 < (live.taken - before) / 60 / CPU < 0.52 / 0.5
    assert sum(batch.metrics["unstored"] for batch in batches) > 0
    assert all(batch.metrics["cpu_ms"] > 0 for batch in batches)


def test_a_burst_takes_no_more_and_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    live = Live(monkeypatch, join())
    calm = [live.batch(300, 60).metrics for _ in range(30)]
    before = live.taken
    burst = [live.batch(3000, 60).metrics for _ in range(10)]
    longest = max(batch["cpu_ms"] for batch in burst[1:])
    # What was left over in calm times may be used, a little at a time.
    assert (live.taken - before) / 10 < 1.3 * CPU
    assert longest < 1.5 * 1000 * CPU
    assert sum(batch["unprobed"] for batch in burst) > 0
    after = [live.batch(300, 60).metrics for _ in range(40)]
    made, usual = (sum(batch["pairs"] for batch in part[-10:]) for part in (after, calm))
    assert made == pytest.approx(usual, rel=0.1)
    assert not sum(batch["unprobed"] for batch in after[-10:])


def test_with_time_enough_the_answer_is_exact(monkeypatch: pytest.MonkeyPatch) -> None:
    live = Live(monkeypatch, join(cpu=1.0))
    batches = [live.batch(200, 30) for _ in range(15)]
    assert not any(batch.metrics["unprobed"] + batch.metrics["unstored"] for batch in batches)
    again = Live(monkeypatch, join(cpu=1.0))
    assert multiset(again.batch(200, 30).pairs) == multiset(batches[0].pairs)


def test_a_pause_is_not_saved_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """After an hour without rows, a batch may take what two usual ones may."""
    live = Live(monkeypatch, join())
    for _ in range(30):
        live.batch(500, 8)
    live.second += 3600
    before = live.taken
    live.batch(20_000, 8)
    live.batch(20_000, 8)
    assert live.taken - before < 0.5


def test_a_ledger_adds_up_over_tasks(tmp_path: object) -> None:
    ledger = TaskLedger(f"tested-{uuid.uuid4().hex}")
    with ledger.timing(PACK):
        sum(range(100_000))
    first = ledger.total(PACK)
    assert first > 0
    assert ledger.ended(PACK) > 0
    ledger.add(PACK, 1.0)
    assert ledger.total(PACK) == pytest.approx(first + 1.0)
    assert ledger.ended(UNPACK) == 0.0
    assert ledger.total("join-1") == 0.0


def made_up(rows: int, keys: int) -> tuple[pa.Table, pa.Table]:
    """Both sides of half a minute, with numbers to know pairs by."""
    rng = np.random.default_rng(8)
    tables = []
    for schema, number in zip(SCHEMAS, ("left_id", "right_id"), strict=True):
        micros = START_US + np.sort(rng.integers(0, 30_000_000, rows))
        columns = [pa.array(rng.integers(0, keys, rows)), timestamps(micros)]
        table = pa.table(columns, names=schema.names).cast(schema)
        tables.append(table.append_column(number, pa.array(np.arange(rows))))
    return tables[0], tables[1]


IDS = ["left_id", "right_id"]


def test_a_bounded_join_takes_its_part_of_event_time(spark: SparkSession) -> None:
    """With time enough it is exact; with next to none it makes some of the pairs, and no other."""
    tables = made_up(3000, 40)
    exact = multiset(join(cpu=1.0).run(*tables).pairs.select(IDS))
    frames = [spark.createDataFrame(table.to_pandas()) for table in tables]
    assert multiset(join(cpu=8.0).batch(*frames, shards=2).select(IDS)) == exact
    some = multiset(join(cpu=0.0001).batch(*frames, shards=2).select(IDS))
    assert not some - exact
    assert 0 < some.total() < 0.9 * exact.total()


@pytest.mark.long
def test_a_stream_with_no_time_says_what_it_left_undone(
    spark: SparkSession, tmp_path: Path
) -> None:
    """A real query, stopped half way and taken up again."""
    tables = made_up(3000, 40)
    exact = multiset(join(cpu=1.0).run(*tables).pairs.select(IDS))
    folders = [tmp_path / side for side in ("left", "right")]
    schemas = [
        f"key bigint, {time} timestamp, {number} bigint"
        for (_, time), number in zip((s.names for s in SCHEMAS), IDS, strict=True)
    ]
    hurried = join(cpu=0.0001)
    metrics = []
    for part in (0, 1):
        for table, folder in zip(tables, folders, strict=True):
            parts = [table.slice(1500 * part + 750 * at, 750) for at in range(2)]
            write_side(folder, parts, first=2 * part)
        sides = [
            read_side(spark, folder, schema, schema.split()[2])
            for folder, schema in zip(folders, schemas, strict=True)
        ]
        query = (
            hurried.stream(*sides, watermark=False)
            .select(IDS)
            .writeStream.format("parquet")
            .option("checkpointLocation", str(tmp_path / "checkpoint"))
            .trigger(availableNow=True)
            .start(str(tmp_path / "made"))
        )
        query.awaitTermination()
        metrics += [
            figures_of(progress["observedMetrics"]["headgate"])
            for progress in query.recentProgress
            if "headgate" in progress["observedMetrics"]
        ]
    made = multiset(spark.read.parquet(str(tmp_path / "made")))
    assert not made - exact
    assert made.total() < exact.total()
    assert sum(batch["unprobed"] + batch["unstored"] for batch in metrics) > 0
    assert sum(batch["left_rows"] for batch in metrics) == 3000
    assert any(batch["cpu_ms"] > 0 for batch in metrics)
    assert metrics[-1]["recall"] is None or metrics[-1]["recall"] < 1.0
