"""Columns beside keys and times: any name, and every type, carried or refused at the call."""

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import StructField, StructType

import headgate as hg
from headgate.spark.requirements import WATERMARK
from headgate.spark.sources import with_watermark
from tests.spark.needed_spark import VERSION
from tests.spark.streams import START_US, collect, multiset, read_side, timestamps, write_side
from tests.thoroughness import LONG

pytestmark = pytest.mark.spark

ROWS = 6
POINT = "X'0101000000000000000000F03F0000000000000040'"
CARRIED = {
    "boolean": ("true", "false"),
    "tinyint": ("-128", "127"),
    "smallint": ("-32768", "32767"),
    "int": ("-2147483648", "2147483647"),
    "bigint": ("-9223372036854775808", "9223372036854775807"),
    "float": ("'NaN'", "'-Infinity'"),
    "double": ("-0.0", "1.7976931348623157E308"),
    "decimal(38,0)": ("'-99999999999999999999999999999999999999'", "'1'"),
    "decimal(38,38)": ("'0.99999999999999999999999999999999999999'", "'0'"),
    "string": ("''", "'ä€𝄞'"),
    "string collate utf8_lcase": ("'Ab'", "'aB'"),
    "binary": ("X''", "X'00FF'"),
    "date": ("date'-5877641-06-23'", "date'+5881580-07-11'"),
    "time(6)": ("time'00:00:00'", "time'23:59:59.999999'"),
    "timestamp": (
        "timestamp'0000-06-01 00:00:00'",
        "timestamp_micros(-9223372036854775808)",
        "timestamp_micros(9223372036854775807)",
    ),
    "timestamp_ntz": ("timestamp_ntz'-200000-01-01 00:00:00'", "timestamp_ntz'+200000-01-01'"),
    "interval day to second": ("make_dt_interval(106751990)", "make_dt_interval(-1, 2, 3, 4.5)"),
    "interval day": ("interval '7' day", "interval '-7' day"),
    "interval year to month": ("make_ym_interval(178956970, 7)", "make_ym_interval(-1, -1)"),
    "interval year": ("interval '7' year", "interval '-7' year"),
    "interval month": ("interval '7' month", "interval '-7' month"),
    "variant": ("""parse_json('{"a": [1, null, {"b": "x"}]}')""", "parse_json('null')"),
    "geometry(0)": (f"st_geomfromwkb({POINT})",),
    "geography(4326)": (f"st_geogfromwkb({POINT})",),
    "array<string>": ("array()", "array('a', null)"),
    "map<string,array<int>>": ("map('a', array(1, null))", "map('b', null)"),
    "map<struct<a:timestamp>,map<string,int>>": (
        "map(named_struct('a', timestamp'0000-06-01 00:00:00'), map('x', null))",
    ),
    "struct<a.b:int,c:struct<d:variant>>": (
        "named_struct('a.b', 1, 'c', named_struct('d', parse_json('[1]')))",
    ),
    "array<struct<i:interval year to month>>": (
        "array(named_struct('i', make_ym_interval(1, 2)), null)",
    ),
    "map<interval year,variant>": ("map(interval '1' year, parse_json('1'))",),
    "array<variant>": ("array(parse_json('[1]'), null)",),
}
"""Types, and values of them; every column has nulls, too."""
SINCE = {"time(6)": (4, 1), "geometry(0)": (4, 2), "geography(4326)": (4, 2)}
"""Types that older versions of Spark lack, or have switched off."""
for _kind, _version in SINCE.items():
    if _version > VERSION:
        del CARRIED[_kind]

MORE = {
    "void": "null",
    "array of void": "array(null)",
    "empty struct": "struct()",
    "fields that are never null": "case when key > 1 then struct(1, timestamp'1582-01-01') end",
    "fields of one name": "named_struct('a', key, 'a', named_struct('b', 1, 'B', 'x', 'b', 2.5))",
    "fields of one name deep inside": "array(named_struct('a', 1, 'a_1', 2, 'a', key))",
    "months that are never null": "array(named_struct('i', make_ym_interval(1, 2)))",
    "char": "cast('a' as char(3))",
    "varchar": "cast('a' as varchar(3))",
}
"""Expressions that are typed by themselves."""


def of_type(kind: str, values: tuple[str, ...]) -> str:
    """A column with these values in turn, and nulls."""
    kind = kind.replace("a.b", "`a.b`")
    chosen = " ".join(f"when {place} then {value}" for place, value in enumerate(values, 1))
    return f"cast(case key {chosen} end as {kind})"


