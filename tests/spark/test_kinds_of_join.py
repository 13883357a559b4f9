"""Outer, semi and anti joins on Spark, against Spark's own and DuckDB's."""

from collections import Counter
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

import headgate as hg
from headgate.engine.limits import SLOTS_A_ROW
from headgate.spec import SpecError
from tests.kinds_of_join import KINDS
from tests.spark.one_shard import OneShard
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
from tests.thoroughness import usually

pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("batches_without_rows")]

SECOND_US = 1_000_000
DELAY_US = 20 * SECOND_US
TIMES = ("lt", "rt")
BETWEEN = "rt >= lt - INTERVAL 30 SECONDS AND rt <= lt + INTERVAL 40 SECONDS"
SPARKS = {"left": "leftouter", "right": "rightouter", "full": "fullouter", "semi": "leftsemi"}


def rows_of(rng: np.random.Generator, side: int, count: int, first_s: int, late: float) -> pa.Table:
    """A minute of rows: ties, nulls in key and time, some out of order, some too late."""
    behind = np.where(rng.random(count) < late, rng.integers(0, 100, count), 0)
    seconds = first_s + rng.integers(0, 60, count) - behind
    key, time, number = (("k", "lt", "lid"), ("rk", "rt", "rid"))[side]
    return pa.table(
        {
            key: pa.array(rng.integers(0, 25, count), mask=rng.random(count) < 0.08),
            time: timestamps(START_US + seconds * SECOND_US, rng.random(count) < 0.04),
            number: pa.array(rng.integers(0, 1 << 40, count)),
        }
    )


def made_batches(seed: int, late: float = 0.3) -> tuple[list[pa.Table], list[pa.Table]]:
    """Micro-batches, one side of some of them empty; the last moves the watermark far on."""
    rng = np.random.default_rng(seed)
    sizes = ((50, 0, 60, 40), (60, 50, 0, 40))
    left, right = (
        [
            rows_of(rng, side, count, 120 + 60 * number, late)
            for number, count in enumerate(sizes[side])
        ]
        + [rows_of(rng, side, 1, 5000 + 1000 * side, 0.0)]
        for side in (0, 1)
    )
    return left, right


def make_join(how: str, **more: object) -> hg.WindowJoin:
    return hg.WindowJoin(
        left_on="k",
        right_on="rk",
        left=hg.Side("lt", "40 seconds"),
        right=hg.Side("rt", "30 seconds"),
        how=how,
        **{"budget": hg.Budget(rows=100_000), "policy": "fifo", **more},
    )


def sources(
    spark: SparkSession, tmp_path: Path, batches: tuple[list[pa.Table], list[pa.Table]]
) -> tuple[DataFrame, DataFrame]:
    left, right = (
        read_side(
            spark,
            write_side(tmp_path / name, own) if not (tmp_path / name).exists() else tmp_path / name,
            schema_of(spark, own[0], tmp_path / "schemas" / name),
            time,
            "20 seconds",
        )
        for name, own, time in zip(("left", "right"), batches, TIMES, strict=True)
    )
    return left, right


def in_spark(left: DataFrame, right: DataFrame, how: str) -> DataFrame:
    return left.join(right, F.expr(f"k = rk AND {BETWEEN}"), SPARKS[how])


def in_duckdb(left: pa.Table, right: pa.Table, how: str) -> Counter:
    database = duckdb.connect()
    database.register("l", left)
    database.register("r", right)
    on = f"k = rk AND {BETWEEN}"
    if how in ("left", "right", "full"):
        found = database.sql(f"FROM l {how} JOIN r ON {on}")
    else:
        no = "NOT " if how == "anti" else ""
        found = database.sql(f"FROM l WHERE {no}EXISTS (FROM r WHERE {on})")
    return multiset(found.to_arrow_table())


