"""Importance by expressions: what Spark itself computes, whichever functions are used."""

from collections.abc import Iterator
from datetime import UTC, date, datetime
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest
from pyspark.sql import DataFrame, SparkSession

import headgate as hg
from headgate.spec.importance.importance import cleaned

pytestmark = pytest.mark.spark

ZONE = "America/New_York"
"""Far from UTC, and with a change of clocks."""

NUMBERS = """
a + b | a - b - 1 | a - (b - 1) | -a * 2 | a / b | 1 / a | coalesce(a / b, 5) | a / b / 2
a div b | exact div 2 | a % b | mod(a, b) | pmod(a, b) | a % 0 | a * 0.1 | exact * 1.5
abs(a) | sign(a) | round(price) | round(price, 1) | floor(price) | ceil(exact) | a & 3 | a ^ 3
ln(a) | coalesce(ln(a), 5) | log(price) | log(2, a) | log10(price) | log2(a) | log1p(price)
exp(a) | expm1(price) | pow(a, 2) | power(price, 0.5) | sqrt(a) | hypot(a, b)
greatest(a, b) | least(a, b, 100) | greatest(price, a) | shiftleft(a, 2) | try_divide(a, b)
"""
CONDITIONS = """
case when a > 0 then a when b > 0 then 0.5 else 2 end | case text when 'abc' then 3 else 1 end
if(a > 1, 10, 3) | coalesce(a, b, 9) | nvl(price, 5) | nvl2(a, b, 7) | nullif(a, 25)
decode(a, 1, 10, 3, 30, 5) | a between 1 and 10 | a <=> b | a = b | a != b | a is null
isnull(a) | isnotnull(a) | zeroifnull(a) + 1 | isnan(price) | not flag | flag and a > 0
flag or a is null | a in (1, 3) | case when a / b > 1 then 2 else 1 end
"""
CASTS = """
cast(flag as int) | int(flag) | cast(a > 1 as double) | cast(a as boolean) | cast(text as boolean)
cast(text as int) | int(text) | double(text) | bigint(text) | cast(price as int) | tinyint(a)
cast(-2.7 as int) + a | cast(exact as int) | cast(price as decimal(10, 1)) | decimal(price)
coalesce(cast(text as int), 4) | cast(a as string) = '25' | a = '25' | price > '2'
"""
TEXTS = r"""
upper(text) = 'ABC' | lower(text) like 'a%' | text like 'x\\_y' | text not like 'x\\_y'
text like 'x!_y' escape '!' | text ilike 'ABC' | text rlike '^[a-z]+$' | text in ('abc', 'x_y')
text not in ('abc') | length(text) | length(trim(text)) | substring(text, 1, 1) = 'a'
substr(text, 0, 2) = 'ab' | length(substr(text, -2, 2)) | instr(text, 'b') | locate('b', text)
concat(text, 'x') = 'abcx' | length(text || 'zz') | startswith(text, 'a') | contains(text, '_')
left(text, 2) = 'ab' | length(replace(text, 'b', 'bbb')) | text > 'b'
length(regexp_extract(text, '(b)(c)', 2)) | text = "abc" | split(text, 'b')[0] = 'a'
"""
TIMES = """
hour(at) | minute(at) | second(at) | year(at) | month(at) | day(at) | dayofweek(at) | weekday(at)
dayofyear(day) | weekofyear(day) | quarter(day) | extract(hour from at) | extract(dow from at)
extract(dow_iso from at) | extract(second from at) | datediff(at, date'2026-01-01')
datediff(day, '2020-01-01') | datediff(day, at, until) | datediff(minute, at, until)
date_diff(hour, at, until) | timestampdiff(month, at, until) | unix_timestamp(at)
unix_timestamp(day) | unix_seconds(at) | unix_millis(at) | unix_timestamp(date_trunc('hour', at))
at > timestamp'2026-01-04 00:00:00' | at > '2026-01-04' | day >= '2026-01-01' | to_date(at) = day
cast(at as date) = day | at + interval 1 day > until | date_add(day, 1) = date'2026-02-01'
datediff(last_day(day), day) | datediff(add_months(day, 1), day) | trunc(day, 'month') = day
"""
NESTED = """
item.price | item.size.width * 2 | prices[0] | size(prices) | array_contains(prices, 3)
array_max(prices)
"""
EXPRESSIONS = [
    expression.strip()
    for group in (NUMBERS, CONDITIONS, CASTS, TEXTS, TIMES, NESTED)
    for line in group.strip().splitlines()
    for expression in line.split(" | ")
]


