"""With memory to spare, outer, semi and anti joins return what Spark's own and DuckDB's do.

The inputs are those of inner joins: every type of key, nulls, ties, rows out of order, late and
doubled, empty and silent sides, empty and unequal windows, bands. A stream puts out as many rows in
each batch as Spark's own, but for rows with a null in their key or in the column of a band: these
come out at once, where Spark waits for the watermark.
"""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import duckdb
import pyarrow as pa
import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

import headgate as hg
from tests.kinds_of_join import KINDS, OUTER
from tests.spark.exact_inputs import DELAYS, DELAYS_US, KEY_VALUES, TIMES, make_batches
from tests.spark.streams import (
    START_US,
    Collected,
    collect,
    multiset,
    punctual,
    read_side,
    schema_of,
    timestamps,
    write_side,
)

pytestmark = [
    pytest.mark.spark,
    pytest.mark.long,
    pytest.mark.usefixtures("batches_without_rows"),
]

SPARKS = {
    "left": "leftouter",
    "right": "rightouter",
    "full": "fullouter",
    "semi": "leftsemi",
    "anti": "leftanti",
}
ENDS_S = (50_000, 60_000)
"""When the last row of each side comes, far behind all others: it only moves the watermark."""
IDS = ("left_id", "right_id")
BAND = "r.key - l.key BETWEEN -1 AND 2"
Batches = tuple[list[pa.Table], list[pa.Table]]


class Asked(NamedTuple):
    """A join: its keys, windows in seconds, whether a band is asked for, and its shards."""

    on: tuple[str, ...]
    windows: tuple[int, int] = (40, 15)
    band: bool = False
    shards: int | None = 2

    @property
    def asks(self) -> tuple[str, ...]:
        """The columns in which a null means that a row has no partner."""
        return (*self.on, "key") if self.band else self.on

    def join(self, how: str) -> hg.WindowJoin:
        """As Headgate has it."""
        left, right = (
            hg.Side(time=time, window=f"{window} seconds")
            for time, window in zip(TIMES, self.windows, strict=True)
        )
        return hg.WindowJoin(
            on=self.on or None,
            where=hg.Band("key", lower=-1, upper=2) if self.band else None,
            left=left,
            right=right,
            budget=hg.Budget(rows=1_000_000),
            how=how,
        )

    @property
    def condition(self) -> str:
        """As SQL has it."""
        parts = [f"l.{name} = r.{name}" for name in self.on] + ([BAND] if self.band else [])
        parts.append(f"r.bid_at <= l.opened_at + INTERVAL {self.windows[0]} SECONDS")
        parts.append(f"r.bid_at >= l.opened_at - INTERVAL {self.windows[1]} SECONDS")
        return " AND ".join(parts)

    def columns(self, how: str, left: Sequence[str], right: Sequence[str]) -> list[str]:
        """The result's columns in SQL: those of keys once, from the side that has them."""
        if how not in OUTER:
            return [f"l.{name}" for name in left]
        own = [
            f"coalesce(l.{name}, r.{name}) AS {name}" if name in self.on else f"l.{name}"
            for name in left
        ]
        others = [
            f"r.{name}" if name not in left else f"r.{name} AS {name}_right"
            for name in right
            if name not in self.on
        ]
        return own + others

    def in_duckdb(self, how: str, left: pa.Table, right: pa.Table) -> Counter:
        """What DuckDB makes of both sides."""
        with duckdb.connect() as connection:
            connection.register("l", left)
            connection.register("r", right)
            columns = ", ".join(self.columns(how, left.column_names, right.column_names))
            if how in OUTER:
                query = f"SELECT {columns} FROM l {how} JOIN r ON {self.condition}"
            else:
                no = "NOT " if how == "anti" else ""
                query = f"SELECT l.* FROM l WHERE {no}EXISTS (FROM r WHERE {self.condition})"
            return multiset(connection.sql(query).to_arrow_table())

    def in_spark(self, how: str, left: DataFrame, right: DataFrame) -> DataFrame:
        """Spark's own join, batch or stream, with the columns of Headgate's."""
        joined = left.alias("l").join(right.alias("r"), F.expr(self.condition), SPARKS[how])
        return joined.selectExpr(*self.columns(how, left.columns, right.columns))


BOUNDED = {
    **{name: Asked((name,)) for name in KEY_VALUES},
    "three keys": Asked(("text", "day", "price"), (180, 45), shards=None),
    "five keys": Asked(("instant", "measure", "flag", "bytes", "place"), (180, 45)),
    "the left side waits": Asked(("key",), (40, 0)),
    "the right side waits": Asked(("key",), (0, 25)),
    "nobody waits": Asked(("integer",), (0, 0)),
    "a band beside a key": Asked(("integer",), band=True),
    "a band alone": Asked((), band=True, shards=1),
}


@pytest.mark.parametrize("how", KINDS)
@pytest.mark.parametrize("case", BOUNDED)
def test_bounded_inputs(spark: SparkSession, case: str, how: str) -> None:
    """In process and on Spark, with both sides, and with either or both of them empty."""
    asked, join = BOUNDED[case], BOUNDED[case].join(how)
    left, right = (pa.concat_tables(side[:3]).combine_chunks() for side in make_batches(seed=23))
    schemas = [spark.createDataFrame(side).schema for side in (left, right)]
    none = left.slice(0, 0), right.slice(0, 0)
    for sides in ((left, right), (left, none[1]), (none[0], right), none):
        wanted = asked.in_duckdb(how, *sides)
        outcome = join.run(*sides)
        assert multiset(outcome.pairs) == wanted
        assert outcome.recall == 1.0
        assert outcome.stats.undecided == 0
        frames = [
            spark.createDataFrame(side, schema) for side, schema in zip(sides, schemas, strict=True)
        ]
        assert multiset(join.batch(*frames, shards=asked.shards)) == wanted
        if sides == (left, right):
            assert multiset(asked.in_spark(how, *frames)) == wanted
            assert wanted.total() > 10


