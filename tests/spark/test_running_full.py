"""Memory that runs full in the first, the second or a later batch, under every policy and goal.

The whole product is driven in memory, through the real processor and its state; real queries take
each kind of policy and goal, and the join that a new user writes first.
"""

import json
import uuid
from collections import Counter
from dataclasses import replace
from functools import cache
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.streaming import StreamingQuery

import headgate as hg
from headgate.learning.rival_round import RivalRows
from headgate.learning.room import KEYS_A_ROW
from headgate.spark.spark_versions import figures_of
from headgate.spark.state.blobs import to_blob
from headgate.spark.state.learned_state import rival_table
from headgate.spark.state.shard_head import ShardHead
from headgate.spec.budget import AMPLE
from tests.spark.one_shard import LABEL, OneShard, ShardBatch
from tests.spark.streams import START_US, multiset, read_side, timestamps, write_side
from tests.thoroughness import LONG, spread, usually
from tests.ways import WAYS

pytestmark = pytest.mark.spark

TIMES, IDS = ("lt", "rt"), ["lid", "rid"]
SCHEMAS = tuple(
    f"key bigint, {time} timestamp, worth double, {number} bigint"
    for time, number in zip(TIMES, IDS, strict=True)
)
TINY, LARGE = 5, 1100
MONITOR = 0.2
"""Enough for "auto" to try policies beside the one it follows, in large batches."""


Sizes = tuple[tuple[int, int], ...]


class Filling(NamedTuple):
    """Batches of equal size, and a budget that the rows of one of them pass first."""

    batch: int
    size: int
    """Rows of a side in a batch."""

    @property
    def rows(self) -> int:
        """The budget: with a monitor or without, more than the batches before bring."""
        return int(self.size * (2 * self.batch + 1.9))

    @property
    def sizes(self) -> Sizes:
        """Rows of each side, batch by batch; also batches without rows of one side, or of both."""
        size, after = self.size, ((self.size, self.size),)
        if self.batch == 1:
            after = ((size, 0), (0, 0), (0, size))
        return ((size, size),) * (self.batch + 1) + after

    def __str__(self) -> str:
        return f"batch {self.batch} of {self.size}"


FILLINGS = [Filling(batch, size) for batch in (0, 1, 2) for size in (TINY, LARGE)]


def rows_of(side: int, count: int, keys: int) -> pa.Table:
    """Rows in order of time, some hundred a second."""
    rng = np.random.default_rng(side)
    columns = {
        "key": rng.integers(0, keys, count),
        TIMES[side]: timestamps(START_US + np.arange(count) * 10_000 + side),
        "worth": rng.integers(1, 4, count).astype(float),
        IDS[side]: np.arange(count),
    }
    return pa.table(columns)


def join_of(filling: Filling, way: str, **more: Any) -> hg.WindowJoin:
    """The join within the budget of the filling; windows outlast the input."""
    return hg.WindowJoin(
        on="key",
        left=hg.Side(time=TIMES[0], window="60 seconds"),
        right=hg.Side(time=TIMES[1], window="60 seconds"),
        budget=hg.Budget(rows=filling.rows, monitor=MONITOR),
        **WAYS[way],
        **more,
    )


@cache
def inputs(sizes: Sizes) -> tuple[list[pa.Table], list[pa.Table]]:
    """Each side cut into batches of such sizes."""
    sides = []
    for side in (0, 1):
        cuts = [0, *accumulate(batch[side] for batch in sizes)]
        table = rows_of(side, cuts[-1], keys=2 * sizes[0][0])
        sides.append([table.slice(first, end - first) for first, end in pairwise(cuts)])
    return sides[0], sides[1]


@cache
def exact(sizes: Sizes) -> list[Counter]:
    """The result rows up to each batch, by the numbers of the rows they are made of."""
    keys = [pa.concat_tables(side).column("key").to_numpy() for side in inputs(sizes)]
    lids, rids = np.nonzero(keys[0][:, None] == keys[1][None, :])
    upto = []
    for number in range(1, len(sizes) + 1):
        left, right = (sum(batch[side] for batch in sizes[:number]) for side in (0, 1))
        come = (lids < left) & (rids < right)
        upto.append(Counter(zip(lids[come].tolist(), rids[come].tolist(), strict=True)))
    return upto


def shard_of(filling: Filling, way: str) -> OneShard:
    left, right = inputs(filling.sizes)
    return OneShard(join_of(filling, way), (left[0].schema, right[0].schema), uuid.uuid4().hex)


def driven(filling: Filling, way: str) -> list[ShardBatch]:
    shard = shard_of(filling, way)
    return [shard.batch(*batch) for batch in zip(*inputs(filling.sizes), strict=True)]


