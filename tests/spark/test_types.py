"""Every pair of types as key, time, band and comparison: joined as Spark joins them, or refused.

Spark's answer to all pairs is one query over two wide frames; each pair is then joined in process,
and its keys are hashed on Spark as a query hashes them.
"""

from collections import Counter
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

import headgate as hg
from headgate.engine.shape import NO_RESULT, Shape
from headgate.spark.carried_columns import numbered
from headgate.spark.column_types import compared_keys
from headgate.spark.requirements import check_columns
from headgate.spec import Keys
from tests.spark.streams import multiset
from tests.spark.type_values import (
    NOT_CARRIED,
    ROWS,
    TYPES,
)
from tests.thoroughness import usually

pytestmark = pytest.mark.spark
SIDE = hg.Side(time="at", window="1 hour")
SIDES = ("left", "right")
PAIRS = list(product(TYPES, TYPES))


class Use(NamedTuple):
    """What two columns may be to a join, and what Spark says of it."""

    join: Callable[[str, str], dict[str, Any]]
    sql: Callable[[str, str], str]
    takes: Callable[[str], bool] = lambda name: True


def band_limits(name: str) -> tuple[Any, Any, str, str]:
    """Limits of a band for a type, and as SQL."""
    if name in ("date", "timestamp", "ntz", "day_time", "seconds"):
        return "-1 day", "36 hours", "interval '-1' day", "interval '36' hour"
    return -1, 1.5, "-1", "1.5"


def difference(left: str, right: str) -> str:
    """The right value less the left one; null where Spark would fail of an overflow."""
    if left in ("date", "timestamp", "ntz", "day_time", "seconds"):
        return f"(r.{right} - l.{left})"
    return f"try_subtract(r.{right}, l.{left})"


def band(left: str, right: str, limits: slice) -> tuple[hg.Band, str]:
    """A band of both limits or one, and the same as SQL."""
    lower, upper, sql_lower, sql_upper = band_limits(left)
    asked = dict([("lower", lower), ("upper", upper)][limits])
    tests = [f"{{}} >= {sql_lower}", f"{{}} <= {sql_upper}"][limits]
    sql = " AND ".join(test.format(difference(left, right)) for test in tests)
    return hg.Band(left=left, right=right, **asked), sql


def a_band(limits: slice) -> Use:
    return Use(
        lambda left, right: {"where": band(left, right, limits)[0]},
        lambda left, right: band(left, right, limits)[1],
    )


def a_comparison(op: str) -> Use:
    return Use(
        lambda left, right: {"where": hg.Compare(left=left, right=right, op=op)},
        lambda left, right: f"l.{left} {op} r.{right}",
    )


USES = {
    "key": Use(
        lambda left, right: {"left_on": left, "right_on": right},
        lambda left, right: f"l.{left} = r.{right}",
    ),
    "band": a_band(slice(None)),
    "band without an upper limit": a_band(slice(0, 1)),
    "band without a lower limit": a_band(slice(1, 2)),
    "comparison <": a_comparison("<"),
    "comparison !=": a_comparison("!="),
}
JOINED = {
    "key": 203,
    "band": 79,
    "band without an upper limit": 79,
    "band without a lower limit": 79,
    "comparison <": 125,
    "comparison !=": 125,
}
"""How many of the pairs are joined; all others are refused."""


@pytest.fixture(scope="module")
def frame(berlin: SparkSession) -> DataFrame:
    """A column for each type; rows that a type has no value for are null."""
    columns = [
        F.expr(
            f"get(array({', '.join(f'cast({v} as {kind})' for v in values)}), cast(id as int))"
        ).alias(name)
        for name, (kind, values) in TYPES.items()
    ]
    at = F.lit("2026-01-01 12:00:00").cast("timestamp").alias("at")
    return berlin.range(0, ROWS, 1, 1).select("id", at, *columns)


@pytest.fixture(scope="module")
def table(frame: DataFrame) -> pa.Table:
    """The same rows in process."""
    return frame.drop(*NOT_CARRIED).toArrow()


