"""Profiles on Spark: the same as in process, with only a sample on the driver."""

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import DataFrame, SparkSession

import headgate as hg
from headgate.demo.auctions import auction_stream

pytestmark = pytest.mark.spark

AUCTIONS: dict[str, Any] = {
    "left_on": "id",
    "right_on": "auction",
    "left": hg.Side(time="opened_at", window="10 minutes"),
    "right": hg.Side(time="bid_at", window="0 seconds"),
}


@pytest.fixture(scope="module")
def tables() -> tuple[pa.Table, pa.Table]:
    stream = auction_stream(rows=32_000, seed=5)
    return stream.auctions, stream.bids


@pytest.fixture(scope="module")
def frames(
    spark: SparkSession, tables: tuple[pa.Table, pa.Table], tmp_path_factory: pytest.TempPathFactory
) -> tuple[DataFrame, DataFrame]:
    folder = tmp_path_factory.mktemp("auctions")
    for name, table in zip(("auctions", "bids"), tables, strict=True):
        pq.write_table(table, folder / f"{name}.parquet")
    return (
        spark.read.parquet(str(folder / "auctions.parquet")),
        spark.read.parquet(str(folder / "bids.parquet")),
    )


def test_spark_and_process_agree_when_nothing_is_sampled(
    frames: tuple[DataFrame, DataFrame], tables: tuple[pa.Table, pa.Table]
) -> None:
    on_spark, in_process = hg.profile(*frames, **AUCTIONS), hg.profile(*tables, **AUCTIONS)
    assert str(on_spark) == str(in_process)
    assert on_spark.rows == in_process.rows
    assert on_spark.skew == in_process.skew
    assert on_spark.ages == in_process.ages
    assert on_spark.explains == in_process.explains
    assert hg.Profile.from_json(on_spark.to_json()).to_json() == on_spark.to_json()


def test_a_sample_is_taken_on_spark_and_its_estimate_is_within_its_errors(
    frames: tuple[DataFrame, DataFrame], tables: tuple[pa.Table, pa.Table]
) -> None:
    part = hg.profile(*frames, **AUCTIONS, most_rows=10_000, heavy_keys=50)
    assert sum(part.pairs.rows) <= 10_000
    assert part.pairs.sampled
    assert abs(part.pairs.count - tables[1].num_rows) < 4 * part.pairs.error
    counts = np.sort(np.bincount(tables[1].column("auction").to_numpy()))[::-1]
    assert part.frequencies.right.share.tolist() == (counts[:50] / tables[1].num_rows).tolist()
    assert [side.rows for side in part.rows] == [table.num_rows for table in tables]


def test_nulls_zeros_and_several_key_columns_count_as_in_process(spark: SparkSession) -> None:
    rows = [
        (1, 0.0, "2026-01-01 00:00:01"),
        (1, -0.0, "2026-01-01 00:00:02"),
        (None, 0.0, "2026-01-01 00:00:03"),
        (1, None, "2026-01-01 00:00:04"),
        (1, 0.0, None),
        (2, float("nan"), "2026-01-01 00:00:09"),
    ]
    frame = spark.createDataFrame(rows, "a int, b double, text string").selectExpr(
        "a", "b", "to_timestamp(text) as at"
    )
    side = hg.Side(time="at", window="2 seconds")
    asked: dict[str, Any] = {"on": ["a", "b"], "left": side, "right": side}
    found = hg.profile(frame, frame, **asked)
    assert (found.rows.left.null_keys, found.rows.left.null_times) == (2, 1)
    assert found.skew.left.keys == 2
    assert found.pairs.count == 5
    assert str(found) == str(hg.profile(frame.toArrow(), frame.toArrow(), **asked))


def test_empty_frames_are_profiled_all_the_same(spark: SparkSession) -> None:
    frame = spark.createDataFrame([], "key string, at timestamp")
    side = hg.Side(time="at", window="2 seconds")
    found = hg.profile(frame, frame, on="key", left=side, right=side)
    assert found.pairs.count == 0
    assert found.explains.better is None


def test_streams_are_refused(
    spark: SparkSession, frames: tuple[DataFrame, DataFrame], tmp_path: Path
) -> None:
    stream = spark.readStream.schema(frames[1].schema).parquet(str(tmp_path))
    with pytest.raises(hg.SpecError, match="right side is a stream, which has no end"):
        hg.profile(frames[0], stream, **AUCTIONS)


def test_what_cannot_be_profiled_is_named(
    frames: tuple[DataFrame, DataFrame], tables: tuple[pa.Table, pa.Table]
) -> None:
    with pytest.raises(hg.SpecError, match="right side is a Table and the other a Spark DataFrame"):
        hg.profile(frames[0], tables[1], **AUCTIONS)
    with pytest.raises(hg.SpecError, match='no column "number"'):
        hg.profile(*frames, **{**AUCTIONS, "left_on": "number"})


def test_nothing_stays_cached(spark: SparkSession, frames: tuple[DataFrame, DataFrame]) -> None:
    hg.profile(*frames, **AUCTIONS)
    assert spark.sparkContext._jsc.getPersistentRDDs().size() == 0
