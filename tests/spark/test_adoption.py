"""Queries that change from Spark's own join to Headgate's and back lose and double no row."""

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

import headgate as hg
from headgate.spec import SpecError
from tests.spark.needed_spark import ON_CONNECT
from tests.spark.query_lives import (
    FILES,
    FIRST_FILES,
    STORES,
    Life,
    Query,
    join,
    listing,
    streamed,
)

pytestmark = [
    pytest.mark.spark,
    pytest.mark.skipif(ON_CONNECT, reason="checkpoints are read where their files are"),
]

CONDITION = (
    "l.key = r.key AND right_at >= left_at - INTERVAL 1 MINUTE "
    "AND right_at <= left_at + INTERVAL 2 MINUTES"
)
SPARKS = {
    "inner": "inner",
    "left": "leftouter",
    "right": "rightouter",
    "full": "fullouter",
    "semi": "leftsemi",
}
COLUMNS = ("left_at", "left_id", "note", "right_at", "right_id")


def built_in(how: str) -> Query:
    """Spark's own join, with the columns that Headgate's has beside the key."""

    def query(left: DataFrame, right: DataFrame) -> DataFrame:
        both = left.alias("l").join(right.alias("r"), F.expr(CONDITION), SPARKS[how])
        key = F.coalesce("l.key", "r.key") if how in ("right", "full") else F.col("l.key")
        return both.select(key.alias("key"), *COLUMNS[: 3 if how == "semi" else None])

    return query


def headgates(how: str, shards: int, **asked: Any) -> Query:
    """Headgate's join, with the same columns: an outer join shows the key of either side."""

    def query(left: DataFrame, right: DataFrame) -> DataFrame:
        made = streamed(shards, how=how, **asked)(left, right)
        return made.select("key", *COLUMNS[: 3 if how == "semi" else None])

    return query


def uninterrupted(spark: SparkSession, folder: Path, seed: int, how: str) -> Counter:
    """What Spark's own join makes when nothing happens to it."""
    life = Life(spark, folder, seed, nulls=how == "inner")
    life.bring(FILES)
    return life.run(built_in(how), folder / "checkpoint")


@pytest.mark.long
@pytest.mark.parametrize("kept_in", STORES)
@pytest.mark.parametrize("how", SPARKS)
def test_an_adopted_query_makes_what_sparks_own_join_makes(
    spark: SparkSession, store: Any, tmp_path: Path, how: str, kept_in: str
) -> None:
    store(kept_in, 2)
    life = Life(spark, tmp_path / "life", 51, nulls=how == "inner")
    life.bring(FIRST_FILES)
    life.run(built_in(how), life.folder / "checkpoint")
    old = listing(life.folder / "checkpoint")
    store("rocksdb", 3)
    sides = life.sides()
    moved = hg.adopt(
        life.folder / "checkpoint", life.folder / "new", join(how=how), *sides, shards=3
    )
    assert listing(life.folder / "checkpoint") == old
    assert sum(moved.rows) > 200
    life.bring(FILES)
    got = life.run(headgates(how, 3), life.folder / "new")
    store(kept_in, 2)
    want = uninterrupted(spark, tmp_path / "whole", 51, how)
    assert got == want
    assert got.total() > 500


@pytest.mark.long
def test_an_adopted_query_stays_within_its_budget(
    spark: SparkSession, store: Any, tmp_path: Path
) -> None:
    store("files", 2)
    life = Life(spark, tmp_path / "life", 52)
    life.bring(FIRST_FILES)
    life.run(built_in("inner"), life.folder / "checkpoint")
    store("rocksdb", 2)
    asked = {"budget": hg.Budget(rows=120), "policy": "prob"}
    left, right = life.sides()
    hg.adopt(life.folder / "checkpoint", life.folder / "new", join(**asked), left, right, shards=2)
    life.bring(FILES)
    got = life.run(headgates("inner", 2, **asked), life.folder / "new")
    assert all(batch["stored_rows"] <= 120 for batch in life.metrics)
    assert got <= uninterrupted(spark, tmp_path / "whole", 52, "inner")


