"""What is in a checkpoint, and queries that go on from one with another number of shards."""

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

import headgate as hg
from headgate.spark.checkpoint import resharding, stored_rows
from headgate.spec import SpecError
from tests.spark.needed_spark import ON_CONNECT
from tests.spark.query_lives import FILES, FIRST_FILES, PARTITIONS, Life, Query, listing, streamed

pytestmark = [
    pytest.mark.spark,
    pytest.mark.skipif(ON_CONNECT, reason="checkpoints are read where their files are"),
]

FULL = {"how": "full"}
KINDS = {
    "inner": {},
    "full": FULL,
    "anti": {"how": "anti"},
    "lru": {"policy": "lru"},
    "prob": {"policy": "prob"},
    "auto": {"policy": "auto"},
    "importance": {"goal": hg.MaxImportance("left_id"), "policy": "auto"},
}
LEAST = {"anti": 30}
"""Result rows that a kind makes at least, where it is fewer than others do."""
CUTS = ((2, 3), (1, 2), (2, 1), (2, 8), (8, 1))


@pytest.fixture
def partitions(spark: SparkSession) -> Iterator[Any]:
    """Sets the shuffle partitions of queries that start from now on."""
    before = spark.conf.get(PARTITIONS)
    yield lambda count: spark.conf.set(PARTITIONS, str(count))
    spark.conf.set(PARTITIONS, before)


def stopped(spark: SparkSession, folder: Path, shards: int, seed: int, **asked: Any) -> Life:
    """A query that has ended after half of its input, and all of that input."""
    life = Life(spark, folder, seed)
    life.bring(FIRST_FILES)
    life.run(streamed(shards, **asked), folder / "checkpoint")
    return life


def uninterrupted(
    spark: SparkSession, folder: Path, shards: int, seed: int, **asked: Any
) -> Counter:
    """What the query puts out when nothing happens to it."""
    life = Life(spark, folder, seed)
    life.bring(FILES)
    return life.run(streamed(shards, **asked), folder / "checkpoint")


@pytest.mark.long
@pytest.mark.parametrize("cut", CUTS, ids=str)
@pytest.mark.parametrize("kind", KINDS)
def test_a_resharded_query_makes_what_one_with_that_many_shards_makes(
    spark: SparkSession, partitions: Any, tmp_path: Path, kind: str, cut: tuple[int, int]
) -> None:
    before, after = cut
    partitions(before)
    life = stopped(spark, tmp_path / "moved", before, 41, **KINDS[kind])
    old = listing(life.folder / "checkpoint")
    told = hg.state(life.folder / "checkpoint", spark)
    moved = hg.reshard(
        life.folder / "checkpoint", life.folder / "new", spark, shards=after, memory="1 MB"
    )
    assert listing(life.folder / "checkpoint") == old, "the old checkpoint stays as it is"
    assert moved.rows == tuple(side.rows for side in told.sides)
    assert told.rows == life.metrics[-1]["stored_rows"] > 300
    partitions(after)
    life.bring(FILES)
    got = life.run(streamed(after, **KINDS[kind]), life.folder / "new")
    want = uninterrupted(spark, tmp_path / "whole", after, 41, **KINDS[kind])
    assert got == want
    assert got.total() > LEAST.get(kind, 1000)
    assert all(batch["shed"] == 0 for batch in life.metrics)