def join_of(asked: dict[str, Any]) -> hg.WindowJoin:
    return hg.WindowJoin(left=SIDE, right=SIDE, budget=hg.Budget(rows=1000), policy="fifo", **asked)


def accepted(
    check: Callable[[str, str], Shape],
) -> dict[tuple[str, str], Shape]:
    """The pairs that pass a check, and how they are compared; others are named in the refusal."""
    found, unnamed = {}, []
    for left, right in PAIRS:
        try:
            found[left, right] = check(left, right)
        except hg.SpecError as error:
            if not (f'"{left}"' in str(error) or f'"{right}"' in str(error)):
                unnamed.append(error)
    assert not unnamed
    return found


def accepted_for(frame: DataFrame, use: Use) -> dict[tuple[str, str], Shape]:
    """The pairs that Headgate takes for a use."""

    alone = {name: frame.select("id", "at", name) for name in frame.columns[2:]}

    def check(left: str, right: str) -> Shape:
        join, frames = join_of(use.join(left, right)), (alone[left], alone[right])
        return check_columns(join.keys, join.sides, frames, NO_RESULT, join.where)

    return accepted(check)


def sparks_answers(frame: DataFrame, use: Use, pairs: list[tuple[str, str]]) -> list[dict]:
    """For each pair of types whether Spark's own join makes a pair of two rows.

    None where it would fail of an overflow.
    """
    asked = [
        F.expr(
            f"case when l.{left} is null or r.{right} is null then false "
            f"else {use.sql(left, right)} end"
        ).alias(f"{left}__{right}")
        for left, right in pairs
    ]
    both = frame.alias("l").join(F.broadcast(frame.alias("r")), how="cross")
    answers = both.select(F.col("l.id").alias("left"), F.col("r.id").alias("right"), *asked)
    rows = answers.toArrow()
    ids = list(zip(rows["left"].to_pylist(), rows["right"].to_pylist(), strict=True))
    return [
        dict(zip(ids, rows[f"{left}__{right}"].to_pylist(), strict=True)) for left, right in pairs
    ]


@pytest.mark.parametrize("name", usually(("key", "band", "comparison <"), USES))
def test_every_pair_of_types_joins_as_in_spark_or_is_refused(
    frame: DataFrame, table: pa.Table, name: str
) -> None:
    use = USES[name]
    shapes = accepted_for(frame, use)
    answers = sparks_answers(frame, use, list(shapes))
    left, right = (
        table.rename_columns([f"{which}_id", *table.column_names[1:]]) for which in SIDES
    )
    for (mine, theirs), wanted in zip(shapes, answers, strict=True):
        ours = join_of(use.join(mine, theirs)).run(
            left.select(["left_id", "at", mine]), right.select(["right_id", "at", theirs])
        )
        got = Counter(zip(*(ours.pairs[f"{which}_id"].to_pylist() for which in SIDES), strict=True))
        fails = {ids for ids, answer in wanted.items() if answer is None}
        expected = Counter(ids for ids, answer in wanted.items() if answer)
        assert Counter(ids for ids in got.elements() if ids not in fails) == expected, (
            mine,
            theirs,
        )
    assert len(shapes) == JOINED[name], sorted(shapes)


def test_equal_keys_of_two_types_fall_into_the_same_shard(frame: DataFrame) -> None:
    shapes = accepted_for(frame, USES["key"])
    answers = sparks_answers(frame, USES["key"], list(shapes))
    hashes = [
        numbered(frame)
        .select(
            *(
                F.xxhash64(*compared_keys(frame, (pair[side],), shape.key_types)).alias(str(place))
                for place, (pair, shape) in enumerate(shapes.items())
            )
        )
        .toArrow()
        for side in (0, 1)
    ]
    met = 0
    for place, (pair, wanted) in enumerate(zip(shapes, answers, strict=True)):
        for (mine, theirs), equal in wanted.items():
            if equal:
                one, other = hashes[0][str(place)][mine], hashes[1][str(place)][theirs]
                assert one == other, (pair, mine, theirs)
                met += 1
    assert met > 400


