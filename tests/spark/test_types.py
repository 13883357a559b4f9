"""Every pair of types as key, time, band and comparison: joined as Spark joins them, or refused.

Spark's answer to all pairs is one query over two wide frames; each pair is then joined in process,
and its keys are hashed on Spark as a query hashes them.
"""

from collections import Counter
from collections.abc import Callable, Iterator
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
from tests.spark.streams import collect, multiset

pytestmark = pytest.mark.spark

NUMBERS = ["0", "1", "-1", "2", "100", "null"]
REALS = ["double('NaN')", "-0.0d", "0.1d", "1.5d", "double('inf')", "double('-inf')"]
LARGE = ["9007199254740992", "9007199254740993", "16777217"]
TEXTS = ["'a'", "'A'", "'a '", "'ä'", "''", "'1'", "null"]
DAYS = ["'2026-03-29'", "'2026-03-30'", "'2026-10-25'", "null"]
MOMENTS = [
    "'2026-03-29 00:00:00'",
    "'2026-03-29 02:30:00'",
    "'2026-03-29 02:30:00.5'",
    "'2026-10-25 02:30:00'",
    "'1969-12-31 23:59:59.999999'",
    "null",
]
STRUCTS = [
    "named_struct('a', 0.0d, 'b', 'x')",
    "named_struct('a', -0.0d, 'b', 'x')",
    "named_struct('a', double('NaN'), 'b', 'x')",
    "named_struct('a', 1.0d, 'b', null)",
    "named_struct('a', null, 'b', null)",
    "null",
]
LISTS = ["array(0)", "array(1, null)", "array(1)", "array()", "null"]
REAL_LISTS = ["array(0.0d)", "array(-0.0d)", "array(double('NaN'))", "array(1.0d, null)", "null"]

TYPES: dict[str, tuple[str, list[str]]] = {
    "tinyint": ("tinyint", NUMBERS),
    "smallint": ("smallint", NUMBERS),
    "int": ("int", [*NUMBERS, "16777216", "16777217"]),
    "bigint": ("bigint", [*NUMBERS, *LARGE, "9223372036854775807"]),
    "float": ("float", [*NUMBERS, *REALS, "16777216", "-1e-9d"]),
    "double": ("double", [*NUMBERS, *REALS, "9007199254740992", "double(float(0.1))"]),
    "decimal_10_2": ("decimal(10,2)", [*NUMBERS, "0.1", "1.5", "16777217"]),
    "decimal_12_4": ("decimal(12,4)", [*NUMBERS, "0.1", "1.5", "0.0001"]),
    "decimal_20_0": ("decimal(20,0)", [*NUMBERS, *LARGE]),
    "decimal_38_10": ("decimal(38,10)", [*NUMBERS, *LARGE, "0.1"]),
    "decimal_38_0": ("decimal(38,0)", [*NUMBERS, *LARGE]),
    "boolean": ("boolean", ["true", "false", "null"]),
    "text": ("string", TEXTS),
    "lcase": ("string collate UTF8_LCASE", TEXTS),
    "unicode_ci": ("string collate UNICODE_CI", TEXTS),
    "rtrim": ("string collate UTF8_BINARY_RTRIM", TEXTS),
    "binary": ("binary", ["X'61'", "X'41'", "X''", "X'00'", "null"]),
    "date": ("date", DAYS),
    "timestamp": ("timestamp", MOMENTS),
    "ntz": ("timestamp_ntz", MOMENTS),
    "day_time": ("interval day to second", ["interval '1' day", "interval '1' second", "null"]),
    "seconds": ("interval second", ["interval '1' second", "interval '90' second", "null"]),
    "year_month": ("interval year to month", ["interval '1' month", "null"]),
    "calendar": ("interval", ["make_interval(0, 1)", "null"]),
    "variant": ("variant", ["1", "null"]),
    "void": ("void", ["null"]),
    "struct_double": ("struct<a:double,b:string>", STRUCTS),
    "struct_float": ("struct<a:float,b:string>", STRUCTS),
    "struct_int": ("struct<a:int,b:string>", [STRUCTS[0], STRUCTS[3], "null"]),
    "struct_other": ("struct<a:double,c:string>", STRUCTS),
    "struct_lcase": ("struct<a:double,b:string collate UTF8_LCASE>", STRUCTS),
    "list_int": ("array<int>", LISTS),
    "list_bigint": ("array<bigint>", LISTS),
    "list_double": ("array<double>", REAL_LISTS),
    "list_ntz": ("array<timestamp_ntz>", ["array('2026-03-29 02:30:00')", "null"]),
    "list_timestamp": ("array<timestamp>", ["array('2026-03-29 02:30:00')", "null"]),
    "map": ("map<int,int>", ["map(1, 1)", "null"]),
}
"""For each type Spark's name of it, and values as SQL: those that other types have too, and those
at which types differ."""

