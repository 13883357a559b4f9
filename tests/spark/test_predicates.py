"""Bands and comparisons on Spark: the answer of SQL, with keys or without, on one shard or many."""

import datetime
from collections import Counter
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyspark.errors import StreamingQueryException
from pyspark.sql import SparkSession

import headgate as hg
from headgate.engine.condition import Condition
from headgate.spark.join.band_cells import BandCells
from tests.spark.streams import (
    START_US,
    collect,
    multiset,
    punctual,
    read_side,
    schema_of,
    timestamps,
    write_side,
)
from tests.thoroughness import examples

pytestmark = pytest.mark.spark

TIMES = ("opened_at", "bid_at")
IDS = ("left_id", "right_id")
LATE_US = (20_000_000, 35_000_000)
BATCHES = 3


def make_side(rng: np.random.Generator, side: int, number: int, rows: int = 90) -> pa.Table:
    """Rows of a minute, some of them late; values that tie or are missing."""
    seconds = 60 * number + rng.integers(0, 60, rows)
    seconds -= np.where(rng.random(rows) < 0.2, rng.integers(0, 200, rows), 0)
    measure = rng.integers(-20, 20, rows) / 10
    measure[rng.random(rows) < 0.05] = np.nan
    day = [datetime.date(2026, 1, int(day)) for day in rng.integers(1, 9, rows)]
    return pa.table(
        {
            "key": pa.array(rng.integers(0, 5, rows), mask=rng.random(rows) < 0.05),
            "whole": pa.array(rng.integers(-40, 40, rows), mask=rng.random(rows) < 0.05),
            "measure": pa.array(measure, mask=rng.random(rows) < 0.05),
            "day": pa.array(day, pa.date32()),
            "instant": timestamps(START_US + rng.integers(0, 50, rows) * 100_000),
            TIMES[side]: timestamps(START_US + seconds * 1_000_000),
            IDS[side]: pa.array(1000 * number + np.arange(rows)),
        }
    )


@pytest.fixture(scope="module")
def batches() -> tuple[list[pa.Table], list[pa.Table]]:
    rng = np.random.default_rng(21)
    return tuple([make_side(rng, side, number) for number in range(BATCHES)] for side in (0, 1))


def make_join(**asked: object) -> hg.WindowJoin:
    return hg.WindowJoin(
        **{
            "left": hg.Side(time=TIMES[0], window="40 seconds"),
            "right": hg.Side(time=TIMES[1], window="15 seconds"),
            "budget": hg.Budget(rows=1_000_000),
            **asked,
        }
    )


def in_duckdb(left: pa.Table, right: pa.Table, condition: str) -> Counter:
    with duckdb.connect() as connection:
        connection.execute("SET TimeZone = 'UTC'")
        connection.register("l", left)
        connection.register("r", right)
        return Counter(
            connection.sql(
                f"SELECT left_id, right_id FROM l JOIN r ON ({condition})"
                " AND r.bid_at BETWEEN l.opened_at - INTERVAL 15 SECOND"
                " AND l.opened_at + INTERVAL 40 SECOND"
            ).fetchall()
        )


CASES = {
    "band": ({"where": hg.Band("whole", lower=-1, upper=3)}, "r.whole - l.whole BETWEEN -1 AND 3"),
    "real band": (
        {"where": hg.Band("measure", lower=-0.1, upper=0.3)},
        "r.measure - l.measure BETWEEN -0.1::DOUBLE AND 0.3::DOUBLE",
    ),
    "band of time": (
        {"where": hg.Band("instant", lower="-200 milliseconds", upper=0)},
        "r.instant BETWEEN l.instant - INTERVAL 200 MILLISECOND AND l.instant",
    ),
    "band and key": (
        {"on": "key", "where": hg.Band("day", lower=0, upper=2)},
        "l.key = r.key AND r.day - l.day BETWEEN 0 AND 2",
    ),
    "comparison": ({"where": hg.Compare("whole", ">")}, "l.whole > r.whole"),
    "comparison and key": (
        {"on": "key", "where": hg.Compare("whole", "!=")},
        "l.key = r.key AND l.whole != r.whole",
    ),
}


