"""Under pressure: never over budget, never a wrong row, and the same answer however it is run."""

import itertools
import uuid
from collections import Counter
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

import headgate as hg
from headgate.policies import ALL_POLICIES, Ijoin, Lru, Policy
from headgate.spark.spark_versions import figures_of
from tests.spark.one_shard import OneShard
from tests.spark.streams import START_US, multiset, read_side, timestamps, write_side
from tests.thoroughness import LONG, spread

pytestmark = pytest.mark.spark

TIMES = ("opened_at", "bid_at")
SCHEMAS = (
    "key bigint, opened_at timestamp, note string, left_id bigint",
    "key bigint, bid_at timestamp, note string, right_id bigint",
)
ROWS = 60
MEMORY = 9_000
BATCHES = 30 if LONG else 12
IDS = ["left_id", "right_id"]
SPLITS = {"pooled": "pooled", "split": (1, 3)}


def make_side(rng: np.random.Generator, side: int, rows: int) -> pa.Table:
    """Rows in order of time, with texts of unlike lengths and some null keys."""
    seconds = np.sort(rng.integers(0, 600, rows))
    keys = rng.zipf(1.4, rows) % 25
    return pa.table(
        {
            "key": pa.array(keys, mask=rng.random(rows) < 0.03),
            TIMES[side]: timestamps(START_US + seconds * 1_000_000),
            "note": ["x" * int(length) for length in rng.zipf(1.3, rows) % 90],
            ("left_id", "right_id")[side]: np.arange(rows),
        }
    )


def cut(table: pa.Table, time: str, batches: int) -> list[pa.Table]:
    """The rows of equal stretches of time, so that no row comes out of order across batches."""
    seconds = (table.column(time).cast(pa.int64()).to_numpy() - START_US) // 1_000_000
    edges = np.searchsorted(seconds, np.linspace(0, 600, batches + 1).astype(int))
    return [table.slice(a, b - a) for a, b in itertools.pairwise(edges)]


RNG = np.random.default_rng(41)
SIDES = (make_side(RNG, 0, 700), make_side(RNG, 1, 600))
AGES = hg.AgeCurves.of_buckets((100_000_000, 60_000_000), ((1, 2, 5, 3), (5, 4, 1, 2)))
FREQUENCIES = hg.Frequencies.of_tables(*SIDES, left_on=["key"], right_on=["key"])


def make_join(policy: str, budget: hg.Budget) -> hg.WindowJoin:
    return hg.WindowJoin(
        on="key",
        left=hg.Side(time="opened_at", window="100 seconds"),
        right=hg.Side(time="bid_at", window="60 seconds"),
        budget=budget,
        policy=policy,
        frequencies=FREQUENCIES,
        ages=AGES,
    )


EXACT = multiset(make_join("random", hg.Budget(rows=10_000)).run(*SIDES).pairs)


@pytest.mark.parametrize(
    ("batches", "policy"),
    [
        *(pytest.param(7, policy, id=f"7-{policy.name}") for policy in ALL_POLICIES),
        *(
            pytest.param(
                60,
                policy,
                id=f"60-{policy.name}",
                marks=() if policy is Lru else pytest.mark.long,
            )
            for policy in ALL_POLICIES
        ),
    ],
)
def test_every_policy_in_batches_gives_what_it_gives_in_one_run(
    batches: int, policy: type[Policy]
) -> None:
    # A batch begins with all priorities computed anew, unless every decision does.
    asked = Ijoin(recompute="successive") if policy is Ijoin else policy.name
    join = make_join(asked, hg.Budget(rows=ROWS))
    whole = join.run(*SIDES)
    assert whole.stats.shed + whole.stats.refused > 300
    got = drive(join, batches)
    assert got.pairs == multiset(whole.pairs)
    assert got.pairs <= EXACT
    assert got.pairs.total() < EXACT.total()
    for metrics in got.metrics:
        assert metrics["stored_rows"] <= metrics["peak_rows"] <= ROWS


@pytest.mark.parametrize(
    ("policy", "split"), spread([policy.name for policy in ALL_POLICIES], SPLITS, apart=2)
)
def test_every_policy_holds_no_more_bytes_than_its_budget(policy: str, split: str) -> None:
    got = drive(make_join(policy, hg.Budget(memory=MEMORY, split=SPLITS[split])), BATCHES)
    assert got.pairs <= EXACT
    assert got.pairs.total() < EXACT.total()
    for metrics in got.metrics:
        assert metrics["held_bytes"] <= MEMORY
        assert metrics["stored_bytes"] <= metrics["peak_bytes"] <= MEMORY
        assert metrics["held_bytes"] == metrics["stored_bytes"] + metrics["dead_bytes"]


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("windows", [("600 seconds", "20 seconds"), ("20 seconds", "600 seconds")])
def test_dead_rows_of_one_side_alone_are_reclaimed_in_time(
    windows: tuple[str, str], seed: int
) -> None:
    rng = np.random.default_rng(seed)
    memory = 20_000
    join = hg.WindowJoin(
        on="key",
        left=hg.Side(time="opened_at", window=windows[0]),
        right=hg.Side(time="bid_at", window=windows[1]),
        budget=hg.Budget(memory=memory),
        policy="random",
    )
    shard = OneShard(join, (SIDES[0].schema, SIDES[1].schema), uuid.uuid4().hex)
    parts = [cut(make_side(rng, side, 500), TIMES[side], 30) for side in (0, 1)]
    for number, (left, right) in enumerate(zip(*parts, strict=True)):
        watermark = START_US // 1000 + 20_000 * number + 1
        metrics = shard.batch(left, right, watermark_ms=watermark).metrics
        assert metrics["held_bytes"] <= memory


