"""A checkpoint goes on, whichever of Hadoop's interfaces wrote its files."""

from collections import Counter
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

import headgate as hg
from headgate.spark.checkpoint_writer import CHECKPOINT_WRITER, local_writer
from headgate.spark.session_access import access_to
from tests.spark.needed_spark import needs_classic
from tests.spark.streams import read_side, timestamps, write_side

pytestmark = [pytest.mark.spark, needs_classic("a server is not asked where its files are")]

START = 1_767_225_600_000_000
BATCHES, ROWS = 4, 40


def batch(side: str, number: int) -> pa.Table:
    rng = np.random.default_rng([number, side == "l"])
    at = np.sort(rng.integers(0, 10_000_000, ROWS)) + START + number * 10_000_000
    return pa.table(
        {f"{side}_key": rng.integers(0, 9, ROWS), f"{side}_at": timestamps(at), side: np.arange(40)}
    )


@pytest.fixture
def session(spark: SparkSession) -> SparkSession:
    return spark.newSession()


def test_each_batch_may_be_written_by_another_interface(
    session: SparkSession, tmp_path: Path
) -> None:
    writer = local_writer(access_to(session))
    join = hg.WindowJoin(
        left_on="l_key",
        right_on="r_key",
        left=hg.Side(time="l_at", window="15 seconds"),
        right=hg.Side(time="r_at", window="15 seconds"),
        budget=hg.Budget(rows=60),
        policy="fifo",
    )

    def run(folder: str, *numbers: int) -> None:
        sides = []
        for side in "lr":
            tables = [batch(side, number) for number in numbers]
            place = write_side(tmp_path / folder / side, tables, first=numbers[0])
            schema = f"{side}_key bigint, {side}_at timestamp, {side} bigint"
            sides.append(read_side(session, place, schema, f"{side}_at"))
        writer = join.stream(*sides, shards=2).writeStream.format("parquet")
        places = {"path": tmp_path / folder / "out", "checkpointLocation": tmp_path / folder / "c"}
        query = writer.options(**places).trigger(availableNow=True).start()
        query.awaitTermination()

    def rows(folder: str) -> Counter:
        return Counter(map(tuple, session.read.parquet(str(tmp_path / folder / "out")).collect()))

    for number in range(BATCHES):
        if number % 2:
            session.conf.set(CHECKPOINT_WRITER, writer)
        else:
            session.conf.unset(CHECKPOINT_WRITER)
        run("turns", number)
    run("one", *range(BATCHES))
    assert rows("turns") == rows("one")
    assert rows("one")
