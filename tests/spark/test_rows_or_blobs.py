"""Results are the same, in rows, schema and figures, whether they leave the join as rows or not."""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

import headgate as hg
from headgate.metrics.metric_groups import BY_SHARD
from headgate.spark.join import join_stream
from tests.spark.streams import Collected, collect, read_side, timestamps

pytestmark = pytest.mark.spark

START = 1_767_225_600_000_000
KINDS = {
    "tiny": "tinyint",
    "small": "smallint",
    "whole": "int",
    "real": "float",
    "true": "boolean",
    "text": "string",
    "raw": "binary",
    "money": "decimal(38,10)",
    "day": "date",
    "local": "timestamp_ntz",
    "span": "interval day to second",
}
TIMES = ("read_ms", "join_ms", "write_ms", "busy_ms")


def sides(spark: SparkSession, folder: Path) -> tuple[DataFrame, DataFrame]:
    """Two batches a side, with a column of each type: nulls, and values near its limits."""
    values = {
        "tiny": "-128",
        "small": "-32768",
        "whole": "2147483647",
        "real": "'-Infinity'",
        "true": "false",
        "text": "'é\n'",
        "raw": "'\\0'",
        "money": "12345678901234567890.0123456789",
        "day": "'1582-10-04'",
        "local": "'0001-01-01 00:00:00.000001'",
        "span": "interval '-3 00:00:00.000001' day to second",
    }
    if not (folder / "left").exists():
        for side in ("left", "right"):
            for batch in range(2):
                at = timestamps([START + 1_000_000 * (5 * batch + n) for n in range(5)])
                table = pa.table({"key": [0, 1, 2, 0, None], "at": at})
                columns = [
                    F.expr(f"if(key = 1, null, cast({values[name]} as {kind}))").alias(name)
                    for name, kind in KINDS.items()
                ]
                frame = spark.createDataFrame(table.to_pandas()).coalesce(1)
                frame.select("key", "at", *columns).write.mode("append").parquet(str(folder / side))
    schema = spark.read.parquet(str(folder / "left")).schema
    left, right = (read_side(spark, folder / side, schema, "at") for side in ("left", "right"))
    names = {name: f"{name}_right" for name in right.columns}
    return left, right.withColumnsRenamed(names)


@pytest.mark.parametrize("goal", [hg.MaxSubset(), hg.Sample("cluster")], ids=repr)
def test_rows_and_blobs_bring_the_same(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, goal: hg.Goal
) -> None:
    join = hg.WindowJoin(
        left_on="key",
        right_on="key_right",
        left=hg.Side(time="at", window="20 seconds"),
        right=hg.Side(time="at_right", window="20 seconds"),
        budget=hg.Budget(rows=8),
        goal=goal,
    )

    def ran(name: str) -> tuple[DataFrame, Collected]:
        frame = join.stream(*sides(spark, tmp_path / "in"), shards=2)
        return frame, collect(frame, tmp_path / name)

    as_rows, found = ran("rows")
    monkeypatch.setattr(join_stream, "leave_as_rows", lambda columns: False)
    in_blobs, wanted = ran("blobs")
    assert as_rows.schema == in_blobs.schema
    assert found.rows == wanted.rows
    assert found.rows
    assert list(map(without_times, found.metrics)) == list(map(without_times, wanted.metrics))


def without_times(figures: dict[str, Any]) -> dict[str, Any]:
    """A batch's figures without the milliseconds that it took."""
    kept = {name: value for name, value in figures.items() if name not in TIMES}
    shards = (dict(zip(BY_SHARD, told, strict=True)) for told in figures["by_shard"])
    kept["by_shard"] = [{k: v for k, v in told.items() if k not in TIMES} for told in shards]
    return kept