@pytest.mark.parametrize(
    ("case", "shards"),
    [
        ("band", None),
        ("band", 3),
        ("real band", 4),
        ("band of time", 2),
        ("band and key", None),
        ("comparison", None),
        ("comparison and key", 3),
    ],
)
def test_bounded_inputs_give_what_sql_gives(
    spark: SparkSession, batches: tuple, case: str, shards: int | None
) -> None:
    asked, condition = CASES[case]
    left, right = (pa.concat_tables(side).combine_chunks() for side in batches)
    wanted = in_duckdb(left, right, condition)
    assert wanted.total() > 100
    frames = spark.createDataFrame(left), spark.createDataFrame(right)
    assert multiset(make_join(**asked).batch(*frames, shards=shards).select(*IDS)) == wanted


def test_a_band_has_a_shard_a_core_where_copies_wait_for_nobody(
    spark: SparkSession, batches: tuple
) -> None:
    asked, condition = CASES["band"]
    nobody = hg.Side(time=TIMES[1], window="0 seconds")
    left, right = (pa.concat_tables(side).combine_chunks() for side in batches)
    frames = spark.createDataFrame(left), spark.createDataFrame(right)
    joined = make_join(**asked, right=nobody).batch(*frames)
    assert joined.rdd.getNumPartitions() == spark.sparkContext.defaultParallelism > 1
    assert make_join(**asked).batch(*frames).rdd.getNumPartitions() == 1
    wanted = in_duckdb(left, right, f"{condition} AND r.bid_at >= l.opened_at")
    assert multiset(joined.select(*IDS)) == wanted


@pytest.mark.parametrize(
    ("case", "shards"),
    [
        ("band", 3),
        pytest.param("band and key", None, marks=pytest.mark.long),
        pytest.param("comparison", None, marks=pytest.mark.long),
    ],
)
def test_a_stream_gives_what_sql_gives(
    spark: SparkSession, tmp_path: Path, batches: tuple, case: str, shards: int | None
) -> None:
    asked, condition = CASES[case]
    frames = []
    for side, name in enumerate(("left", "right")):
        folder = write_side(tmp_path / name, batches[side])
        schema = schema_of(spark, batches[side][0], tmp_path / f"{name}_schema")
        delay = f"{LATE_US[side]} microseconds"
        frames.append(read_side(spark, folder, schema, TIMES[side], delay))
    joined = make_join(**asked).stream(*frames, shards=shards, watermark=False)
    got = collect(joined.select(*IDS), tmp_path / "checkpoint")
    kept = punctual(batches, TIMES, LATE_US)
    assert sum(table.num_rows for table in kept) < 2 * 90 * BATCHES - 10, "some must be late"
    assert got.rows == in_duckdb(*kept, condition)
    assert got.rows.total() > 100
    assert got.total("pairs") == got.rows.total()
    assert got.total("shed") + got.total("refused") + got.total("retired") == 0


@pytest.mark.long
def test_a_stream_on_a_band_stays_within_its_budget(
    spark: SparkSession, tmp_path: Path, batches: tuple
) -> None:
    frames = []
    for side, name in enumerate(("left", "right")):
        folder = write_side(tmp_path / name, batches[side])
        schema = schema_of(spark, batches[side][0], tmp_path / f"{name}_schema")
        frames.append(read_side(spark, folder, schema, TIMES[side], "20 seconds"))
    asked, condition = CASES["band"]
    join = make_join(**asked, budget=hg.Budget(rows=24))
    joined = join.stream(*frames, shards=2, watermark=False)
    got = collect(joined.select(*IDS), tmp_path / "checkpoint")
    everything = in_duckdb(*(pa.concat_tables(side) for side in batches), condition)
    assert max(batch["peak_rows"] for batch in got.metrics) <= 24
    assert got.total("shed") > 10
    assert got.rows
    assert not got.rows - everything