def moments(*given: datetime | None) -> pa.Array:
    """Times as Spark hands them to Python: in the zone of the session."""
    return pa.array(given, pa.timestamp("us", "UTC")).cast(pa.timestamp("us", ZONE))


ROWS = pa.table(
    {
        "a": pa.array([1, -7, None, 0, 25, 3], pa.int64()),
        "b": pa.array([2, 0, 3, None, -4, 7], pa.int32()),
        "price": [0.0, 2.5, None, -1.25, 1e6, float("nan")],
        "exact": pa.array(
            [Decimal(text) if text else None for text in ("1.5", "0", "", "-2.25", "99.99", "7")],
            pa.decimal128(10, 2),
        ),
        "text": ["abc", "1.7", " 12 ", None, "Äpfel", "x_y"],
        "flag": [True, False, None, True, False, True],
        "at": moments(
            datetime(2026, 7, 1, 23, 30, 15, 500_000, UTC),
            datetime(2026, 1, 4, 3, 5, tzinfo=UTC),
            None,
            datetime(1999, 12, 31, 23, 59, 59, tzinfo=UTC),
            datetime(2026, 3, 8, 7, 0, tzinfo=UTC),
            datetime(2024, 2, 29, 12, 0, tzinfo=UTC),
        ),
        "until": moments(
            datetime(2026, 7, 3, 23, 30, 15, tzinfo=UTC),
            datetime(2026, 1, 4, 3, 4, 1, tzinfo=UTC),
            datetime(2026, 1, 1, tzinfo=UTC),
            datetime(2026, 12, 31, 23, 59, 59, tzinfo=UTC),
            datetime(2026, 3, 9, 6, 59, tzinfo=UTC),
            None,
        ),
        "day": [
            date(2026, 7, 1),
            date(2026, 1, 31),
            None,
            date(1969, 12, 31),
            date(2024, 2, 29),
            date(2026, 1, 4),
        ],
        "prices": [[1, 2], [], None, [3], [4, None], [5]],
        "item": [{"price": 1, "size": {"width": 2.5}}] * 5 + [None],
    }
)


@pytest.fixture(scope="module")
def frame(spark: SparkSession) -> Iterator[DataFrame]:
    """The rows on Spark, where what has no value is null: ANSI mode would raise an error."""
    wanted = {"spark.sql.ansi.enabled": "false", "spark.sql.session.timeZone": ZONE}
    before = {name: spark.conf.get(name) for name in wanted}
    for name, value in wanted.items():
        spark.conf.set(name, value)
    yield spark.createDataFrame(ROWS)
    for name, value in before.items():
        spark.conf.set(name, value)


@pytest.fixture(scope="module")
def by_spark(frame: DataFrame) -> dict[str, np.ndarray]:
    """What each expression is for each row, all computed at once."""
    columns = [f"cast(({sql}) as double) as `{place}`" for place, sql in enumerate(EXPRESSIONS)]
    found = frame.selectExpr(*columns).toArrow()
    return {sql: cleaned(found.column(place)) for place, sql in enumerate(EXPRESSIONS)}


@pytest.mark.parametrize("sql", EXPRESSIONS)
def test_expressions_are_what_spark_computes(sql: str, by_spark: dict[str, np.ndarray]) -> None:
    importance = hg.Expression(sql)
    importance.check(ROWS.schema, "left")
    np.testing.assert_allclose(importance.of(ROWS), by_spark[sql], rtol=1e-12)


def test_hours_in_a_worker_are_of_the_session(frame: DataFrame) -> None:
    importance = hg.Expression("hour(at) + 0")

    def worth(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            found = importance.of(pa.Table.from_batches([batch]))
            yield pa.record_batch({"found": found, "hour": batch.column("hour")})

    hours = frame.selectExpr("at", "coalesce(double(hour(at)), 0) as hour")
    rows = hours.mapInArrow(worth, "found double, hour double").collect()
    assert len(rows) == ROWS.num_rows
    assert all(row.found == row.hour for row in rows)
