"""What a shard learns, through its state: within the budget, and the same after a restart."""

import uuid
from collections.abc import Iterator
from dataclasses import astuple

import numpy as np
import pyarrow as pa
import pytest

import headgate as hg
from headgate.engine.shard_layout import EVIDENCE
from headgate.learning import Evidence
from headgate.learning.rival_round import RivalRows
from headgate.learning.room import KEYS_A_ROW
from headgate.models.class_ages import AGES
from headgate.spark.state.learned_state import _by_row as read_by_row
from headgate.spark.state.learned_state import rival_rows, rival_table
from headgate.spec import How
from headgate.spec.budget import AMPLE
from headgate.studies.streams import START_US, Streams, aging, zipf
from tests.spark.one_shard import LABEL, OneShard, ShardBatch
from tests.thoroughness import usually

pytestmark = pytest.mark.spark

BATCHES = 30


def drive(
    streams: Streams, budget: hg.Budget, policy: str
) -> tuple[OneShard, list[dict[str, float]]]:
    """Join in batches of equal time; the shard, and the metrics of each batch."""
    shard = shard_of(streams, streams.request(policy, budget))
    return shard, [batch.metrics for batch in in_batches(shard, streams)]


def drive_request(streams: Streams, request: hg.WindowJoin) -> list[ShardBatch]:
    """Join in batches of equal time; what each put out."""
    return list(in_batches(shard_of(streams, request), streams))


def shard_of(streams: Streams, request: hg.WindowJoin) -> OneShard:
    schemas = streams.left.schema, streams.right.schema
    return OneShard(request, schemas, uuid.uuid4().hex)


