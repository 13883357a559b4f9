"""Samples on Spark: the same as in process, kept in state, and aggregated with intervals."""

import uuid
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyspark.errors import StreamingQueryException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

import headgate as hg
from headgate.studies.sampled.schemes import SCHEMES, ZIPF, sampled
from headgate.studies.streams import START_US
from tests.spark.one_shard import OneShard
from tests.spark.streams import multiset, read_side, write_side

pytestmark = pytest.mark.spark

OWN = sampled(ZIPF)
BATCHES = 4


def request(scheme: str, goal: hg.Sample | None = None, rows: int = 60) -> hg.WindowJoin:
    uniform = scheme == "UNIFORM"
    model = {} if scheme == "EQ-CLUSTER" else {"frequencies": OWN.frequencies, "rates": OWN.rates}
    goal = goal or hg.Sample("uniform" if uniform else "cluster")
    return OWN.streams.request("auto", hg.Budget(rows=rows), goal=goal, seed=3, **model)


def in_batches(table: pa.Table) -> list[pa.Table]:
    time = table.column(1).cast("int64").to_numpy() - START_US
    cuts = np.searchsorted(time, np.arange(BATCHES + 1) * 60_000_000 // BATCHES)
    return [table.slice(first, end - first) for first, end in pairwise(cuts)]


def ids(pairs: pa.Table) -> list[tuple[int, int]]:
    return sorted(zip(*(pairs.column(name).to_pylist() for name in ("lid", "rid")), strict=True))


@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_shard_draws_the_same_sample_as_in_process(scheme: str) -> None:
    join = request(scheme)
    tables = OWN.streams.tables
    shard = OneShard(join, (tables[0].schema, tables[1].schema), uuid.uuid4().hex)
    got = [
        shard.batch(left, right).pairs
        for left, right in zip(*(in_batches(table) for table in tables), strict=True)
    ]
    wanted = join.run(*tables).pairs
    keys = [("lid", "ascending"), ("rid", "ascending")]
    assert pa.concat_tables(got).sort_by(keys).equals(wanted.sort_by(keys))


@pytest.mark.parametrize("scheme", SCHEMES)
def test_shards_draw_by_coins_of_their_own(scheme: str) -> None:
    left, right = OWN.streams.tables
    drawn = [
        ids(
            OneShard(request(scheme), (left.schema, right.schema), uuid.uuid4().hex, place=place)
            .batch(left, right)
            .pairs
        )
        for place in (0, 1)
    ]
    assert min(map(len, drawn)) > 0
    assert drawn[0] != drawn[1]


@pytest.fixture(scope="module")
def frames(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> list[DataFrame]:
    folder = tmp_path_factory.mktemp("sampled")
    frames = []
    for table, names in zip(
        OWN.streams.tables, (("lt", "lid", "x"), ("rt", "rid", "y")), strict=True
    ):
        table = table.set_column(1, names[0], table.column(1).cast(pa.timestamp("us", "UTC")))
        place = write_side(folder / names[0], in_batches(table))
        schema = f"key long, {names[0]} timestamp, {names[1]} long, {names[2]} double"
        frames.append(read_side(spark, place, schema, names[0]))
    return frames


def collected(frame: DataFrame, place: Path) -> list[dict]:
    query = (
        frame.writeStream.format("memory")
        .queryName(f"q{uuid.uuid4().hex[:8]}")
        .option("checkpointLocation", str(place))
        .trigger(availableNow=True)
        .start()
    )
    try:
        query.awaitTermination()
        session = frame.sparkSession
        return [row.asDict() for row in session.table(query.name).collect()]
    finally:
        query.stop()


def test_a_stream_is_sampled_in_every_shard_by_its_own_numbers(
    spark: SparkSession, frames: list[DataFrame], tmp_path: Path
) -> None:
    sample = request("EQ-CLUSTER").stream(*frames, shards=2, watermark=False)
    rows = collected(sample.select("lid", "rid", "weight", "cluster"), tmp_path)
    exact = {
        (a, b)
        for a, b in zip(*(OWN.exact.column(n).to_pylist() for n in ("lid", "rid")), strict=True)
    }
    assert {(row["lid"], row["rid"]) for row in rows} < exact
    assert len({row["cluster"] & ((1 << 20) - 1) for row in rows}) == 2
    estimated = hg.estimate.count(pa.Table.from_pylist(rows))
    assert estimated.low <= len(exact) <= estimated.high


@pytest.mark.long
def test_a_windowed_average_over_a_sampled_stream_has_an_interval(
    frames: list[DataFrame], tmp_path: Path
) -> None:
    sample = request("PPS-CLUSTER").stream(*frames, shards=1)
    windowed = sample.withColumn("window", F.window("rt", "20 seconds"))
    averages = hg.estimate.avg(windowed, "x", by="window")
    got = {row["window"]["start"].second: row for row in collected(averages, tmp_path)}
    pairs = request("PPS-CLUSTER").run(*OWN.streams.tables).pairs
    second = (pairs.column("rt").cast("int64").to_numpy() - START_US) // 20_000_000 * 20
    wanted = hg.estimate.avg(pairs.append_column("start", pa.array(second)), "x", by="start")
    rows = {row["start"]: row for row in wanted.to_pylist()}
    assert set(got) <= set(rows)
    assert len(got) >= 2, "the last window stays open"
    for start, row in got.items():
        for name in ("estimate", "standard_error", "low", "high", "rows", "clusters"):
            assert row[name] == pytest.approx(rows[start][name])


@pytest.mark.long
def test_a_contract_on_a_stream(frames: list[DataFrame], tmp_path: Path) -> None:
    goal = hg.Sample("cluster", error=1e-6, otherwise="fail")
    sample = request("EQ-CLUSTER", goal).stream(*frames, shards=1)
    windowed = sample.withColumn("window", F.window("rt", "20 seconds"))
    strict = hg.estimate.sum(windowed, "x", by="window", goal=goal)
    with pytest.raises(StreamingQueryException, match="only sure to"):
        collected(strict, tmp_path)
    with pytest.raises(hg.SpecError, match="never ends: group by a time window"):
        hg.estimate.sum(sample, "x")


def test_bounded_frames_are_sampled_and_estimated(spark: SparkSession) -> None:
    tables = [
        table.set_column(1, name, table.column(1).cast(pa.timestamp("us", "UTC")))
        for table, name in zip(OWN.streams.tables, ("lt", "rt"), strict=True)
    ]
    sample = request("UNIFORM").batch(*(spark.createDataFrame(t) for t in tables), shards=1)
    wanted = request("UNIFORM").run(*OWN.streams.tables).pairs
    ids = multiset(sample.select("lid", "rid"))
    assert sorted(ids) == sorted(
        zip(*(wanted.column(n).to_pylist() for n in ("lid", "rid")), strict=True)
    )
    row = hg.estimate.avg(sample, "y").collect()[0]
    assert row["estimate"] == pytest.approx(hg.estimate.avg(wanted, "y").estimate)
    assert row["low"] == pytest.approx(hg.estimate.avg(wanted, "y").low)
    marked, wider = (
        hg.estimate.avg(sample, "y", goal=hg.Sample("uniform", error=1e-6, otherwise=otherwise))
        for otherwise in ("mark", "widen")
    )
    row = marked.collect()[0]
    assert (row["within"], row["error"]) == (False, 1e-6)
    row = wider.collect()[0]
    assert row["within"]
    assert row["error"] > 1e-3