def payload(frame: DataFrame) -> DataFrame:
    columns = {kind: of_type(kind, values) for kind, values in CARRIED.items()} | MORE
    return frame.select("*", *(F.expr(text).alias(name) for name, text in columns.items()))


def as_text(frame: DataFrame) -> DataFrame:
    """All columns as text, by number: Python has no values for many of them."""
    numbers = [f"n{place}" for place in range(len(frame.columns))]
    shown = []
    for number, field in zip(numbers, frame.schema, strict=True):
        kind = field.dataType.simpleString()
        column = F.expr(f"st_asbinary({number})") if kind[:3] == "geo" else F.col(number)
        column = F.hex(column) if kind[:3] in ("geo", "bin") else column
        shown.append(column.cast("string").alias(number))
    return frame.toDF(*numbers).select(*shown)


def side(spark: SparkSession, folder: Path, time: str) -> DataFrame:
    """Keys and times in two files, so that the second batch finds rows stored by the first."""
    keys = pa.array(range(ROWS), pa.int64())
    batches = [
        pa.table({"key": keys, time: timestamps(START_US + 1_000_000 * (first + keys.to_numpy()))})
        for first in (0, ROWS)
    ]
    write_side(folder, batches)
    return read_side(spark, folder, f"key bigint, {time} timestamp", time)


def bounded(spark: SparkSession, folder: Path, time: str) -> DataFrame:
    return spark.read.schema(f"key bigint, {time} timestamp").parquet(str(folder))


def make_join(**changed: object) -> hg.WindowJoin:
    return hg.WindowJoin(
        **{
            "on": "key",
            "left": hg.Side("at", "1 minute"),
            "right": hg.Side("then", "1 minute"),
            "budget": hg.Budget(rows=1000),
            **changed,
        }
    )


@pytest.fixture
def far_from_utc(spark: SparkSession):
    """Settings in which conversions have something to do."""
    changed = {"spark.sql.session.timeZone": "Asia/Tokyo", "spark.sql.timeType.enabled": "true"}
    before = {name: spark.conf.get(name, None) for name in changed}
    for name, value in changed.items():
        spark.conf.set(name, value)
    yield
    for name, value in before.items():
        if value is None:
            spark.conf.unset(name)
        else:
            spark.conf.set(name, value)


class TestTypes:
    def test_every_type_comes_out_as_from_sparks_own_join(
        self, spark: SparkSession, tmp_path: Path, far_from_utc: None
    ) -> None:
        left, right = (
            side(spark, tmp_path / name, time) for name, time in (("l", "at"), ("r", "then"))
        )
        whole = [
            bounded(spark, tmp_path / name, time) for name, time in (("l", "at"), ("r", "then"))
        ]
        exact = payload(whole[0]).join(whole[1], "key")
        rows = multiset(as_text(exact))
        assert rows.total() == 4 * ROWS

        streamed = make_join().stream(payload(left), right)
        assert [field.dataType.simpleString() for field in streamed.schema] == [
            field.dataType.simpleString() for field in exact.schema
        ]
        found = collect(as_text(streamed), tmp_path / "checkpoint")
        assert differing(found.rows, rows, streamed) == []
        replayed = make_join().batch(payload(whole[0]), whole[1])
        assert differing(multiset(as_text(replayed)), rows, replayed) == []

    @pytest.mark.parametrize(
        ("expression", "says"),
        [
            ("make_interval(1, 2, 3)", '"odd" of the left side is interval, .* cast it to string'),
            ("array(make_interval(1))", "is array<interval>, with interval inside"),
            ("array()", "is array<void>, with void inside, .* cast it to a type with values"),
            ("named_struct('m', map())", "is struct<m:map<void,void>>, with void inside"),
        ],
    )
    def test_what_cannot_be_carried_is_refused_at_the_call(
        self, spark: SparkSession, tmp_path: Path, expression: str, says: str
    ) -> None:
        left, right = side(spark, tmp_path / "l", "at"), side(spark, tmp_path / "r", "then")
        whole, other = (
            bounded(spark, tmp_path / name, at) for name, at in (("l", "at"), ("r", "then"))
        )
        odd = F.expr(expression).alias("odd")
        windows = {"left": hg.Side("at", "1 minute"), "right": hg.Side("then", "1 minute")}
        lookup = hg.CachedLookup(
            on="key", table=hg.ArrowTable(pa.table({"key": [1]})), budget=hg.Budget(rows=5)
        )
        calls: list[Callable[[], object]] = [
            lambda: make_join().stream(left.select("*", odd), right),
            lambda: make_join().batch(whole.select("*", odd), other),
            lambda: hg.profile(whole.select("*", odd), other, on="key", **windows),
            lambda: hg.whatif(whole.select("*", odd), other, join=make_join()),
        ]
        for call in calls:
            with pytest.raises(hg.SpecError, match=says):
                call()
        elsewhere = says.replace("the left side", "the stream")
        with pytest.raises(hg.SpecError, match=elsewhere):
            lookup.stream(left.select("*", odd))
        with pytest.raises(hg.SpecError, match=says.replace("the left side", "the table.*")):
            hg.SparkTable(whole.select("*", odd))

    def test_vectors_are_refused_with_a_way_out(self, spark: SparkSession, tmp_path: Path) -> None:
        from pyspark.ml.linalg import VectorUDT

        side(spark, tmp_path / "r", "then")
        schema = StructType.fromDDL("key bigint, at timestamp").add(StructField("v", VectorUDT()))
        frame = spark.createDataFrame([], schema)
        with pytest.raises(hg.SpecError, match=r'"v" of the left side is vector.*vector_to_array'):
            make_join().batch(frame, bounded(spark, tmp_path / "r", "then"))