NOT_CARRIED = ("year_month", "calendar", "variant")
"""Types whose values do not come through Arrow, so that they are asked for by name alone."""
ROWS = max(len(values) for _, values in TYPES.values())
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
def berlin(spark: SparkSession) -> Iterator[SparkSession]:
    """A session whose clocks are put forward and back."""
    before = spark.conf.get("spark.sql.session.timeZone")
    spark.conf.set("spark.sql.session.timeZone", "Europe/Berlin")
    yield spark
    spark.conf.set("spark.sql.session.timeZone", before)


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


@pytest.mark.parametrize("name", USES)
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


KEYS = ["key", "zeros", "price", "word"]
LEFT_SCHEMA = (
    "key int, zeros struct<a:double>, price decimal(10,2), word string, at timestamp, l long"
)
RIGHT_SCHEMA = (
    "key bigint, zeros struct<a:float>, price decimal(12,4), word string, seen timestamp, r long"
)


def rows_of(spark: SparkSession, schema: str, seed: int) -> DataFrame:
    """Rows with keys in the types of a side; zeros of both signs, NaN, nulls."""
    zeros = "array(0.0d, -0.0d, double('NaN'), 1.5d, null)"
    columns = [
        "id % 5 as key",
        f"named_struct('a', get({zeros}, cast((id div 5 + {seed}) % 5 as int))) as zeros",
        "(id % 3) * 1.25 as price",
        "concat('w', id % 2) as word",
        "timestamp_micros(1767225600000000 + id * 1000000) as at",
        "id as number",
    ]
    rows = spark.range(0, 120, 1, 2).selectExpr(*columns)
    return rows.select(
        *(
            F.col(name).cast(field.dataType).alias(field.name)
            for name, field in zip(rows.columns, spark_schema(spark, schema), strict=True)
        )
    )


def spark_schema(spark: SparkSession, schema: str) -> Any:
    return spark.createDataFrame([], schema).schema


def mixed_join(**asked: Any) -> hg.WindowJoin:
    return hg.WindowJoin(
        on=KEYS,
        left=hg.Side(time="at", window="1 minute"),
        right=hg.Side(time="seen", window="30 seconds"),
        budget=hg.Budget(rows=10_000),
        **asked,
    )


def in_spark(left: DataFrame, right: DataFrame) -> Counter:
    equal = [left[key] == right[key] for key in KEYS]
    near = F.expr("seen between at - interval 30 seconds and at + interval 1 minute")
    return multiset(left.join(right, [*equal, near]).select("l", "r"))


def test_a_bounded_join_on_keys_of_other_types_is_sparks_own(berlin: SparkSession) -> None:
    left, right = rows_of(berlin, LEFT_SCHEMA, 1), rows_of(berlin, RIGHT_SCHEMA, 2)
    wanted = in_spark(left, right)
    assert wanted.total() > 50
    assert multiset(mixed_join().batch(left, right, shards=5).select("l", "r")) == wanted
    asked = {"on": KEYS, "left": hg.Side("at", "1 minute"), "right": hg.Side("seen", "30 seconds")}
    assert hg.profile(left, right, **asked).pairs.count == wanted.total()


def test_a_stream_on_keys_of_other_types_is_sparks_own(
    berlin: SparkSession, tmp_path: Path
) -> None:
    left, right = rows_of(berlin, LEFT_SCHEMA, 1), rows_of(berlin, RIGHT_SCHEMA, 2)
    streams = []
    for rows, schema, time in ((left, LEFT_SCHEMA, "at"), (right, RIGHT_SCHEMA, "seen")):
        rows.repartitionByRange(2, time).write.parquet(str(tmp_path / time))
        stream = berlin.readStream.schema(schema).option("maxFilesPerTrigger", 1)
        streams.append(stream.parquet(str(tmp_path / time)).withWatermark(time, "1 hour"))
    found = collect(mixed_join().stream(*streams, shards=3), tmp_path / "checkpoint")
    assert Counter((row[5], row[-1]) for row in found.rows.elements()) == in_spark(left, right)


def times_of(spark: SparkSession, name: str, kind: str, times: list[str]) -> DataFrame:
    rows = spark.createDataFrame([(1, time) for time in times], f"key int, {name} string")
    return rows.withColumn(name, F.col(name).cast(kind))


ZONES = r'left "heard" is timestamp, right "seen" is timestamp_ntz: one tells moments in time'
ASKED: dict[str, Any] = {
    "on": "key",
    "left": hg.Side("heard", "1 minute"),
    "right": hg.Side("seen", "1 minute"),
}