@pytest.mark.parametrize("policy", ALL_POLICIES, ids=lambda policy: policy.name)
def test_the_order_of_rows_within_a_batch_changes_nothing(policy: type[Policy]) -> None:
    join = make_join(policy.name, hg.Budget(rows=ROWS))
    # One row a second and side, so that time alone says who came first.
    sides = [one_a_second(side, TIMES[number]) for number, side in enumerate(SIDES)]
    wanted = multiset(join.run(*sides).pairs.select(IDS))
    rng = np.random.default_rng(42)
    shard = OneShard(join, (SIDES[0].schema, SIDES[1].schema), uuid.uuid4().hex)
    pairs: Counter = Counter()
    for left, right in zip(*(cut(side, TIMES[n], 9) for n, side in enumerate(sides)), strict=True):
        shuffled = [part.take(pa.array(rng.permutation(part.num_rows))) for part in (left, right)]
        pairs += multiset(shard.batch(*shuffled).pairs.select(IDS))
    assert pairs == wanted


def one_a_second(side: pa.Table, time: str) -> pa.Table:
    seconds = side.column(time).cast(pa.int64()).to_numpy()
    return side.take(pa.array(np.unique(seconds, return_index=True)[1]))


class Driven:
    def __init__(self, pairs: Counter, metrics: list[dict[str, int]]) -> None:
        self.pairs, self.metrics = pairs, metrics


def drive(join: hg.WindowJoin, batches: int) -> Driven:
    shard = OneShard(join, (SIDES[0].schema, SIDES[1].schema), uuid.uuid4().hex)
    outcomes = [
        shard.batch(left, right)
        for left, right in zip(
            cut(SIDES[0], TIMES[0], batches), cut(SIDES[1], TIMES[1], batches), strict=True
        )
    ]
    pairs = sum((multiset(outcome.pairs) for outcome in outcomes), Counter())
    return Driven(pairs, [outcome.metrics for outcome in outcomes])


KINDS = tuple(p.name for p in ALL_POLICIES) if LONG else ("random", "fifo", "life", "lru")


def test_streams_equal_replays_on_one_shard_and_stay_within_memory_on_several(
    spark: SparkSession, tmp_path: Path
) -> None:
    # One shard in process, above, tries what one on Spark would.
    kinds = (("random", "lru"), ("fifo", "life")) if LONG else ((), ("life",))
    by_rows = {policy: make_join(policy, hg.Budget(rows=ROWS)) for policy in kinds[0]}
    by_bytes = {policy: make_join(policy, hg.Budget(memory=2 * MEMORY)) for policy in kinds[1]}
    asked = {name: (join, 1) for name, join in by_rows.items()}
    asked |= {name: (join, 3) for name, join in by_bytes.items()}
    got = stream_together(spark, tmp_path, asked)
    for policy, join in by_rows.items():
        assert got[policy].pairs == multiset(join.run(*SIDES).pairs), policy
        for metrics in got[policy].metrics:
            assert metrics["stored_rows"] <= metrics["peak_rows"] <= ROWS
    for policy in by_bytes:
        assert got[policy].pairs <= EXACT
        assert got[policy].pairs.total() < EXACT.total()
        for metrics in got[policy].metrics:
            assert metrics["held_bytes"] <= 2 * MEMORY
            assert metrics["stored_bytes"] <= metrics["peak_bytes"] <= 2 * MEMORY


def test_bounded_joins_on_one_shard_equal_runs_in_process(spark: SparkSession) -> None:
    frames = [spark.createDataFrame(side).coalesce(1) for side in SIDES]
    for policy in KINDS:
        join = make_join(policy, hg.Budget(rows=ROWS))
        wanted = multiset(join.run(*SIDES).pairs)
        assert multiset(join.batch(*frames, shards=1)) == wanted, policy
    some = multiset(join.batch(*frames, shards=4))
    assert some <= EXACT
    assert some.total() < EXACT.total()


def stream_together(
    spark: SparkSession, folder: Path, joins: dict[str, tuple[hg.WindowJoin, int]]
) -> dict[str, Driven]:
    """Several joins of the same streams in one query, each on so many shards."""
    left, right = (
        read_side(
            spark,
            write_side(folder / TIMES[side], cut(SIDES[side], TIMES[side], 4)),
            SCHEMAS[side],
            TIMES[side],
        )
        for side in (0, 1)
    )
    union = None
    for name, (join, shards) in joins.items():
        one = join.stream(left, right, shards=shards, name=name, watermark=False)
        one = one.withColumn("join", F.lit(name))
        union = one if union is None else union.unionAll(one)
    query = (
        union.writeStream.format("memory")
        .queryName(f"together_{uuid.uuid4().hex}")
        .option("checkpointLocation", str(folder / "checkpoint"))
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination()
    rows = spark.table(query.name)
    progress = [batch["observedMetrics"] for batch in query.recentProgress]
    return {
        name: Driven(
            multiset(rows.where(F.col("join") == name).drop("join")),
            [figures_of(batch[name]) for batch in progress if name in batch],
        )
        for name in joins
    }