@pytest.mark.parametrize("how", usually(("full",), SPARKS))
def test_a_stream_puts_out_what_sparks_own_does(
    spark: SparkSession, tmp_path: Path, how: str
) -> None:
    batches = made_batches(seed=7)
    if how == "full":
        # On streams Spark's full outer join takes null for equal to null.
        batches = tuple(
            [table.filter(table.column(0).is_valid()) for table in side] for side in batches
        )
    ours = make_join(how).stream(*sources(spark, tmp_path, batches), shards=2, watermark=False)
    theirs = in_spark(*sources(spark, tmp_path, batches), how)
    assert [(f.name, f.dataType, f.nullable) for f in ours.schema] == [
        (f.name, f.dataType, f.nullable) for f in theirs.schema
    ]
    mine, other = collect(ours, tmp_path / "ours"), collect(theirs, tmp_path / "theirs", "none")
    assert mine.rows == other.rows
    assert mine.rows.total() == mine.total("pairs")
    assert mine.total("undecided") == 0
    assert mine.metrics[-1]["total_recall"] == 1.0
    if how != "semi":
        assert mine.total("unmatched") > 50


@pytest.mark.parametrize("how", KINDS)
def test_a_batch_is_sparks_own_join(spark: SparkSession, how: str) -> None:
    left, right = (pa.concat_tables(side) for side in made_batches(seed=8))
    frames = spark.createDataFrame(left), spark.createDataFrame(right)
    ours = make_join(how).batch(*frames, shards=2)
    theirs = frames[0].join(
        frames[1], F.expr(f"k = rk AND {BETWEEN}"), {**SPARKS, "anti": "leftanti"}[how]
    )
    assert [(f.name, f.dataType) for f in ours.schema] == [
        (f.name, f.dataType) for f in theirs.schema
    ]
    assert multiset(ours) == multiset(theirs)