@pytest.mark.long
def test_what_cannot_be_adopted_says_why(spark: SparkSession, store: Any, tmp_path: Path) -> None:
    store("files", 2)
    life = Life(spark, tmp_path, 53)
    life.bring(1)
    life.run(lambda left, right: built_in("left")(left, right).drop("note"), tmp_path / "outer")
    left, right = life.sides()
    store("rocksdb", 2)
    with pytest.raises(SpecError, match="no column note"):
        hg.adopt(tmp_path / "outer", tmp_path / "new", join(how="left"), left, right)
    with pytest.raises(SpecError, match="rows without a key wait"):
        hg.adopt(tmp_path / "outer", tmp_path / "new", join(how="left"), left.drop("note"), right)
    life.run(streamed(2), tmp_path / "headgates", out="other")
    with pytest.raises(SpecError, match="Spark's stream-stream join"):
        hg.adopt(tmp_path / "headgates", tmp_path / "new", join(), left, right)


@pytest.mark.long
@pytest.mark.parametrize("kept_in", STORES)
@pytest.mark.parametrize("how", SPARKS)
def test_a_query_goes_from_sparks_join_to_headgates_and_back(
    spark: SparkSession, store: Any, tmp_path: Path, how: str, kept_in: str
) -> None:
    store(kept_in, 2)
    life = Life(spark, tmp_path / "life", 54, nulls=how == "inner")
    own = join(how=how)

    def sparks(left: DataFrame, right: DataFrame) -> DataFrame:
        return hg.built_in(own, left, right)

    life.bring(2)
    life.run(sparks, life.folder / "first")
    store("rocksdb", 3)
    sides = life.sides()
    hg.adopt(life.folder / "first", life.folder / "second", own, *sides, shards=3)
    life.bring(3)
    life.run(headgates(how, 3), life.folder / "second")
    store(kept_in, 2)
    moved = hg.release(life.folder / "second", life.folder / "third", own, *sides)
    assert sum(moved.rows) > 100
    life.bring(FILES)
    got = life.run(sparks, life.folder / "third")
    whole = Life(spark, tmp_path / "whole", 54, nulls=how == "inner")
    whole.bring(FILES)
    assert got == whole.run(sparks, whole.folder / "checkpoint")
    assert got.total() > 500


def test_a_query_is_adopted_looked_into_and_resharded(
    spark: SparkSession, store: Any, tmp_path: Path
) -> None:
    """All of it in one life; the long round tries each by itself, and every kind of join."""
    store("files", 1)
    life = Life(spark, tmp_path / "life", 55)
    whole = Life(spark, tmp_path / "whole", 55)
    whole.bring(FIRST_FILES + 1)
    want = whole.run(built_in("inner"), whole.folder / "checkpoint")
    life.bring(FIRST_FILES - 1)
    life.run(built_in("inner"), life.folder / "first")
    store("rocksdb", 1)
    left, right = life.sides()
    moved = hg.adopt(life.folder / "first", life.folder / "second", join(), left, right, shards=1)
    life.bring(FIRST_FILES)
    life.run(headgates("inner", 1), life.folder / "second")
    before = listing(life.folder / "second")
    told = hg.state(life.folder / "second", spark)
    assert told.rows == life.metrics[-1]["stored_rows"] > 200
    assert told.bytes == life.metrics[-1]["stored_bytes"]
    hg.reshard(life.folder / "second", life.folder / "third", spark, shards=2)
    assert listing(life.folder / "second") == before
    store("rocksdb", 2)
    life.bring(FIRST_FILES + 1)
    assert life.run(headgates("inner", 2), life.folder / "third") == want
    assert sum(moved.rows) > 200
    assert want.total() > 1000