@pytest.mark.parametrize(
    ("asked", "shards", "says"),
    [
        ({"where": hg.Compare("whole", "<")}, 2, "shards=2: without keys, .* any two rows may m"),
        ({"where": hg.Band("whole", lower=0)}, 2, "both limits of a Band"),
        ({"where": hg.Compare("list", "<")}, None, 'column "list" of the left side is array<int>'),
        ({"where": hg.Compare("nothing", "<")}, None, 'left side has no column "nothing"'),
        ({"where": hg.Band("instant", lower=1)}, None, "give a duration such as"),
        (
            {
                "where": hg.Band("whole", lower=0, upper=1),
                "left": hg.Side(time="opened_at", window="10 rows"),
            },
            2,
            "a window of the last n rows needs them in one place",
        ),
    ],
)
def test_what_cannot_be_served_is_refused_at_the_call(
    spark: SparkSession, asked: dict, shards: int | None, says: str
) -> None:
    schema = "key bigint, whole int, list array<int>, instant timestamp, {} timestamp, {} bigint"
    frames = [spark.createDataFrame([], schema.format(TIMES[s], IDS[s])) for s in (0, 1)]
    with pytest.raises(hg.SpecError, match=says):
        make_join(**asked).batch(*frames, shards=shards)


@pytest.mark.long
def test_a_checkpoint_is_not_taken_up_with_another_predicate(
    spark: SparkSession, tmp_path: Path, batches: tuple
) -> None:
    frames = []
    for side, name in enumerate(("left", "right")):
        folder = write_side(tmp_path / name, batches[side][:1])
        schema = schema_of(spark, batches[side][0], tmp_path / f"{name}_schema")
        frames.append(read_side(spark, folder, schema, TIMES[side]))
    first = make_join(where=hg.Band("whole", lower=0, upper=1)).stream(*frames)
    collect(first.select(*IDS), tmp_path / "checkpoint")
    for side, name in enumerate(("left", "right")):
        write_side(tmp_path / name, batches[side][1:2], first=1)
    other = make_join(where=hg.Band("whole", lower=0, upper=2)).stream(*frames)
    query = (
        other.writeStream.format("noop")
        .option("checkpointLocation", str(tmp_path / "checkpoint"))
        .trigger(availableNow=True)
        .start()
    )
    changed = r"predicate was Band.*upper=1.* and is now Band.*upper=2"
    with pytest.raises(StreamingQueryException, match=changed):
        query.awaitTermination()


EDGES = (0, 1, -1, 7, 2**62, -(2**62), 2**63 - 1, -(2**63))
LIMITS = (0, 1, 5, 2**61, 2**63 - 1)


def whole_numbers(largest: int) -> st.SearchStrategy[list[int]]:
    return st.lists(st.one_of(st.integers(-30, 30), st.sampled_from(EDGES)), max_size=largest)


@examples(150)
@given(data=st.data())
def test_partners_meet_in_exactly_one_shard(data: st.DataObject) -> None:
    real = data.draw(st.booleans())
    if real:
        tenths = st.integers(-30, 30).map(lambda n: n / 10)
        number = st.one_of(tenths, st.floats(allow_nan=False))
        values = data.draw(st.tuples(*[st.lists(number, max_size=12)] * 2))
        limits = data.draw(st.tuples(tenths, tenths).map(sorted))
    else:
        values = data.draw(st.tuples(whole_numbers(12), whole_numbers(12)))
        ends = st.one_of(st.integers(-9, 9), st.sampled_from(LIMITS), st.just(-(2**62)))
        limits = data.draw(st.tuples(ends, ends).map(sorted))
    kind = pa.float64() if real else pa.int64()
    condition = Condition.of(hg.Band("x", lower=limits[0], upper=limits[1]), (kind, kind))
    spread = BandCells(condition, data.draw(st.integers(2, 5)), data.draw(st.integers(0, 1)))
    homes: list[list[set[int]]] = []
    for side in (0, 1):
        sent = spread.route(pa.chunked_array([pa.array(values[side], kind)]), side)
        copies = list(zip(*(part.tolist() for part in sent), strict=True))
        assert len(set(copies)) == len(copies)
        assert {row for row, _ in copies} == set(range(len(values[side])))
        assert all(0 <= shard < spread.shards for _, shard in copies)
        homes.append([{s for row, s in copies if row == i} for i in range(len(values[side]))])
        assert side == spread.copied or all(len(shards) == 1 for shards in homes[side])
    for i, x in enumerate(values[0]):
        for j, y in enumerate(values[1]):
            if condition.relation.holds(x, y):
                assert len(homes[0][i] & homes[1][j]) == 1
