"""With memory to spare, a join returns what SQL engines return: row for row, as often."""

import itertools
from collections import Counter
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

import headgate as hg
from tests.spark.exact_inputs import DELAYS, DELAYS_US, KEY_VALUES, TIMES, make_batches
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
from tests.thoroughness import LONG, usually

pytestmark = pytest.mark.spark

AMPLE = hg.Budget(rows=1_000_000)


def make_join(on: tuple[str, ...], windows: tuple[str, str], **more: object) -> hg.WindowJoin:
    return hg.WindowJoin(
        on=on,
        left=hg.Side(time=TIMES[0], window=windows[0]),
        right=hg.Side(time=TIMES[1], window=windows[1]),
        **{"budget": AMPLE, **more},
    )


def in_duckdb(
    left: pa.Table, right: pa.Table, on: tuple[str, ...], windows: tuple[str, str]
) -> Counter:
    keys = " AND ".join(f"l.{name} = r.{name}" for name in on)
    others = ", ".join(f"r.{name}" for name in result_names(right, on))
    with duckdb.connect() as connection:
        connection.register("l", left)
        connection.register("r", right)
        return multiset(
            connection.sql(
                f"SELECT l.*, {others} FROM l JOIN r ON {keys}"
                f" AND r.bid_at <= l.opened_at + INTERVAL '{windows[0]}'"
                f" AND r.bid_at >= l.opened_at - INTERVAL '{windows[1]}'"
            ).to_arrow_table()
        )


def in_spark(
    left: DataFrame, right: DataFrame, on: tuple[str, ...], windows: tuple[str, str]
) -> DataFrame:
    """Spark's own join, batch or stream, with the columns of Headgate's."""
    condition = F.expr(f"r.bid_at <= l.opened_at + INTERVAL {windows[0]}") & F.expr(
        f"r.bid_at >= l.opened_at - INTERVAL {windows[1]}"
    )
    for name in on:
        condition = condition & (F.col(f"l.{name}") == F.col(f"r.{name}"))
    others = [F.col(f"r.{name}").alias(shown) for name, shown in renamed(right.columns, on)]
    return left.alias("l").join(right.alias("r"), condition).select("l.*", *others)


def result_names(right: pa.Table, on: tuple[str, ...]) -> list[str]:
    return [name for name, _ in renamed(right.column_names, on)]


def renamed(names: list[str], on: tuple[str, ...]) -> list[tuple[str, str]]:
    return [
        (name, name if name in ("bid_at", "right_id") else f"{name}_right")
        for name in names
        if name not in on
    ]


STREAMS = {
    "an integer key": (("key",), ("40 seconds", "15 seconds"), 3),
    "text, date and decimal keys": (("text", "day", "price"), ("0 seconds", "25 seconds"), None),
    "other keys": (
        ("instant", "measure", "flag", "bytes", "place"),
        ("3 minutes", "45 seconds"),
        2,
    ),
    "no windows": (("integer",), ("0 seconds", "0 seconds"), 1),
}


@pytest.mark.usefixtures("batches_without_rows")
@pytest.mark.parametrize("case", usually(("an integer key",), STREAMS))
def test_a_stream_gives_what_sparks_own_join_gives(
    spark: SparkSession, tmp_path: Path, case: str
) -> None:
    on, windows, shards = STREAMS[case]
    batches = make_batches(seed=16)
    frames = []
    for side, name in enumerate(("left", "right")):
        folder = write_side(tmp_path / name, batches[side])
        schema = schema_of(spark, batches[side][0], tmp_path / f"{name}_schema")
        frames.append(read_side(spark, folder, schema, TIMES[side], DELAYS[side]))
    left, right = frames

    # One of them also hands its times on to operators after it.
    joined = make_join(on, windows).stream(
        left, right, shards=shards, watermark=case == "an integer key"
    )
    got = collect(joined, tmp_path / "a")
    kept = punctual(batches, TIMES, DELAYS_US)
    assert got.rows.total() > 20
    assert got.rows == in_duckdb(*kept, on, windows)
    if case == "an integer key" or LONG:
        theirs = collect(in_spark(left, right, on, windows), tmp_path / "b")
        assert got.rows == theirs.rows

    rows = [sum(table.num_rows for table in side) for side in batches]
    nulls = sum(table.column(TIMES[side]).null_count for side in (0, 1) for table in batches[side])
    late = sum(rows) - kept[0].num_rows - kept[1].num_rows - nulls
    assert late > 10
    assert (got.total("left_rows"), got.total("right_rows")) == tuple(rows)
    assert (got.total("late"), got.total("null_times")) == (late, nulls)
    assert got.total("pairs") == got.rows.total()
    assert got.total("null_keys") == sum(null_keys(table, on) for table in kept)
    assert got.total("shed") + got.total("refused") + got.total("retired") == 0


def null_keys(table: pa.Table, on: tuple[str, ...]) -> int:
    empty = np.zeros(table.num_rows, bool)
    for name in on:
        empty |= table.column(name).is_null().to_numpy()
    return int(empty.sum())