def given_up(metrics: dict[str, Any]) -> int:
    return metrics["shed"] + metrics["refused"] + metrics["unchosen"]


def check_figures(filling: Filling, metrics: list[dict[str, Any]]) -> None:
    """Within the budget in every batch, and memory ran full when it should."""
    for figures in metrics:
        monitored = (
            figures["watched_rows"] / 2
            + figures["tracked_keys"] / KEYS_A_ROW
            + figures["tried_rows"] / 3
        )
        assert figures["stored_rows"] <= figures["peak_rows"]
        assert figures["peak_rows"] + monitored <= filling.rows
    first = [given_up(figures) > 0 for figures in metrics].index(True)
    assert first == filling.batch


@pytest.mark.parametrize(("way", "filling"), spread(WAYS, FILLINGS, apart=5))
def test_a_join_goes_on_within_its_budget_whenever_memory_runs_full(
    way: str, filling: Filling
) -> None:
    batches = driven(filling, way)
    pairs: Counter = Counter()
    uniform = way.startswith("sample, uniform")
    for number, (batch, wanted) in enumerate(zip(batches, exact(filling.sizes), strict=True)):
        pairs += multiset(batch.pairs.select(IDS))
        assert pairs <= wanted
        assert pairs == wanted or number >= filling.batch or uniform
        if "weight" in batch.pairs.column_names:
            weights = batch.pairs.column("weight").to_numpy()
            assert np.isfinite(weights).all()
            assert (weights >= 1).all()
    metrics = [batch.metrics for batch in batches]
    if not uniform:
        assert pairs.total() > 0
        check_figures(filling, metrics)
    if way == "rows, auto" and filling.size == LARGE:
        tried = [figures["tried_rows"] > 0 for figures in metrics]
        assert all(tried[filling.batch :])


class TestTrials:
    """What is kept of policies that are tried, from batch to batch."""

    FULL_NEXT, FULL_LATER = Filling(1, LARGE), Filling(4, LARGE)

    def test_trials_begin_with_the_first_batch(self) -> None:
        shard = shard_of(self.FULL_LATER, "rows, auto")
        kept = []
        for batch in list(zip(*inputs(self.FULL_LATER.sizes), strict=True))[:5]:
            shard.batch(*batch)
            kept.append(shard.tester.peekValueState("lessons", LABEL)[4:])
        assert None not in kept[0]
        assert None not in kept[4]

    def test_a_checkpoint_with_empty_trials_of_nobody_is_taken_up(self) -> None:
        """Earlier versions wrote them until memory ran full."""
        left, right = inputs(self.FULL_LATER.sizes)
        batches = list(zip(left, right, strict=True))
        shard = shard_of(self.FULL_LATER, "rows, auto")
        shard.batch(*batches[0])
        kept = shard.tester.peekValueState("lessons", LABEL)
        nobody = rival_table(left[0].select(["key"]).slice(0, 0), RivalRows.none(0), ())
        none = to_blob(nobody, checked=True)
        facts = json.loads(kept[0])
        facts["standing"] = {"names": [], "costs": [], "made": []}
        facts["tried"] = 0.0
        shard.tester.updateValueState("lessons", LABEL, (json.dumps(facts), *kept[1:4], none, none))
        # As in heads of that time, which have no checksum of it.
        head = ShardHead.read(shard.tester.peekValueState("head", LABEL)[0])
        shard.tester.updateValueState("head", LABEL, (replace(head, learned=None).to_blob(),))
        again = [shard.batch(*batch) for batch in batches[1:]]
        wanted = driven(self.FULL_LATER, "rows, auto")[1:]
        for number, (one, other) in enumerate(zip(again, wanted, strict=True), start=1):
            # Once memory is full, what was tried in the first batch may tell which rows stay.
            assert number >= self.FULL_LATER.batch or one.pairs.equals(other.pairs)
            assert one.metrics["peak_rows"] <= self.FULL_LATER.rows

    def test_rows_tried_outlast_a_batch_without_rows(self) -> None:
        shard = shard_of(self.FULL_NEXT, "rows, auto")
        kept = []
        for batch in zip(*inputs(self.FULL_NEXT.sizes), strict=True):
            shard.batch(*batch)
            kept.append(shard.tester.peekValueState("lessons", LABEL)[4:])
        silent = self.FULL_NEXT.sizes.index((0, 0))
        assert kept[silent] == kept[silent - 1]
        assert len(set(kept)) == len(kept) - 1


