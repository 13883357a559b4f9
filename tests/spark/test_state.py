"""A shard's state: segments, what a batch writes, what it refuses to read; and shard labels."""

import uuid

import numpy as np
import pyarrow as pa
import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

import headgate as hg
from headgate.spark.shards import shard_labels, spark_hash
from headgate.spark.state.blobs import FORMAT, from_blob, to_blob
from headgate.spark.state.segments import (
    MOST_SEGMENTS,
    Segment,
    live_rows,
    new_segment,
    payload,
    runs_to_rewrite,
)
from headgate.spark.state.stored_tables import TablePlace
from tests.spark.one_shard import LABEL, OneShard
from tests.spark.streams import START_US, multiset, timestamps

pytestmark = pytest.mark.spark

SCHEMA_LEFT = pa.schema([("key", pa.int64()), ("a", pa.timestamp("us", "UTC")), ("x", pa.int64())])
SCHEMA_RIGHT = pa.schema([("key", pa.int64()), ("b", pa.timestamp("us", "UTC")), ("y", pa.int64())])


def rows(schema: pa.Schema, first_second: int, keys: np.ndarray) -> pa.Table:
    """A row a second from the first on."""
    seconds = first_second + np.arange(len(keys))
    return pa.table(
        [pa.array(keys), timestamps(START_US + seconds * 1_000_000), pa.array(seconds)],
        schema=schema,
    )


def one_shard(budget: hg.Budget, window: str, policy: str = "random") -> OneShard:
    join = hg.WindowJoin(
        on="key",
        left=hg.Side(time="a", window=window),
        right=hg.Side(time="b", window=window),
        budget=budget,
        policy=policy,
    )
    return OneShard(join, (SCHEMA_LEFT, SCHEMA_RIGHT), uuid.uuid4().hex)


def test_a_row_at_the_watermark_of_the_batch_before_is_late() -> None:
    shard = one_shard(hg.Budget(rows=100), "1 hour")
    watermark = START_US // 1000 + 10_000
    shard.batch(rows(SCHEMA_LEFT, 0, np.zeros(3, int)), watermark_ms=watermark)
    after = shard.batch(rows(SCHEMA_LEFT, 9, np.zeros(3, int)))
    assert (after.metrics["late"], after.metrics["stored_rows"]) == (2, 4)


def test_many_small_batches_leave_few_segments_and_every_row() -> None:
    rng = np.random.default_rng(71)
    shard = one_shard(hg.Budget(rows=10_000), "1 hour")
    join = hg.WindowJoin(
        on="key",
        left=hg.Side(time="a", window="1 hour"),
        right=hg.Side(time="b", window="1 hour"),
        budget=hg.Budget(rows=10_000),
    )
    sides, pairs = ([], []), []
    for number in range(120):
        parts = [
            rows(schema, 3 * number, rng.integers(0, 20, 3))
            for schema in (SCHEMA_LEFT, SCHEMA_RIGHT)
        ]
        for side in (0, 1):
            sides[side].append(parts[side])
        outcome = shard.batch(*parts)
        pairs.append(outcome.pairs)
        assert outcome.metrics["segments"] <= 2 * MOST_SEGMENTS
        assert outcome.metrics["stored_rows"] == 6 * (number + 1)
    wanted = join.run(pa.concat_tables(sides[0]), pa.concat_tables(sides[1]))
    assert multiset(pa.concat_tables(pairs)) == multiset(wanted.pairs)


@pytest.fixture(scope="module")
def steady() -> dict[int, list[dict[str, int]]]:
    """Metrics of full shards by budget: the same arrivals, each stored in the oldest's place.

    FIFO, since a policy that refuses arrivals stores, and writes, more of them in a larger budget.
    """
    figures: dict[int, list[dict[str, int]]] = {}
    for budget in (4_000, 64_000):
        rng = np.random.default_rng(72)
        shard = one_shard(hg.Budget(rows=budget), "100 hours", "fifo")
        batches = []
        for number in range(130):
            parts = [
                rows(schema, 500 * number, rng.integers(0, 1 << 40, 500))
                for schema in (SCHEMA_LEFT, SCHEMA_RIGHT)
            ]
            watermark = START_US // 1000 + 500_000 * number + 1
            batches.append(shard.batch(*parts, watermark_ms=watermark).metrics)
        assert batches[-1]["stored_rows"] == budget
        figures[budget] = batches[65:]
    return figures