@pytest.mark.long
def test_a_stream_with_an_empty_side_gives_nothing_until_rows_come(
    spark: SparkSession, tmp_path: Path
) -> None:
    lefts, rights = make_batches(seed=12)
    rights = [rights[0].slice(0, 0), rights[1].slice(0, 0), *rights[:2]]
    folders = write_side(tmp_path / "l", lefts[:2]), write_side(tmp_path / "r", rights)
    left, right = (
        read_side(spark, folders[side], schema_of(spark, table, tmp_path / "s"), TIMES[side])
        for side, table in enumerate((lefts[0], rights[0]))
    )
    on, windows = ("integer",), ("1 minute", "1 minute")
    joined = make_join(on, windows).stream(left, right, watermark=False)
    got = collect(joined, tmp_path / "checkpoint")
    assert [batch["pairs"] for batch in got.metrics[:2]] == [0, 0]
    assert got.rows.total() > 20
    assert got.rows == in_duckdb(*punctual((lefts[:2], rights), TIMES, (0, 0)), on, windows)


@pytest.mark.parametrize("name", KEY_VALUES)
def test_bounded_inputs_give_what_sql_gives_for_every_type_of_key(
    spark: SparkSession, name: str
) -> None:
    on, windows = (name,), ("40 seconds", "15 seconds")
    left, right = (pa.concat_tables(side[:3]).combine_chunks() for side in make_batches(seed=13))
    join = make_join(on, windows)
    wanted = in_duckdb(left, right, on, windows)
    assert wanted.total() > 100
    outcome = join.run(left, right)
    assert multiset(outcome.pairs) == wanted
    assert outcome.recall == 1.0
    frames = spark.createDataFrame(left), spark.createDataFrame(right)
    assert multiset(join.batch(*frames, shards=3)) == wanted
    assert multiset(in_spark(*frames, on, windows)) == wanted


@pytest.mark.parametrize("empty", ["left", "right", "both"])
def test_a_bounded_join_with_an_empty_side_gives_nothing(spark: SparkSession, empty: str) -> None:
    left, right = (side[0] for side in make_batches(seed=14))
    schemas = [spark.createDataFrame(side).schema for side in (left, right)]
    left = left.slice(0, 0) if empty in ("left", "both") else left
    right = right.slice(0, 0) if empty in ("right", "both") else right
    join = make_join(("text", "integer"), ("1 minute", "1 minute"))
    assert join.run(left, right).pairs.num_rows == 0
    frames = [
        spark.createDataFrame(side, schema)
        for side, schema in zip((left, right), schemas, strict=True)
    ]
    assert join.batch(*frames).count() == 0


ROW_WINDOWS = """
WITH l AS (SELECT *, row_number() OVER (ORDER BY opened_at, place) AS n FROM lefts
           WHERE opened_at IS NOT NULL),
     r AS (SELECT *, row_number() OVER (ORDER BY bid_at, place) AS n FROM rights
           WHERE bid_at IS NOT NULL)
SELECT l.left_id, r.right_id FROM l JOIN r ON l.key = r.key AND (
    (l.opened_at <= r.bid_at
     AND (SELECT count(*) FROM l AS x WHERE x.opened_at <= r.bid_at) - l.n < {left})
    OR (l.opened_at > r.bid_at
        AND (SELECT count(*) FROM r AS y WHERE y.bid_at < l.opened_at) - r.n < {right}))
"""
"""A stored row meets an arrival while it is among the last of its side; left goes first in ties."""


def test_row_windows_follow_row_numbers(spark: SparkSession, tmp_path: Path) -> None:
    rng = np.random.default_rng(15)
    sides, files = [], []
    for side, count in enumerate((300, 260)):
        seconds = np.sort(rng.integers(0, 300, count))
        table = pa.table(
            {
                "key": pa.array(rng.integers(0, 6, count), mask=rng.random(count) < 0.05),
                TIMES[side]: timestamps(START_US + seconds * 1_000_000),
                ("left_id", "right_id")[side]: pa.array(np.arange(count)),
            }
        )
        sides.append(table)
        cuts = np.searchsorted(seconds, [0, 80, 150, 151, 301])
        files.append([table.slice(a, b - a) for a, b in itertools.pairwise(cuts)])
    with duckdb.connect() as connection:
        for name, table in zip(("lefts", "rights"), sides, strict=True):
            places = pa.array(np.arange(table.num_rows))
            connection.register(name, table.append_column("place", places))
        wanted = Counter(connection.sql(ROW_WINDOWS.format(left=25, right=10)).fetchall())
    assert wanted.total() > 500
    join = make_join(("key",), ("25 rows", "10 rows"))
    ids = ["left_id", "right_id"]
    assert multiset(join.run(*sides).pairs.select(ids)) == wanted
    frames = [spark.createDataFrame(side).coalesce(1) for side in sides]
    assert multiset(join.batch(*frames).select(ids)) == wanted
    streams = [
        read_side(
            spark,
            write_side(tmp_path / TIMES[side], files[side]),
            frames[side].schema,
            TIMES[side],
        )
        for side in (0, 1)
    ]
    assert collect(join.stream(*streams).select(ids), tmp_path / "checkpoint").rows == wanted