def test_every_pair_of_types_of_times_is_joined_or_refused(
    frame: DataFrame, table: pa.Table
) -> None:
    alone = {name: frame.select("id", name) for name in frame.columns[2:]}

    def check(left: str, right: str) -> Shape:
        sides = hg.Side(time=left, window="1 day"), hg.Side(time=right, window="1 hour")
        return check_columns(Keys.parse("id"), sides, (alone[left], alone[right]), NO_RESULT)

    joined = list(accepted(check))
    assert joined == [("timestamp", "timestamp"), ("ntz", "ntz")]
    for name, _ in joined:
        both = frame.alias("l").join(frame.alias("r"), how="cross")
        wanted = both.where(
            f"r.{name} - l.{name} between interval '-1' hour and interval '1' day"
        ).select("l.id", "r.id")
        left, right = (
            table.select(["id", name])
            .append_column("one", pa.array([1] * ROWS))
            .rename_columns([which, name, "one"])
            for which in ("left", "right")
        )
        ours = hg.WindowJoin(
            on="one",
            left=hg.Side(time=name, window="1 day"),
            right=hg.Side(time=name, window="1 hour"),
            budget=hg.Budget(rows=1000),
            policy="fifo",
        ).run(left, right)
        assert multiset(ours.pairs.select(["left", "right"])) == multiset(wanted)


def test_every_type_that_is_carried_comes_through_as_it_is(frame: DataFrame) -> None:
    carried = frame.drop(*NOT_CARRIED, "void", "map")
    side = carried.toDF(*(f"{name}_left" for name in carried.columns))
    other = carried.select("id", "at")
    join = hg.WindowJoin(
        left_on="id_left",
        right_on="id",
        left=hg.Side(time="at_left", window="1 hour"),
        right=hg.Side(time="at", window="1 hour"),
        budget=hg.Budget(rows=1000),
        policy="fifo",
    )
    wanted = side.join(other, F.col("id_left") == F.col("id"))
    found = join.batch(side, other)
    assert [field.dataType for field in found.schema] == [f.dataType for f in wanted.schema]
    assert Counter(map(str, found.collect())) == Counter(map(str, wanted.collect()))


def test_chars_that_spark_would_pad_are_refused(berlin: SparkSession, tmp_path: Path) -> None:
    for name, kind in (("two", "char(2)"), ("five", "char(5)"), ("most", "varchar(7)")):
        berlin.sql(
            f"create table {name}(key {kind}, at timestamp) using parquet "
            f"location '{tmp_path / name}'"
        )
        berlin.sql(f"insert into {name} values ('a', timestamp '2026-01-01 12:00:00')")
    two, five, most = (berlin.table(name) for name in ("two", "five", "most"))
    join = join_of({"on": "key"})
    assert two.join(five, "key").count() == 1
    for left, right, same in ((two, two, 1), (five, five, 1), (most, most, 1), (two, most, 0)):
        assert left.join(right.alias("r"), "key").count() == same
        assert join.batch(left, right).count() == same
    with pytest.raises(hg.SpecError, match=r'"key" is char\(2\), "key" is char\(5\), and Spark'):
        join.batch(two, five)
    for name in ("two", "five", "most"):
        berlin.sql(f"drop table {name}")


def test_without_ansi_mode_whole_numbers_and_floats_are_refused(
    berlin: SparkSession, frame: DataFrame
) -> None:
    def check(left: str, right: str) -> Shape:
        return check_columns(
            Keys.parse(left_on=left, right_on=right), (SIDE, SIDE), (numbers, numbers), NO_RESULT
        )

    numbers = frame.select("at", "int", "double", "float")

    berlin.conf.set("spark.sql.ansi.enabled", "false")
    try:
        assert check("int", "double").key_types == (pa.float64(),)
        with pytest.raises(hg.SpecError, match="enabled=false Spark would compare them"):
            check("int", "float")
    finally:
        berlin.conf.set("spark.sql.ansi.enabled", "true")
