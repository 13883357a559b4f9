"""The result of a streaming join delays the watermark only for operators that look at it."""

from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

import headgate as hg
from tests.spark.streams import read_side

pytestmark = pytest.mark.spark

SIDE = {"window": "10 minutes"}
JOIN = hg.WindowJoin(
    on="k",
    left=hg.Side(time="lt", **SIDE),
    right=hg.Side(time="rt", **SIDE),
    budget=hg.Budget(rows=100),
)


@pytest.fixture
def joined(spark: SparkSession, tmp_path: Path) -> DataFrame:
    sides = []
    for time in ("lt", "rt"):
        (tmp_path / time).mkdir()
        sides.append(read_side(spark, tmp_path / time, f"k bigint, {time} timestamp", time))
    return JOIN.stream(*sides)


def delays_the_watermark(frame: DataFrame) -> bool:
    """Whether a query that writes this frame goes through a second join."""
    written = frame.writeStream._df
    return "LeftOuter" in written._jdf.queryExecution().analyzed().toString()


def test_rows_that_are_written_as_they_are_pass_no_second_join(joined: DataFrame) -> None:
    assert not delays_the_watermark(joined)
    shaped = (
        joined.where("k > 3")
        .withColumn("twice", F.col("k") * 2)
        .select("twice", "lt")
        .withColumnRenamed("lt", "opened")
    )
    assert not delays_the_watermark(shaped)
    assert shaped.writeStream._df.columns == shaped.columns == ["twice", "opened"]


def test_operators_that_look_at_the_watermark_get_it_delayed(joined: DataFrame) -> None:
    by_minute = F.window("lt", "1 minute")
    assert delays_the_watermark(joined.groupBy(by_minute).count())
    assert delays_the_watermark(joined.where("k > 3").groupBy(by_minute).count())
    assert delays_the_watermark(joined.dropDuplicatesWithinWatermark(["k"]))


def test_a_column_of_the_very_frame_can_be_used(joined: DataFrame) -> None:
    chosen = joined.select(joined["k"], "lt")
    assert chosen.columns == ["k", "lt"]
    assert delays_the_watermark(chosen)


def test_without_a_watermark_nothing_is_delayed(spark: SparkSession, tmp_path: Path) -> None:
    sides = []
    for time in ("lt", "rt"):
        (tmp_path / time).mkdir()
        sides.append(read_side(spark, tmp_path / time, f"k bigint, {time} timestamp", time))
    plain = JOIN.stream(*sides, watermark=False)
    assert not delays_the_watermark(plain.groupBy(F.window("lt", "1 minute")).count())


@pytest.mark.parametrize("trigger", [{"realTime": "5 minutes"}, {"continuous": "1 second"}])
def test_triggers_without_batches_are_refused_at_the_call(
    joined: DataFrame, tmp_path: Path, trigger: dict[str, str]
) -> None:
    (name,) = trigger
    lookup = hg.CachedLookup(
        table=hg.ArrowTable(pa.table({"k": [1]})), on="k", budget=hg.Budget(rows=9), policy="lru"
    )
    stream = read_side(joined.sparkSession, tmp_path / "lt", "k bigint, lt timestamp", "lt")
    looked_up = lookup.stream(stream)
    for frame in (joined, joined.where("k > 3").select("k"), looked_up, looked_up.select("k")):
        with pytest.raises(hg.SpecError, match=rf"trigger\({name}=.*no batches.*processingTime="):
            frame.writeStream.format("noop").outputMode("append").trigger(**trigger)
    usual = joined.writeStream.format("noop").trigger(processingTime="1 second")
    assert usual.outputMode("append") is usual