def written_per_batch(batches: list[dict[str, int]]) -> float:
    return float(np.mean([batch["written_bytes"] for batch in batches]))


@pytest.mark.long
def test_a_batch_writes_a_small_part_of_what_is_stored(
    steady: dict[int, list[dict[str, int]]],
) -> None:
    batches = steady[64_000]
    assert written_per_batch(batches) < 0.05 * batches[-1]["held_bytes"]


def test_what_a_batch_writes_grows_far_slower_than_what_is_stored(
    steady: dict[int, list[dict[str, int]]],
) -> None:
    """Sixteen times the rows: merging and the liveness bits may grow, by a logarithm."""
    assert written_per_batch(steady[64_000]) < 5 * written_per_batch(steady[4_000])


def test_dead_rows_are_reclaimed_and_live_ones_kept() -> None:
    rng = np.random.default_rng(73)
    segments = []
    for number in range(10):
        table = rows(SCHEMA_LEFT, 100 * number, rng.integers(0, 9, 100))
        table = table.append_column("__headgate_sequence", pa.array(np.arange(100) + 100 * number))
        table = table.append_column("__headgate_weight", pa.array(np.zeros(100)))
        whole = new_segment(TablePlace(f"segment {number}", 1), 0, table)
        segments.append(Segment(whole.stored, 0, table, rng.random(100) < number / 10, whole.bytes))
    most = 20_000
    assert sum(segment.dead_bytes for segment in segments) > most
    runs = runs_to_rewrite(segments, most)
    chosen = [at for first, end in runs for at in range(first, end)]
    assert chosen == list(range(len(chosen)))
    left = [segment for at, segment in enumerate(segments) if at not in chosen]
    assert sum(segment.dead_bytes for segment in left) <= most
    for first, end in runs:
        fresh = live_rows(segments[first:end])
        live = pa.concat_tables([s.table.filter(pa.array(s.alive)) for s in segments[first:end]])
        assert multiset(fresh) == multiset(live)
        assert payload(fresh).column_names == SCHEMA_LEFT.names


def test_the_state_store_holds_no_more_than_the_head_lists() -> None:
    rng = np.random.default_rng(74)
    shard = one_shard(hg.Budget(memory=20_000), "1 hour", "lru")
    for number in range(60):
        shard.batch(
            *(
                rows(schema, 20 * number, rng.integers(0, 9, 20))
                for schema in (SCHEMA_LEFT, SCHEMA_RIGHT)
            )
        )
        stored = {name for name, _ in shard.tester.peekMapState("segments", LABEL)}
        head = from_blob(shard.tester.peekValueState("head", LABEL)[0])
        assert stored == set(head.column("name").to_pylist())


def test_blobs_of_another_format_are_refused() -> None:
    blob = to_blob(pa.table({"x": [1]}))
    assert from_blob(blob).to_pydict() == {"x": [1]}
    later = b"HG" + (FORMAT + 1).to_bytes(2, "little") + bytes(4) + blob[8:]
    with pytest.raises(hg.SpecError, match=rf"in format {FORMAT + 1}, by a later version"):
        from_blob(later)
    with pytest.raises(hg.SpecError, match="another format"):
        from_blob(b"HG" + (5).to_bytes(6, "little") + blob[8:])
    with pytest.raises(hg.SpecError, match="start from a new checkpoint"):
        from_blob(b"something else")


def test_shards_spread_evenly_over_sparks_partitions(spark: SparkSession) -> None:
    for shards, partitions in ((1, 1), (2, 2), (8, 3), (7, 16), (200, 200)):
        labels = shard_labels(shards, partitions)
        assert len(set(labels)) == shards
        frame = spark.createDataFrame([(label,) for label in labels], "label int")
        hashed = frame.select(
            F.hash("label").alias("hash"),
            F.pmod(F.hash("label"), F.lit(partitions)).alias("partition"),
        ).toPandas()
        assert hashed["partition"].tolist() == [shard % partitions for shard in range(shards)]
        assert hashed["hash"].tolist() == spark_hash(np.array(labels)).tolist()