@pytest.mark.parametrize(
    "call",
    [
        lambda left, right: hg.WindowJoin(**ASKED, budget=hg.Budget(rows=9)).batch(left, right),
        lambda left, right: hg.profile(left, right, **ASKED),
        lambda left, right: hg.whatif(left, right, **ASKED),
    ],
    ids=["batch", "profile", "whatif"],
)
def test_a_timestamp_and_one_without_a_zone_are_refused(
    berlin: SparkSession, call: Callable[[DataFrame, DataFrame], object]
) -> None:
    left = times_of(berlin, "heard", "timestamp", ["2026-07-01 12:00:00"])
    right = times_of(berlin, "seen", "timestamp_ntz", ["2026-07-01 12:00:30"])
    with pytest.raises(hg.SpecError, match=f"time columns differ in type: {ZONES}"):
        call(left, right)


def test_a_stream_of_a_timestamp_and_one_without_a_zone_is_refused(
    berlin: SparkSession, tmp_path: Path
) -> None:
    left, right = (
        berlin.readStream.schema(f"key int, {time} {kind}").parquet(str(tmp_path))
        for time, kind in (("heard", "timestamp"), ("seen", "timestamp_ntz"))
    )
    join = hg.WindowJoin(**ASKED, budget=hg.Budget(rows=9))
    with pytest.raises(hg.SpecError, match=f"time columns differ in type: {ZONES}"):
        join.stream(left.withWatermark("heard", "1 hour"), right)
    by_key = hg.WindowJoin(
        left_on="heard", right_on="seen", left=SIDE, right=SIDE, budget=hg.Budget(rows=9)
    )
    times = [stream.withColumn("at", F.current_timestamp()) for stream in (left, right)]
    with pytest.raises(hg.SpecError, match=f"key columns differ in type: {ZONES}"):
        by_key.stream(*times)


def test_a_time_without_a_zone_joins_as_in_spark_once_it_is_cast(berlin: SparkSession) -> None:
    left = times_of(berlin, "heard", "timestamp", ["2026-07-01 12:00:00", "2026-07-01 14:00:30"])
    right = times_of(berlin, "seen", "timestamp_ntz", ["2026-07-01 12:00:30"])
    near = F.expr("seen between heard - interval 1 minute and heard + interval 1 minute")
    wanted = left.join(right.withColumnRenamed("key", "other"), near).select("heard", "other")
    cast = right.withColumn("seen", F.col("seen").cast("timestamp"))
    found = hg.WindowJoin(**ASKED, budget=hg.Budget(rows=9), policy="fifo").batch(left, cast)
    assert multiset(found.select("heard", "key")) == multiset(wanted)
    assert wanted.count() == 1


def test_times_without_a_zone_do_not_follow_the_sessions_clocks(berlin: SparkSession) -> None:
    """At 2 o'clock of this night clocks in Berlin are put forward by an hour."""
    left = times_of(berlin, "heard", "timestamp_ntz", ["2026-03-29 01:30:00", None])
    right = times_of(
        berlin, "seen", "timestamp_ntz", ["2026-03-29 01:50:00.25", "2026-03-29 03:10:00"]
    )
    asked = {**ASKED, "left": hg.Side("heard", "30 minutes")}
    found = hg.profile(left, right, **asked)
    in_process = hg.profile(left.toArrow(), right.toArrow(), **asked)
    assert (found.pairs, found.rates) == (in_process.pairs, in_process.rates)
    assert found.pairs.count == 1
    join = hg.WindowJoin(**asked, budget=hg.Budget(rows=9), policy="fifo")
    assert join.batch(left, right).count() == 1


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


@pytest.mark.parametrize("kind", ["UTF8_LCASE", "UNICODE_CI", "UTF8_BINARY_RTRIM"])
def test_a_lookup_by_strings_with_a_collation_is_refused(
    berlin: SparkSession, tmp_path: Path, kind: str
) -> None:
    plain = berlin.createDataFrame([("a", 1)], "word string, number int")
    collated = plain.withColumn("word", F.collate("word", kind))
    asked = {"on": "word", "budget": hg.Budget(rows=9)}
    with pytest.raises(hg.SpecError, match=f'"word" of the table.* has the collation {kind}'):
        hg.CachedLookup(table=hg.SparkTable(collated), **asked)
    stream = berlin.readStream.format("rate").load()
    words = stream.select(F.collate(F.lit("A"), kind).alias("word"))
    lookup = hg.CachedLookup(table=hg.ArrowTable(plain.toArrow()), **asked)
    with pytest.raises(hg.SpecError, match=f'"word" of the stream has the collation {kind}'):
        lookup.stream(words)
