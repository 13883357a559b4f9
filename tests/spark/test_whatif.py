"""What-ifs on Spark: from DataFrames, and from the checkpoint of Spark's own join."""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

import headgate as hg
from headgate.studies.streams import zipf
from tests.spark.streams import read_side, schema_of, write_side

pytestmark = pytest.mark.spark

STREAMS = zipf(9_000, seconds=180, seed=1, keys=300, exponent=0.8, window=30)
MEMORY = [150, 500, 1500, 2500]
ASKED: dict[str, Any] = {
    "left": hg.Side("lt", "30 seconds"),
    "right": hg.Side("rt", "30 seconds"),
    "left_on": "key",
    "right_on": "rkey",
    "policies": ["fifo", "prob"],
    "memory": MEMORY,
    "optimum": False,
}


@pytest.fixture(scope="module")
def tables() -> tuple[pa.Table, pa.Table]:
    left, right = (
        table.set_column(1, name, table.column(name).cast(pa.timestamp("us", "UTC")))
        for table, name in zip(STREAMS.tables, ("lt", "rt"), strict=True)
    )
    return left, right.rename_columns(["rkey", "rt"])


@pytest.fixture(scope="module")
def folders(
    tables: tuple[pa.Table, pa.Table], tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, Path]:
    base = tmp_path_factory.mktemp("whatif")
    parts = 3
    left, right = (
        write_side(
            base / name,
            [
                table.slice(part * table.num_rows // parts, table.num_rows // parts)
                for part in range(parts)
            ],
        )
        for name, table in zip(("left", "right"), tables, strict=True)
    )
    return left, right


def test_a_checkpoint_of_sparks_own_join_tells_what_its_data_tell(
    spark: SparkSession,
    tables: tuple[pa.Table, pa.Table],
    folders: tuple[Path, Path],
    tmp_path: Path,
) -> None:
    left, right = (
        read_side(spark, folder, schema_of(spark, table, tmp_path / time), time, "1 second")
        for folder, table, time in zip(folders, tables, ("lt", "rt"), strict=True)
    )
    within = "rt BETWEEN lt - INTERVAL 30 SECONDS AND lt + INTERVAL 30 SECONDS"
    query = (
        left.join(right, F.expr(f"key = rkey AND {within}"))
        .writeStream.format("noop")
        .option("checkpointLocation", str(tmp_path / "checkpoint"))
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination()
    told = hg.whatif(checkpoint=tmp_path / "checkpoint", spark=spark, **ASKED)
    exact = hg.whatif(*tables, **ASKED)
    assert told.needs.rows == pytest.approx(exact.needs.rows, rel=0.1)
    off = told.to_pandas().recall - exact.to_pandas().recall
    assert off.abs().max() < 0.05
    assert "What cannot be known" in str(told)


def test_of_frames_only_a_sample_leaves_spark(
    spark: SparkSession, tables: tuple[pa.Table, pa.Table], folders: tuple[Path, Path]
) -> None:
    frames = [spark.read.parquet(str(folder)) for folder in folders]
    told = []
    few = hg.whatif(
        *frames,
        **ASKED,
        most_rows=10_000,
        progress=lambda done, of: told.append((done, of)),
    )
    exact = hg.whatif(*tables, **ASKED)
    assert not few.is_exact
    assert few.looked_at < 25_000
    assert few.rows == exact.rows
    assert few.needs.rows == pytest.approx(exact.needs.rows, rel=0.02)
    off = few.to_pandas().recall - exact.to_pandas().recall
    assert off.abs().max() < 0.05
    assert told[-1] == (8, 8)


def test_what_is_no_checkpoint_of_a_join_is_told(spark: SparkSession, tmp_path: Path) -> None:
    with pytest.raises(hg.SpecError, match="cannot be read as the checkpoint"):
        hg.whatif(checkpoint=tmp_path, spark=spark, **ASKED)
    with pytest.raises(hg.SpecError, match="give the session"):
        hg.whatif(checkpoint=tmp_path, **ASKED)