def differing(found: Counter, rows: Counter, frame: DataFrame) -> list[str]:
    """The columns of a result whose values are not the exact ones."""
    return [
        name
        for place, name in enumerate(frame.columns)
        if Counter(row[place] for row in found.elements())
        != Counter(row[place] for row in rows.elements())
    ] or (["rows"] if found != rows else [])


KEY, AT, THEN = "__headgate_time", "x`y.z", "__headgate_sequence"
NAMES = (
    *(f"__headgate_{name}" for name in ("shard", "weight", "label", "hash", "bucket", "left")),
    *("shard", "side", "part", "ordinal", "blob", "label", "time", "left", "right", "position"),
    *("c0", "c1", "key0", "hash", "count", "n", "a.b", "a.b.c", "`", "``", "", " ", "Ä"),
    *("case", "CASE", "*", "value", "weight"),
)
"""Names that we use ourselves, that Spark reads in its own way, or that are hardly any."""


def renamed(frame: DataFrame, time: str) -> DataFrame:
    """The key and time under odd names, with a column of each of the others."""
    more = [(F.col("key") + place).alias(name) for place, name in enumerate(NAMES)]
    return frame.toDF("key", "time").select(
        F.col("key").alias(KEY), F.col("time").alias(time), *more
    )


def odd_join(**changed: object) -> hg.WindowJoin:
    return make_join(
        **{
            "on": KEY,
            "left": hg.Side(AT, "1 minute"),
            "right": hg.Side(THEN, "1 minute"),
            **changed,
        }
    )