def in_batches(shard: OneShard, streams: Streams) -> Iterator[ShardBatch]:
    sides = streams.tables
    times = [side.column(1).cast("int64").to_numpy() - START_US for side in sides]
    end = max(int(time[-1]) for time in times) + 1
    for number in range(BATCHES):
        cuts = [
            np.searchsorted(time, [end * number // BATCHES, end * (number + 1) // BATCHES])
            for time in times
        ]
        parts = [side.slice(cut[0], cut[1] - cut[0]) for side, cut in zip(sides, cuts, strict=True)]
        watermark = (START_US + end * number // BATCHES) // 1000 if number else None
        yield shard.batch(*parts, watermark_ms=watermark)


@pytest.mark.parametrize(
    "policy", usually(("auto", "prob", "lru"), ("auto", "age", "prob", "life", "fifo", "lru"))
)
def test_a_shard_and_its_monitor_stay_within_the_memory(policy: str) -> None:
    memory = 40_000
    _, metrics = drive(
        zipf(9_000, 90, seed=1, window=9), hg.Budget(memory=memory, monitor=0.1), policy
    )
    for figures in metrics:
        assert figures["held_bytes"] + figures["monitor_bytes"] <= memory
    assert max(figures["watched_rows"] for figures in metrics) > 4
    counts_keys = policy in ("auto", "prob", "life")
    assert (metrics[-1]["tracked_keys"] > 10) == counts_keys
    assert metrics[0]["shards_neutral"] == (policy in ("auto", "age", "prob", "life"))
    assert metrics[-1]["shards_by_key"] == counts_keys
    assert metrics[-1]["shards_by_age"] == (policy == "age")


def test_rows_of_a_shard_and_its_monitor_stay_within_the_budget() -> None:
    _, metrics = drive(zipf(9_000, 90, seed=2, window=9), hg.Budget(rows=400, monitor=0.1), "auto")
    for figures in metrics:
        monitored = figures["watched_rows"] / 2 + figures["tracked_keys"] / KEYS_A_ROW
        assert figures["peak_rows"] + monitored <= 400


def test_auto_follows_ages_where_rows_match_by_age() -> None:
    streams = aging(6_000, 120, window=10, shapes=["rising"], seed=3)
    _, metrics = drive(streams, hg.Budget(rows=150, monitor=0.2), "auto")
    assert metrics[-1]["shards_by_age"] == 1


def test_a_sample_learns_sizes_and_rows_keep_them_in_state() -> None:
    streams = zipf(9_000, 90, seed=5, window=9)
    budget = hg.Budget(rows=400, monitor=0.1)
    request = streams.request("auto", budget, goal=hg.Sample())
    pairs, metrics = [], []
    for run in range(2):
        batches = drive_request(streams, request)
        pairs.append(pa.concat_tables([batch.pairs for batch in batches]))
        metrics = [batch.metrics for batch in batches]
        assert pairs[run].equals(pairs[0])
    assert metrics[0]["shards_neutral"] == 1
    assert metrics[-1]["shards_by_key"] == 1
    assert max(figures["peak_rows"] for figures in metrics) <= 380
    estimated = hg.estimate.count(pairs[0])
    exact = streams.join("fifo", AMPLE).pairs.num_rows
    assert estimated.low <= exact <= estimated.high


def test_recall_is_estimated_batch_by_batch_and_over_all() -> None:
    streams = zipf(9_000, 90, seed=4, window=9)
    shard, metrics = drive(streams, hg.Budget(rows=800, monitor=0.4), "random")
    batches = [Evidence(*(f[name] for name in EVIDENCE[:5])) for f in metrics]
    total = Evidence(*(metrics[-1][name] for name in EVIDENCE[5:]))
    made = sum(figures["pairs"] for figures in metrics)
    assert made == metrics[-1]["total_pairs"]
    exact = streams.join("fifo", AMPLE)
    estimate = total.recall()
    assert estimate.low <= made / exact.stats.pairs <= estimate.high
    assert estimate.high - estimate.low < 0.2
    # Thinning drops rows that told something before, so the sum is near the total, not equal.
    assert sum(batch.met for batch in batches) == pytest.approx(total.met, rel=0.2)
    assert astuple(total)[0] == pytest.approx(exact.stats.pairs, rel=0.25)
    assert shard.tester.peekValueState("lessons", LABEL) is not None


def test_policies_are_tried_within_the_memory_and_changes_are_counted() -> None:
    streams = aging(40_000, 200, window=20, shapes=["falling", "rising"], seed=6)
    memory = 400_000
    runs = []
    for _ in range(2):
        shard, metrics = drive(streams, hg.Budget(memory=memory, monitor=0.1), "auto")
        for figures in metrics:
            assert figures["held_bytes"] + figures["monitor_bytes"] <= memory
        runs.append([(figures["pairs"], figures["switched"]) for figures in metrics])
    assert runs[0] == runs[1]
    assert max(figures["tried_rows"] for figures in metrics) > 40
    assert 1 <= sum(switched for _, switched in runs[0]) < BATCHES / 3
    kept = shard.tester.peekValueState("lessons", LABEL)
    assert '"standing"' in kept[0]
    assert kept[4] is not None


@pytest.mark.parametrize("important", [False, True], ids=["alike", "important"])
def test_rows_that_policies_are_tried_on_are_read_back_as_they_were(important: bool) -> None:
    """What a policy knew of rows that it does not store is forgotten."""
    random = np.random.default_rng(4)
    names, count = ("random", "fifo", "lru"), 40
    columns = pa.table({"key": random.integers(0, 9, count)})
    time = random.integers(0, 1000, count)
    touched = np.tile(time, (3, 1))
    touched[2] += random.integers(0, 50, count)
    rows = RivalRows.none(3)._replace(
        time=time,
        size=random.integers(60, 90, count),
        sequence=np.arange(count),
        held=random.random((3, count)) < 0.5,
        matches=np.vstack([np.zeros((2, count), np.int32), random.integers(0, 9, (1, count))]),
        touched=touched,
        met=random.random((3, count)) < 0.5,
    )
    if important:
        recent = np.vstack([np.zeros((2, count)), random.random((1, count))])
        rows = rows._replace(recent=recent, importance=random.random(count))
    again = rival_rows(rival_table(columns, rows, names), names, How.LEFT)
    for name in ("time", "size", "sequence", "held", "importance"):
        assert np.array_equal(getattr(again, name), getattr(rows, name)), name
    for name in ("matches", "touched", "met", *(["recent"] if important else [])):
        read, written = (getattr(each, name)[rows.held] for each in (again, rows))
        assert np.array_equal(read, written), name
    inner = rival_rows(
        rival_table(columns, rows._replace(met=rows.met[:, :0]), names), names, How.INNER
    )
    assert not inner.met.size


def test_watched_rows_of_other_columns_tell_nothing() -> None:
    table = pa.table({"key": [1, 2]})
    for name, values in (("traits", np.ones((2, 3), "f4")), ("by_age", np.ones((2, AGES), "u2"))):
        flat = pa.array(values.ravel())
        column = pa.FixedSizeListArray.from_arrays(flat, values.shape[1])
        table = table.append_column(f"__headgate_{name}", column)
    none = table.slice(0, 0)
    same = read_by_row((table, none), 2, 3, other_features=False)
    assert same["traits"].tolist() == [[1.0] * 3] * 2
    assert same["by_age"].sum() == 2 * AGES
    other = read_by_row((none, table), 2, 4, other_features=True)
    assert np.isnan(other["traits"]).all()
    assert other["traits"].shape == (2, 4)