@pytest.mark.long
@pytest.mark.parametrize("cut", CUTS, ids=str)
@pytest.mark.parametrize("kind", KINDS)
def test_a_resharded_query_stays_within_its_budget(
    spark: SparkSession, partitions: Any, tmp_path: Path, kind: str, cut: tuple[int, int]
) -> None:
    before, after = cut
    asked = {**KINDS[kind], "budget": hg.Budget(rows=160)}
    partitions(before)
    life = stopped(spark, tmp_path / "moved", before, 42, **asked)
    hg.reshard(life.folder / "checkpoint", life.folder / "new", spark, shards=after)
    partitions(after)
    life.bring(FILES)
    got = life.run(streamed(after, **asked), life.folder / "new")
    assert all(batch["stored_rows"] <= 160 for batch in life.metrics)
    assert sum(batch["shed"] + batch["refused"] for batch in life.metrics) > 100
    exact = uninterrupted(spark, tmp_path / "whole", after, 42, **KINDS[kind])
    assert got <= exact, "rows may be missing, none is invented"
    assert got.total() > (LEAST.get(kind, 1000) // 10)


@pytest.mark.long
def test_what_comes_after_a_resharded_join_goes_on(
    spark: SparkSession, partitions: Any, tmp_path: Path
) -> None:
    """Counts by minute, whose state is copied as it is, with the same number of partitions."""

    def counted(shards: int) -> Query:
        def query(left: DataFrame, right: DataFrame) -> DataFrame:
            pairs = streamed(shards)(left, right)
            counts = pairs.groupBy(F.window("left_at", "1 minute")).count()
            return counts.select("window.start", "count")

        return query

    partitions(2)
    life, whole = (Life(spark, tmp_path / name, 46) for name in ("moved", "whole"))
    life.bring(FIRST_FILES)
    life.run(counted(2), life.folder / "checkpoint")
    hg.reshard(life.folder / "checkpoint", life.folder / "new", spark, shards=4, partitions=2)
    life.bring(FILES)
    whole.bring(FILES)
    got = life.run(counted(4), life.folder / "new")
    assert got == whole.run(counted(4), whole.folder / "checkpoint")
    assert got.total() >= FIRST_FILES


@pytest.mark.long
def test_a_checkpoint_tells_what_is_in_it_and_is_left_alone(
    spark: SparkSession, partitions: Any, tmp_path: Path
) -> None:
    partitions(2)
    life = stopped(spark, tmp_path, 2, 43)
    before = listing(tmp_path / "checkpoint")
    told = hg.state(tmp_path / "checkpoint", spark, rows=tmp_path / "rows.parquet", top_keys=3)
    assert listing(tmp_path / "checkpoint") == before
    last = life.metrics[-1]
    assert (told.rows, told.bytes) == (last["stored_rows"], last["stored_bytes"])
    assert sum(shard.sides[0].rows for shard in told.shards) == told.sides[0].rows
    assert {told.followed} <= {shard.policy for shard in told.shards}
    rows = pq.read_table(tmp_path / "rows.parquet").to_pylist()
    assert len(rows) == told.rows
    times = [row["time"].timestamp() * 1e6 for row in rows if row["side"] == "left"]
    assert (min(times), max(times)) == (told.sides[0].oldest_us, told.sides[0].newest_us)
    ids = {row["left"]["left_id"] for row in rows if row["side"] == "left"}
    assert len(ids) == told.sides[0].rows
    counts = Counter((row[row["side"]]["key"]) for row in rows)
    assert sum(told.top_keys[0].rows) == max(counts.values())
    shown = hg.state(tmp_path / "checkpoint", spark, values=True, top_keys=1)
    assert counts[int(shown.top_keys[0].key)] == max(counts.values())
    assert "not shown" not in str(shown)
    assert json.loads(told.to_json())["join"]["left keys"] == ["key"]
    assert "Most frequent keys" in str(told)


@pytest.mark.long
def test_interrupted_work_goes_on_where_it_was(
    spark: SparkSession, partitions: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    partitions(2)
    life = stopped(spark, tmp_path / "moved", 2, 44)
    old, new = life.folder / "checkpoint", life.folder / "new"

    def broken(*_: Any) -> None:
        raise OSError("no space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(resharding, "write_state", broken)
        with pytest.raises(OSError, match="no space"):
            hg.reshard(old, new, spark, shards=3)
    assert not new.exists()
    assert listing(life.folder / "new.unfinished")
    with monkeypatch.context() as patched:
        # What was read and sorted is neither read nor sorted again.
        patched.setattr(stored_rows, "live_rows_frame", broken)
        patched.setattr(resharding, "pack_rows", broken)
        hg.reshard(old, new, spark, shards=3)
    assert not (life.folder / "new.unfinished").exists()
    partitions(3)
    life.bring(FILES)
    got = life.run(streamed(3), new)
    assert got == uninterrupted(spark, tmp_path / "whole", 3, 44)


@pytest.mark.long
def test_what_cannot_be_resharded_says_why(
    spark: SparkSession, partitions: Any, tmp_path: Path
) -> None:
    partitions(2)
    sample = {"goal": hg.Sample(), "policy": "auto", "budget": hg.Budget(rows=160)}
    life = stopped(spark, tmp_path / "sample", 2, 45, **sample)
    checkpoint = life.folder / "checkpoint"
    with pytest.raises(SpecError, match="chances hold within a shard"):
        hg.reshard(checkpoint, tmp_path / "new", spark, shards=3)
    with pytest.raises(SpecError, match="give a whole number"):
        hg.reshard(checkpoint, tmp_path / "new", spark, shards=0)
    with pytest.raises(SpecError, match="old checkpoint"):
        hg.reshard(checkpoint, checkpoint / "inside", spark, shards=3)
    with pytest.raises(SpecError, match="not the checkpoint of a query"):
        hg.state(tmp_path, spark)