STREAMS = {
    "an integer key": Asked(("key",), shards=3),
    "three keys": Asked(("text", "day", "price"), (0, 25), shards=None),
    "five keys": Asked(("instant", "measure", "flag", "bytes", "place"), (180, 45)),
    "nobody waits": Asked(("integer",), (0, 0), shards=1),
    "a band beside a key": Asked(("integer",), band=True),
    "a band alone": Asked((), band=True, shards=1),
    "a side silent at first": Asked(("key",)),
    "a side that never has rows": Asked(("key",)),
}


def made(case: str) -> Batches:
    """Micro-batches of both sides."""
    left, right = make_batches(seed=24)
    for side, rows in enumerate((left, right)):
        number = rows[0].schema.get_field_index(TIMES[side])
        end = timestamps([START_US + ENDS_S[side] * 1_000_000])
        whole = rows[0].filter(whole_keys(rows[0], tuple(rows[0].column_names)))
        rows.append(whole.slice(0, 1).set_column(number, rows[0].schema.field(number), end))
    nothing = right[0].slice(0, 0)
    if case == "a side silent at first":
        right = [nothing, nothing, nothing, *right]
    if case == "a side that never has rows":
        right = [nothing]
    return left, right


def without_nulls(batches: Batches, on: tuple[str, ...]) -> Batches:
    """The rows that have no null in these columns.

    On streams Spark's full outer join takes null for equal to null as a key, and its others put
    such rows out when the watermark has passed them.
    """
    left, right = ([table.filter(whole_keys(table, on)) for table in side] for side in batches)
    return left, right


def whole_keys(table: pa.Table, on: tuple[str, ...]) -> pa.Array:
    """Which rows have no null among their keys."""
    whole = pa.array([True] * table.num_rows, pa.bool_())
    for name in on:
        whole = pa.compute.and_(whole, table.column(name).is_valid())
    return whole


def read(spark: SparkSession, folder: Path, batches: Batches) -> list[DataFrame]:
    """Both sides as streams."""
    frames = []
    for side, own in enumerate(batches):
        if not (folder / str(side)).exists():
            write_side(folder / str(side), own)
        schema = schema_of(spark, own[0], folder / f"schema-{side}")
        frames.append(read_side(spark, folder / str(side), schema, TIMES[side], DELAYS[side]))
    return frames


def settled(rows: Counter, batches: Batches, join: Asked, how: str) -> Counter:
    """The result rows that do not have one of the two rows that only move the watermark."""
    names = join.columns(how, batches[0][0].column_names, batches[1][0].column_names)
    ends = {
        (names.index(f"{which}.{time}"), START_US + end_s * 1_000_000)
        for which, time, end_s in zip("lr", TIMES, ENDS_S, strict=True)
        if f"{which}.{time}" in names
    }
    return Counter(
        {row: n for row, n in rows.items() if not any(row[place] == us for place, us in ends)}
    )


def by_batch(got: Collected) -> list[int]:
    """Rows put out up to the end of each batch."""
    rows: list[int] = []
    for progress in got.query.recentProgress:
        if progress["batchId"] == len(rows):
            rows.append((rows[-1] if rows else 0) + progress["sink"]["numOutputRows"])
    return rows


@pytest.mark.parametrize("how", KINDS)
@pytest.mark.parametrize("case", STREAMS)
def test_streams(spark: SparkSession, tmp_path: Path, case: str, how: str) -> None:
    asked = STREAMS[case]
    batches = without_nulls(made(case), asked.asks)
    frames = read(spark, tmp_path, batches)
    joined = asked.join(how).stream(*frames, shards=asked.shards, watermark=False)
    ours = collect(joined, tmp_path / "ours")
    if how != "anti" and asked.on:  # Spark's streams have no anti joins, and none without keys
        theirs = collect(asked.in_spark(how, *frames), tmp_path / "theirs", "none")
        assert ours.rows == theirs.rows
        assert by_batch(ours) == by_batch(theirs)
    if case != "a side that never has rows":
        # Where a side has no rows, the watermark never moves, and nothing is decided.
        exact = asked.in_duckdb(how, *punctual(batches, TIMES, DELAYS_US))
        assert settled(ours.rows, batches, asked, how) == settled(exact, batches, asked, how)
        assert ours.rows.total() > 10
    assert ours.rows.total() == ours.total("pairs")
    assert ours.total("undecided") + ours.total("shed") + ours.total("refused") == 0


@pytest.mark.parametrize("how", KINDS)
def test_streams_with_null_keys(spark: SparkSession, tmp_path: Path, how: str) -> None:
    """DuckDB is the judge: Spark's own full join of streams matches nulls with nulls."""
    asked, batches = STREAMS["an integer key"], made("an integer key")
    frames = read(spark, tmp_path, batches)
    joined = asked.join(how).stream(*frames, shards=2, watermark=False)
    ours = collect(joined, tmp_path / "ours")
    exact = asked.in_duckdb(how, *punctual(batches, TIMES, DELAYS_US))
    assert settled(ours.rows, batches, asked, how) == settled(exact, batches, asked, how)
    assert ours.total("null_keys") > 5