QUERIES = {
    TINY: (("rows, auto", 0), ("sample, auto", 1), ("importance, auto", 2), ("rows, hist", 2)),
    LARGE: (("sample, auto", 0), ("importance, auto", 1)),
}
"""Joins that share a query, by the size of its batches, and when the memory of each runs full."""


@pytest.mark.parametrize("size", usually((), QUERIES))
def test_queries_go_on_within_their_budgets_whenever_memory_runs_full(
    spark: SparkSession, tmp_path: Path, size: int
) -> None:
    sizes = ((size, size),) * 3 + ((size, 0), (0, size))
    left, right = frames(spark, tmp_path, inputs(sizes))
    union = None
    for way, batch in QUERIES[size]:
        joined = join_of(Filling(batch, size), way)
        one = joined.stream(left, right, shards=1, name=way, watermark=False)
        one = one.select(F.lit(way).alias("join"), *IDS)
        union = one if union is None else union.unionAll(one)
    query = started(union, tmp_path / "checkpoint")
    query.awaitTermination()
    rows = multiset(spark.table(query.name))
    for way, batch in QUERIES[size]:
        pairs = Counter({row[1:]: count for row, count in rows.items() if row[0] == way})
        assert pairs, way
        assert pairs <= exact(sizes)[-1], way
        check_figures(Filling(batch, size), metrics_of(query, way))


KEYS, ROWS, BATCHES = 5_000, 2_500, 3
STOPS = ((BATCHES,), (1, BATCHES)) if LONG else ((1, BATCHES),)
"""The batches after which the query is stopped."""


# The usual round restarts other queries, and fills memory in one shard, in process.
@pytest.mark.long
def test_the_join_that_is_written_first_goes_on_when_memory_runs_full_and_after_restarts(
    spark: SparkSession, tmp_path: Path
) -> None:
    tables = [rows_of(side, BATCHES * ROWS, KEYS) for side in (0, 1)]
    batches = [
        [side.slice(first, ROWS) for first in range(0, BATCHES * ROWS, ROWS)] for side in tables
    ]
    join = hg.WindowJoin(
        on="key",
        left=hg.Side(time=TIMES[0], window="10 minutes"),
        right=hg.Side(time=TIMES[1], window="10 minutes"),
        budget=hg.Budget(rows=10_000),
    )
    outputs = []
    for stops in STOPS:
        folder = tmp_path / f"stopped {len(stops)} times"
        metrics, written = [], 0
        for stop in stops:
            for place, side in enumerate(batches):
                write_side(folder / TIMES[place], side[written:stop], first=written)
            written = stop
            left, right = (
                read_side(spark, folder / time, schema, time, "10 seconds")
                for time, schema in zip(TIMES, SCHEMAS, strict=True)
            )
            query = (
                join.stream(left, right, watermark=False)
                .select(*IDS)
                .writeStream.format("parquet")
                .option("path", str(folder / "out"))
                .option("checkpointLocation", str(folder / "checkpoint"))
                .trigger(availableNow=True)
                .start()
            )
            query.awaitTermination()
            metrics += metrics_of(query, "headgate")
        assert [figures["left_rows"] for figures in metrics] == [ROWS] * BATCHES
        assert [figures["stored_rows"] for figures in metrics] == [5_000] + [9_500] * (BATCHES - 1)
        # Trials begin with the epoch in which memory runs full.
        assert all(figures["tried_rows"] > 0 for figures in metrics[1:])
        outputs.append(multiset(spark.read.parquet(str(folder / "out"))))
    assert outputs[0] == outputs[-1]
    exact = join.within(AMPLE).run(*tables).pairs
    assert outputs[0] <= multiset(exact.select(IDS))
    assert outputs[0].total() > exact.num_rows / 2


def metrics_of(query: StreamingQuery, name: str) -> list[dict[str, Any]]:
    """The figures of the batches that had rows."""
    progress = [batch["observedMetrics"] for batch in query.recentProgress]
    metrics = [figures_of(batch[name]) for batch in progress if name in batch]
    return [figures for figures in metrics if figures["left_rows"] + figures["right_rows"]]


def frames(
    spark: SparkSession, folder: Path, batches: tuple[list[pa.Table], list[pa.Table]]
) -> list[DataFrame]:
    """Both sides as streams, one file a batch."""
    return [
        read_side(spark, write_side(folder / time, side), schema, time)
        for time, side, schema in zip(TIMES, batches, SCHEMAS, strict=True)
    ]


def started(frame: DataFrame, checkpoint: Path) -> StreamingQuery:
    """A query over all there is, into memory."""
    return (
        frame.writeStream.format("memory")
        .queryName(f"full_{uuid.uuid4().hex}")
        .option("checkpointLocation", str(checkpoint))
        .trigger(availableNow=True)
        .start()
    )