def driven(
    join: hg.WindowJoin, batches: tuple[list[pa.Table], list[pa.Table]], name: str
) -> tuple[Counter, dict[str, int]]:
    """A shard driven batch by batch, with the watermarks Spark would give it; what it put out."""
    schemas = (batches[0][0].schema, batches[1][0].schema)
    shard = OneShard(join, schemas, name)
    rows, figures, latest = Counter(), Counter(), [0, 0]
    watermark = before = 0
    for number in range(len(batches[0]) + 2):
        came = [side[number] if number < len(side) else side[0].slice(0, 0) for side in batches]
        done = shard.batch(*came, watermark_ms=watermark if watermark > before else None)
        before = watermark
        rows += multiset(done.pairs)
        figures.update({name: done.metrics[name] for name in ("pairs", "unmatched", "undecided")})
        for side, table in enumerate(came):
            if table.num_rows:
                newest = pa.compute.max(table.column(TIMES[side]).cast(pa.int64())).as_py()
                latest[side] = max(latest[side], newest - DELAY_US)
        watermark = max(watermark, min(latest) // 1000)
    return rows, figures


def cut(table: pa.Table, places: list[int]) -> list[pa.Table]:
    return [
        table.slice(first, end - first)
        for first, end in zip([0, *places], [*places, table.num_rows], strict=True)
    ]


@pytest.mark.parametrize("how", KINDS)
def test_a_shard_says_the_same_wherever_its_input_is_cut(how: str) -> None:
    """With ample memory DuckDB's answer to the rows that are not late, in many batches or few."""
    batches = made_batches(seed=9)
    finely = tuple([part for table in side for part in cut(table, [5, 20, 30])] for side in batches)
    for place, given in enumerate((batches, finely)):
        rows, figures = driven(make_join(how), given, f"cut-{how}-{place}")
        timely = punctual(given, TIMES, (DELAY_US, DELAY_US))
        # The last row of each side has not been decided yet.
        last = multiset(timely[0].slice(timely[0].num_rows - 1)) if how == "anti" else Counter()
        exact = in_duckdb(*timely, how) - last
        wanted = Counter({row: n for row, n in exact.items() if not is_last(row, batches)})
        assert Counter({row: n for row, n in rows.items() if not is_last(row, batches)}) == wanted
        assert figures["undecided"] == 0


@pytest.mark.parametrize("how", KINDS)
def test_while_a_side_is_silent_no_row_is_called_unmatched(how: str) -> None:
    """The watermark waits for the silent side; once it speaks, the answer is DuckDB's."""
    left, right = made_batches(seed=13, late=0.0)
    silent = right[0].slice(0, 0)
    schemas = (left[0].schema, right[0].schema)
    shard, early, rows = OneShard(make_join(how), schemas, f"silent-{how}"), Counter(), Counter()
    for came in left[:-1]:
        early += multiset(shard.batch(came, silent).pairs)
    null_keys = sum(table.column("k").null_count for table in left[:-1])
    untimed = sum(
        pa.compute.and_(table.column("k").is_null(), table.column("lt").is_null())
        .to_pylist()
        .count(True)
        for table in left[:-1]
    )
    assert early.total() == (null_keys - untimed if how in ("left", "full", "anti") else 0)
    rows += early
    for came in right[:-1]:
        rows += multiset(shard.batch(left[0].slice(0, 0), came).pairs)
    end_ms = (START_US + 10_000 * SECOND_US) // 1000
    rows += multiset(shard.batch(watermark_ms=end_ms).pairs)
    timely = [
        pa.concat_tables(side[:-1]).filter(pa.compute.field(time).is_valid())
        for side, time in zip((left, right), TIMES, strict=True)
    ]
    assert rows == in_duckdb(*timely, how)


@pytest.mark.parametrize(
    ("how", "side", "wait_s"), [("left", 0, 40), ("full", 1, 30), ("anti", 0, 40)]
)
def test_a_row_comes_out_once_the_watermark_is_past_its_window(
    how: str, side: int, wait_s: int
) -> None:
    """Not when it is at the end of the window to the millisecond: Spark's own join waits, too."""
    rows = [rows_of(np.random.default_rng(1), each, 1, 100, 0.0) for each in (0, 1)]
    came = [rows[each] if each == side else rows[each].slice(0, 0) for each in (0, 1)]
    at_us = came[side].column(TIMES[side]).cast(pa.int64())[0].as_py()
    end_ms = at_us // 1000 + wait_s * 1000
    shard = OneShard(make_join(how), (rows[0].schema, rows[1].schema), f"tie-{how}")
    shard.batch(*came)
    for watermark_ms, wanted in ((end_ms - 1, 0), (end_ms, 0), (None, 0), (end_ms + 1, 1)):
        assert shard.batch(watermark_ms=watermark_ms).pairs.num_rows == wanted


def is_last(row: tuple, batches: tuple[list[pa.Table], list[pa.Table]]) -> bool:
    """Whether a result row has one of the two rows that only move the watermark."""
    ends = {side[-1].column(2)[0].as_py() for side in batches}
    return bool(ends & set(row))


@pytest.mark.parametrize("how", ["left", "full", "anti"])
def test_under_pressure_certain_rows_are_right_and_the_others_marked(how: str) -> None:
    batches = made_batches(seed=10)
    timely = punctual(batches, TIMES, (DELAY_US, DELAY_US))
    exact = in_duckdb(*timely, how)
    for rows in (8, 60):
        budget = {"budget": hg.Budget(rows=rows), "policy": "random"}
        sure, figures = driven(make_join(how, **budget), batches, f"tight-{how}-{rows}")
        assert not sure - exact
        assert figures["undecided"] > 0
        every, again = driven(
            make_join(how, unmatched="all", **budget), batches, f"all-{how}-{rows}"
        )
        certain = Counter({row[:-1]: n for row, n in every.items() if row[-1]})
        assert not certain - exact
        if how != "anti":  # doubtful rows of an anti join are stored only where they can come out
            assert (again, certain) == (figures, sure)
        assert sum(n for row, n in every.items() if not row[-1]) == again["undecided"]


@pytest.mark.parametrize("policy", ["random", "auto"])
def test_a_budget_that_changes_has_the_filters_in_it(policy: str) -> None:
    """As when memory moves between shards while a query runs."""
    left, right = made_batches(seed=14)
    schemas = (left[0].schema, right[0].schema)
    for how, filters in (("left", 1), ("full", 2), ("anti", 1)):
        join = make_join(how, budget=hg.Budget(rows=1000), policy=policy)
        plan = OneShard(join, schemas, f"changed-{how}-{policy}", shared=True).plan
        slots = plan.terms.filter_slots
        assert slots > 100
        for amount in (1000, 1400):
            now = plan.within(amount)
            watched = now.room.rows if policy == "auto" else 0
            taken = now.terms.most_rows[0] + watched + filters * slots // SLOTS_A_ROW
            assert taken == amount


@pytest.mark.long
def test_a_restart_goes_on_with_what_was_known(spark: SparkSession, tmp_path: Path) -> None:
    """Who has met a partner is not forgotten; and one that lets rows go sooner is refused."""
    batches = made_batches(seed=11, late=0.0)

    def go_on(how: str) -> None:
        frames = sources(spark, tmp_path, batches)
        (
            make_join(how)
            .stream(*frames, shards=2, watermark=False)
            .writeStream.format("parquet")
            .option("path", str(tmp_path / "out"))
            .option("checkpointLocation", str(tmp_path / "checkpoint"))
            .trigger(availableNow=True)
            .start()
            .awaitTermination()
        )

    for part in (slice(0, 2), slice(2, None)):
        for name, own in zip(("left", "right"), batches, strict=True):
            write_side(tmp_path / name, own[part], part.start)
        go_on("full")
    rows = multiset(spark.read.parquet(str(tmp_path / "out")))
    exact = in_duckdb(*punctual(batches, TIMES, (DELAY_US, DELAY_US)), "full")
    assert rows == Counter({row: n for row, n in exact.items() if not is_last(row, batches)})
    for name, own in zip(("left", "right"), batches, strict=True):
        write_side(tmp_path / name, own[-1:], first=9)
    with pytest.raises(Exception, match="how was full and is now semi"):
        go_on("semi")


def test_bands_without_keys_stay_in_one_shard(spark: SparkSession) -> None:
    """Rows near a border go to two shards, and neither knows of both."""
    left, right = (spark.createDataFrame(side[0]) for side in made_batches(seed=12))
    join = hg.WindowJoin(
        where=hg.Band(left="lid", right="rid", lower=0, upper=1 << 38),
        left=hg.Side("lt", "40 seconds"),
        right=hg.Side("rt", "30 seconds"),
        budget=hg.Budget(rows=1000),
        how="right",
    )
    with pytest.raises(SpecError, match="use one shard"):
        join.batch(left, right, shards=2)
    on = F.expr(f"rid - lid BETWEEN 0 AND {1 << 38} AND {BETWEEN}")
    assert multiset(join.batch(left, right)) == multiset(left.join(right, on, "right"))


@pytest.mark.parametrize("how", usually(("semi",), ("semi", "anti")))
def test_right_columns_that_do_not_come_out_are_neither_read_nor_stored(
    spark: SparkSession, tmp_path: Path, how: str
) -> None:
    left, right = made_batches(seed=11)
    # Names that Spark could take for a field of another, or for another in upper case.
    wide = [
        table.append_column("rt.note", pa.array(["x" * 2000] * table.num_rows)).append_column(
            "RT", table.column("rid")
        )
        for table in right
    ]
    spark.conf.set("spark.sql.caseSensitive", "true")
    try:
        sides = sources(spark, tmp_path, (left, wide))
        memory = hg.Budget(memory=200_000)
        ours = make_join(how, budget=memory).stream(*sides, shards=2, watermark=False)
        found = collect(ours, tmp_path / "ours")
    finally:
        spark.conf.unset("spark.sql.caseSensitive")
    kept = punctual((left, right), TIMES, (DELAY_US, DELAY_US))
    exact = in_duckdb(*kept, how)
    # No watermark passes the row that moves it, so it is not known to be unmatched.
    assert found.rows == Counter(
        {row: count for row, count in exact.items() if not is_last(row, (left, right))}
    )
    assert found.total("stored_rows") > 100
    assert max(each["held_bytes"] for each in found.metrics) < 40_000