class TestNames:
    def test_columns_may_have_any_name(self, spark: SparkSession, tmp_path: Path) -> None:
        counts = dict.fromkeys(range(ROWS), 1.0)
        weighing = odd_join(policy="prob", frequencies=hg.Frequencies.of_mappings(counts, counts))
        streams = [
            renamed(side(spark, tmp_path / name, time), odd)
            for name, time, odd in (("l", "at", AT), ("r", "then", THEN))
        ]
        whole = [
            renamed(bounded(spark, tmp_path / name, time), odd)
            for name, time, odd in (("l", "at", AT), ("r", "then", THEN))
        ]
        shown = [KEY, AT, *NAMES, THEN, *(f"{name}_right" for name in NAMES)]
        exact = multiset(
            as_text(
                whole[0]
                .toDF(*(f"l{place}" for place in range(len(NAMES) + 2)))
                .join(whole[1].toDF("l0", *(f"r{place}" for place in range(len(NAMES) + 1))), "l0")
            )
        )
        assert exact.total() == 4 * ROWS
        for place, join in enumerate((weighing, odd_join()) if LONG else (weighing,)):
            result = join.stream(*streams)
            assert result.columns == shown
            assert WATERMARK in result.schema[AT].metadata
            assert collect(as_text(result), tmp_path / f"checkpoint{place}").rows == exact
        replayed = weighing.batch(*whole)
        assert replayed.columns == shown
        assert multiset(as_text(replayed)) == exact

        if not LONG:
            return
        banded = odd_join(on=None, where=hg.Band(KEY, lower=0, upper=0))
        replayed = banded.batch(*whole, shards=2)
        assert replayed.count() == 4 * ROWS

        windows = {"left": hg.Side(AT, "1 minute"), "right": hg.Side(THEN, "1 minute")}
        assert hg.profile(*whole, on=KEY, **windows).rows.left.rows == 2 * ROWS
        asked = {"share": 0.5, "policies": "fifo", "memory": "1 MB", "optimum": False}
        assert len(hg.whatif(*whole, join=odd_join(), **asked).points) == 1

    @pytest.mark.long
    def test_a_lookup_may_have_any_names(self, spark: SparkSession, tmp_path: Path) -> None:
        frame = renamed(side(spark, tmp_path / "l", "at"), AT)
        frame = frame.select("*", F.expr("make_ym_interval(1, 2)").alias("interval"))
        names = [KEY, "a.b", "`", "__headgate_weight", "Interval"]
        table = spark.range(ROWS).toDF("key").select(*(F.col("key").alias(name) for name in names))
        lookup = hg.CachedLookup(
            on=KEY,
            table=hg.SparkTable(table, snapshot=str(tmp_path / "snapshot")),
            budget=hg.Budget(rows=100),
        )
        result = lookup.stream(frame)
        assert result.columns == [*frame.columns, *(f"{name}_table" for name in names[1:])]
        assert collect(as_text(result), tmp_path / "checkpoint").rows.total() == 2 * ROWS
        rows = lookup.run(frame_of(spark, tmp_path)).rows
        assert rows.column("a.b_table").to_pylist() == list(range(ROWS)) * 2

    def test_names_that_differ_by_case_alone_get_the_suffix(self, spark: SparkSession) -> None:
        left = spark.createDataFrame([], "key int, at timestamp, note int")
        right = spark.createDataFrame([], "key int, then timestamp, Note int, NOTE int")
        shown = ["key", "at", "note", "then", "Note_right", "NOTE_right"]
        assert make_join().batch(left, right).columns == shown
        tables = (left.toArrow(), right.toArrow())
        assert make_join().run(*tables).pairs.column_names == shown
        taken = left.withColumnRenamed("at", "NOTE_RIGHT")
        with pytest.raises(hg.SpecError, match='two columns "Note_right"'):
            make_join(left=hg.Side("NOTE_RIGHT", "1 minute")).batch(taken, right)
        with pytest.raises(hg.SpecError, match=r"it has key, at, note \(upper and lower case"):
            make_join(on="Key").batch(left, right)
        importance = right.toDF("key", "then", "Importance", "more")
        with pytest.raises(hg.SpecError, match='a column "importance" already'):
            make_join(goal=hg.MaxImportance(left="note")).batch(left, importance)

    def test_joins_of_one_query_need_metrics_of_different_names(
        self, spark: SparkSession, tmp_path: Path
    ) -> None:
        left, right = side(spark, tmp_path / "l", "at"), side(spark, tmp_path / "r", "then")
        other = side(spark, tmp_path / "o", "later")
        first = make_join().stream(left, right)
        second = make_join(right=hg.Side("later", "1 minute"))
        with pytest.raises(hg.SpecError, match=r'metrics of that name already.*name="headgate_2"'):
            second.stream(first, other)
        assert second.stream(first, other, name="second").isStreaming
        lookup = hg.CachedLookup(
            on="key", table=hg.ArrowTable(pa.table({"key": [1]})), budget=hg.Budget(rows=5)
        )
        with pytest.raises(hg.SpecError, match="metrics of that name already"):
            lookup.stream(first)
        for name in ("", None):
            with pytest.raises(hg.SpecError, match="give the metrics a name"):
                make_join().stream(left, right, name=name)

    def test_a_watermark_goes_to_a_column_of_any_name(
        self, spark: SparkSession, tmp_path: Path
    ) -> None:
        frame = side(spark, tmp_path / "l", "at").toDF("key", AT)
        marked = with_watermark(frame, AT, "1 second")
        assert marked.schema[AT].metadata[WATERMARK] == 1000
        bare = spark.readStream.schema("key bigint, `a.b` timestamp").parquet(str(tmp_path / "l"))
        right = side(spark, tmp_path / "r", "then")
        with pytest.raises(hg.SpecError, match=r'withWatermark\("`a.b`"'):
            make_join(left=hg.Side("a.b", "1 minute")).stream(bare, right)


def frame_of(spark: SparkSession, folder: Path) -> pa.Table:
    return renamed(bounded(spark, folder / "l", "at"), AT).toArrow()
