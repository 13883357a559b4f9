"""How the importance of rows is told, computed, combined and handed on."""

import json
import math
import os
import pickle
import subprocess
import sys
import threading
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import headgate as hg
from headgate.spec import Combine, Importance, SpecError, parse_importance
from headgate.spec.importance.base import cleaned

INF = math.inf

ROWS = pa.table(
    {
        "price": [10.0, 4.0, None, -1.0],
        "quantity": pa.array([1, 2, 3, 0], pa.int32()),
        "category": ["sports", "politics", None, "weather"],
        "wanted": [True, False, None, True],
        "day": pa.array([date(2026, 1, day) for day in (1, 2, 3, 4)]),
        "seen at": pa.array([0, 1, 2, None], pa.timestamp("us", "UTC")),
        "exact": pa.array([Decimal("1.50"), None, Decimal("-2.00"), Decimal("7.25")]),
    }
)


def message(call: Any, *args: Any, **kwargs: Any) -> str:
    """What the error says."""
    with pytest.raises(SpecError) as error:
        call(*args, **kwargs)
    return str(error.value)


def checked(importance: Importance, table: pa.Table = ROWS) -> list[float]:
    """What rows are worth, once the schema is found to do, in the same form from all copies."""
    importance.check(table.schema, "left")
    found = importance.of(table)
    assert found.dtype == np.float64
    assert found.shape == (table.num_rows,)
    for copy in (
        Importance.from_json(json.loads(json.dumps(importance.to_json()))),
        pickle.loads(pickle.dumps(importance)),
    ):
        assert copy == importance
        assert hash(copy) == hash(importance)
        np.testing.assert_array_equal(copy.of(table), found)
    chunked = pa.concat_tables([table.slice(0, 1), table.slice(1)])
    np.testing.assert_array_equal(importance.of(chunked), found)
    assert importance.of(table.slice(0, 0)).tolist() == []
    return found.tolist()


# Cleaning


@pytest.mark.parametrize("nothing", [None, math.nan, INF, -INF, -1.0, -0.0])
def test_what_is_not_known_counts_for_nothing(nothing: float | None) -> None:
    found = cleaned(pa.array([2.0, nothing]))
    assert found.tolist() == [2.0, 0.0]
    assert not np.signbit(found).any()


def test_large_whole_numbers_are_rounded_not_refused() -> None:
    assert cleaned(pa.array([2**62 + 1])).tolist() == [float(2**62)]


# Columns and expressions


@pytest.mark.parametrize(
    ("sql", "worth"),
    [
        ("price", [10.0, 4.0, 0.0, 0.0]),
        (" quantity ", [1.0, 2.0, 3.0, 0.0]),
        ("wanted", [1.0, 0.0, 0.0, 1.0]),
        ("exact", [1.5, 0.0, 0.0, 7.25]),
        ("`price`", [10.0, 4.0, 0.0, 0.0]),
        ("price * quantity", [10.0, 8.0, 0.0, 0.0]),
        ("10 / quantity", [10.0, 5.0, 10 / 3, 0.0]),
        ("coalesce(10 / quantity, 7)", [10.0, 5.0, 10 / 3, 7.0]),
        ("coalesce(ln(price), 5)", [math.log(10), math.log(4), 5.0, 5.0]),
        ("coalesce(cast(category as int), 2)", [2.0, 2.0, 2.0, 2.0]),
        ("price > 5", [1.0, 0.0, 0.0, 0.0]),
        ("category like 's%'", [1.0, 0.0, 0.0, 0.0]),
        ("quantity * 2147483647", [2147483647.0, 0.0, 0.0, 0.0]),
        ("hour(`seen at`) + 1", [1.0, 1.0, 1.0, 0.0]),
    ],
)
def test_expressions(sql: str, worth: list[float]) -> None:
    assert checked(hg.Expression(sql)) == pytest.approx(worth)


def test_a_dictionary_column_counts_like_its_values() -> None:
    table = pa.table({"n": pa.array([3, None, 3]).dictionary_encode()})
    assert checked(hg.Expression("n"), table) == [3.0, 0.0, 3.0]
    assert checked(hg.Expression("n + 1"), table) == [4.0, 0.0, 4.0]


def test_expressions_name_the_columns_they_read() -> None:
    assert hg.Expression("price").columns == ("price",)
    assert hg.Expression("`seen at`").columns == ("seen at",)
    assert hg.Expression("`a``b` + 1").columns == ("a`b",)
    assert hg.Expression("quantity + price * quantity").columns == ("quantity", "price")
    assert hg.Expression("item.price * 2").columns == ("item",)


def test_columns_whose_names_differ_in_case_alone_are_told_apart() -> None:
    table = pa.table({"a": [1], "A": [10], "select": [100]})
    assert checked(hg.Expression("a + A + `select`"), table) == [111.0]


def test_fields_of_structs() -> None:
    table = pa.table({"item": [{"price": 3, "size": {"width": 2}}, None]})
    assert checked(hg.Expression("item.price"), table) == [3.0, 0.0]
    assert checked(hg.Expression("item.size.width * 2"), table) == [4.0, 0.0]


def test_hours_are_of_the_zone_that_the_columns_have() -> None:
    midnight = pa.array([datetime(2026, 7, 1, tzinfo=UTC)])
    for zone, hour in (("UTC", 0), ("Asia/Tokyo", 9), ("America/New_York", 20)):
        table = pa.table({"at": midnight.cast(pa.timestamp("us", zone))})
        assert checked(hg.Expression("hour(at) * 1"), table) == [hour]


@pytest.mark.parametrize(
    ("sql", "says"),
    [
        ("", "importance '' is not an expression: give a column name or a Spark SQL expression"),
        ("price +", "importance 'price +' is not a Spark SQL expression: "),
        ("sum(price)", "has an aggregate (SUM(price)): give an expression over the columns of one"),
        ("1 + max(price)", "has an aggregate (MAX(price))"),
        ("sum(price) over (partition by day)", "has a window function (SUM(price) OVER"),
        ("row_number() over (order by day)", "has a window function"),
        ("(select 1)", "has a subquery ((SELECT 1))"),
        ("price in (select 1)", "has a subquery"),
        ("select price", "has a subquery"),
        ("count(*)", "has an aggregate (COUNT(*))"),
        ("explode(prices)", "has a function that makes several rows of one"),
        ("price; quantity", "is 2 statements: give one expression"),
        ("price, quantity", "is not a Spark SQL expression: "),
        ("price as p", "names its result: leave the name out"),
        ("seen at", "names its result: leave the name out, and put a column name with a space in"),
        ("price * :factor", "has a parameter (:factor)"),
        ("drop table prices", "is not an expression but a DROP statement"),
        ("rand() * price", "is another each time it is computed (RAND())"),
        ("datediff(current_date(), day)", "is another each time it is computed (CURRENT_DATE"),
        ("price * my_function(day)", "has MY_FUNCTION(day), which cannot be computed outside"),
        ("hash(category)", "has HASH(category), which cannot be computed outside Spark: add a"),
        ("pmod(price)", "has PMOD(price): pmod() takes 2"),
        ("unix_timestamp(category, 'yyyy')", "whose format cannot be read outside Spark"),
        ("1 + 1", "reads no column, so all rows would count the same: name a column, or give"),
    ],
)
def test_expressions_that_are_refused(sql: str, says: str) -> None:
    assert says in message(hg.Expression, sql)


@pytest.mark.parametrize(
    ("sql", "says"),
    [
        (
            "cost",
            "importance 'cost' of the left side reads column \"cost\", which is missing: there",
        ),
        ("cost * 2", 'reads column "cost", which is missing: there are "price", "quantity", '),
        ("Price", 'reads column "Price", which is missing'),
        ("category", "is a column of string: give one of numbers, decimals or booleans, or for "),
        ("day", "is a column of date32[day]"),
        ("upper(category)", "gives string: give an expression whose value is a number"),
        ("date_add(day, 1)", "gives timestamp[us]: give an expression whose value is a number"),
        ("price + category", "cannot be computed: Binder Error"),
        ("bigint(`seen at`) + 1", "casts a time to a number: write unix_timestamp(`seen at`)"),
        ("cast(`seen at` as long)", "casts a time to a number: write unix_timestamp(`seen at`)"),
    ],
)
def test_expressions_that_do_not_fit_the_columns(sql: str, says: str) -> None:
    assert says in message(hg.Expression(sql).check, ROWS.schema, "left")


def test_a_column_that_is_there_twice_is_not_guessed_at() -> None:
    twice = pa.schema([("n", pa.int64()), ("n", pa.int64())])
    assert 'reads column "n", and there are 2 of that name' in message(
        hg.Expression("n").check, twice, "left"
    )


def test_an_expression_says_which_extra_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    for package in ("duckdb", "sqlglot"):
        with monkeypatch.context() as patch:
            for name in ("spark_sql", "evaluation"):
                patch.delitem(sys.modules, f"headgate.spec.importance.{name}", raising=False)
            patch.setitem(sys.modules, package, None)
            assert checked(hg.Expression("price"))[0] == 10.0
            says = message(hg.Expression, "price * 2")
        assert f"{package} is missing to compute it" in says
        assert 'pip install "headgate[importance]"' in says


def test_expressions_in_several_threads() -> None:
    wrong: list[int] = []

    def work(number: int) -> None:
        table = pa.table({"n": np.arange(1000.0)})
        for _ in range(10):
            found = hg.Expression(f"n + {number}").of(table)
            if not np.array_equal(found, np.arange(1000.0) + number):
                wrong.append(number)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_a_forked_process_has_a_database_of_its_own() -> None:
    hg.Expression("price * 2").of(ROWS)
    child = os.fork()
    if child == 0:
        found = hg.Expression("price * 2").of(ROWS).tolist()
        os._exit(0 if found == [20.0, 8.0, 0.0, 0.0] else 1)
    assert os.waitpid(child, 0)[1] == 0


def test_importing_headgate_imports_neither_parser_nor_database() -> None:
    code = "import headgate, sys; print({'duckdb', 'sqlglot'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


# Categories


def test_categories_are_looked_up() -> None:
    news = hg.Categories("category", {"sports": 1, "politics": 3}, default=0.5)
    assert checked(news) == [1.0, 3.0, 0.5, 0.5]
    assert news.columns == ("category",)
    assert news == hg.Categories("category", {"politics": 3, "sports": 1}, default=0.5)


@pytest.mark.parametrize(
    ("values", "category"),
    [
        (pa.array([1, 2, None], pa.int8()), 2),
        (pa.array([1, 2, None], pa.uint64()), np.int32(2)),
        (pa.array([1, 2, None]), 2.0),
        (pa.array([1.0, 2.5, None], pa.float32()), 2.5),
        (pa.array([0.5, -0.0, None]), 0),
        (pa.array([Decimal("1.00"), Decimal("2.50"), None]), 2.5),
        (pa.array([Decimal("1.00"), Decimal("2.50"), None]), Decimal("2.5")),
        (pa.array([False, True, None]), True),
        (pa.array(["a", "b", None], pa.large_string()), "b"),
        (pa.array(["a", "b", None], pa.string_view()), "b"),
        (pa.array(["a", "b", None]).dictionary_encode(), "b"),
        (pa.array([b"a", b"b", None]), b"b"),
        (pa.array([date(2026, 1, 1), date(2026, 1, 2), None]), date(2026, 1, 2)),
        (pa.array([0, 1, None], pa.timestamp("us")), datetime(1970, 1, 1, 0, 0, 0, 1)),
        (
            pa.array([0, 1, None], pa.timestamp("us", "Asia/Tokyo")),
            datetime(1970, 1, 1, 9, 0, 0, 1, tzinfo=timezone(timedelta(hours=9))),
        ),
        (pa.array([0, 1_000_000, None], pa.timestamp("us")), pd.Timestamp(1, unit="s")),
    ],
)
def test_categories_of_every_type(values: pa.Array, category: Any) -> None:
    assert checked(hg.Categories("c", {category: 4}, 1), pa.table({"c": values})) == [1, 4, 1]


@settings(max_examples=60, deadline=None)
@given(
    table=st.dictionaries(st.text(max_size=2), st.floats(0, 1e9), min_size=1),
    rows=st.lists(st.none() | st.text(max_size=2)),
    default=st.floats(0, 1e9),
)
def test_categories_are_a_dict(
    table: dict[str, float], rows: list[str | None], default: float
) -> None:
    found = hg.Categories("c", table, default).of(pa.table({"c": pa.array(rows, pa.string())}))
    assert found.tolist() == [
        table.get(row, default) if row is not None else default for row in rows
    ]


def test_categories_from_a_table() -> None:
    table = pa.table({"category": [1, 2], "importance": [0.5, 2.0]})
    expected = hg.Categories("kind", {1: 0.5, 2: 2}, 7)
    assert hg.Categories.from_table(table, "kind", default=7) == expected
    assert hg.Categories.from_table(table.to_pandas(), "kind", default=7) == expected
    assert 'reads column "id", which is missing: there are "category", "importance"' in message(
        hg.Categories.from_table, table, "kind", "id"
    )
    assert "dict is not a table" in message(hg.Categories.from_table, {}, "kind")


@pytest.mark.parametrize(
    ("table", "says"),
    [
        ({}, "the lookup table is empty: give at least one category"),
        ({None: 1}, "None is not a category: rows without one have the default, give default="),
        ({math.nan: 1}, "nan is not a category"),
        ({(1, 2): 1}, "(1, 2) is not a category: give text, numbers"),
        ({"a": 1, 2: 1}, "categories 'a' and 2 are of different types"),
        ({"a": -1}, "importance of 'a'=-1 is not an importance: give a number of zero or more"),
        ({"a": "b"}, "importance of 'a'='b' is not an importance"),
        ({"a": INF}, "is not an importance"),
        ({"a": True}, "is not an importance"),
        ([("a", 1), ("a", 2)], "category 'a' is there twice: give it once"),
        ("ab", "table 'ab' of Categories is not a lookup table: give a dict such as"),
        (3, "table 3 of Categories is not a lookup table"),
    ],
)
def test_lookup_tables_that_are_refused(table: Any, says: str) -> None:
    assert says in message(hg.Categories, "category", table)


@pytest.mark.parametrize(
    ("column", "category", "says"),
    [
        ("topic", "a", 'reads column "topic", which is missing: there are "price"'),
        ("category", 1, 'category 1 is a number, and column "category" is string: give text'),
        ("quantity", "1", "category '1' is text, and column \"quantity\" is int32: give a number"),
        ("quantity", True, "category True is a boolean, and"),
        ("quantity", 1.5, 'category 1.5 can never be in column "quantity" (int32): leave it out'),
        ("quantity", 2**40, "can never be in column"),
        ("exact", Decimal("1.555"), "can never be in column"),
        ("day", datetime(2026, 1, 1), "give a datetime.date"),
        ("seen at", date(2026, 1, 1), "give a datetime.datetime"),
        ("seen at", datetime(2026, 1, 1), "give datetimes with a tzinfo, such as datetime.UTC"),
    ],
)
def test_categories_that_do_not_fit_the_column(column: str, category: Any, says: str) -> None:
    assert says in message(hg.Categories(column, {category: 1}).check, ROWS.schema, "right")


def test_long_tables_are_shown_in_part() -> None:
    shown = repr(hg.Categories("n", dict.fromkeys(range(20_000), 1)))
    assert "20,000 in all" in shown
    assert len(shown) < 300


# Histograms


def test_bins_have_their_lower_edge_and_not_the_upper() -> None:
    table = pa.table({"n": [-1, 0, 9, 10, 99, 100, None]})
    assert checked(hg.Histogram("n", [0, 10, 100], [1, 5]), table) == [0, 1, 1, 5, 5, 0, 0]
    assert checked(hg.Histogram("n", [-INF, 0.5, INF], [1, 5]), table) == [1, 1, 5, 5, 5, 5, 0]
    assert checked(hg.Histogram("n", [-INF, INF], [2]), table) == [2, 2, 2, 2, 2, 2, 0]


def plain_histogram(edges: list[Any], worth: list[float], value: Any) -> float:
    """The definition: the bin whose lower edge is at or below, and whose upper one is above."""
    for lower, upper, amount in zip(edges, edges[1:], worth, strict=False):
        if value is not None and lower <= value < upper:
            return amount
    return 0.0


@settings(max_examples=150, deadline=None)
@given(data=st.data(), real=st.booleans(), whole_edges=st.booleans())
def test_histograms_are_a_loop_over_bins(
    data: st.DataObject, real: bool, whole_edges: bool
) -> None:
    whole = st.integers(-(2**63), 2**63 - 1) | st.integers(-5, 5)
    reals = st.floats(allow_nan=False) | st.integers(-5, 5).map(float)
    edge = (st.integers(-(2**70), 2**70) | st.integers(-5, 5)) if whole_edges else reals
    edges = sorted(set(data.draw(st.lists(edge, min_size=2, max_size=6, unique=True))))
    worth = data.draw(st.lists(st.floats(0, 9), min_size=len(edges) - 1, max_size=len(edges) - 1))
    values = data.draw(st.lists(st.none() | (reals if real else whole)))
    column = pa.array(values, pa.float64() if real else pa.int64())
    if real and whole_edges:  # an edge is compared as the column's type holds it
        edges = sorted({float(edge) for edge in edges})
        worth = worth[: len(edges) - 1]
        if len(edges) < 2:
            return
    found = hg.Histogram("n", edges, worth).of(pa.table({"n": column}))
    assert found.tolist() == [plain_histogram(edges, worth, value) for value in values]


@pytest.mark.parametrize(
    "column",
    [
        pa.array([0, 3], pa.uint8()),
        pa.array([0, 3], pa.uint64()),
        pa.array([0, 3], pa.float32()),
        pa.array([Decimal("0.00"), Decimal("2.50")]),
        pa.array([0, 3]).dictionary_encode(),
    ],
)
def test_histograms_over_numbers_of_every_type(column: pa.Array) -> None:
    assert checked(hg.Histogram("n", [2, Decimal("2.75"), 9], [4, 4]), pa.table({"n": column})) == [
        0,
        4,
    ]


def test_histograms_over_time() -> None:
    days = hg.Histogram("day", [-INF, date(2026, 1, 2), date(2026, 1, 4)], [1, 2])
    assert checked(days) == [1, 2, 2, 0]
    start = datetime(1970, 1, 1, tzinfo=UTC)
    times = hg.Histogram("seen at", [start, start + timedelta(microseconds=2), INF], [1, 2])
    assert checked(times) == [1, 1, 2, 0]
    plain = hg.Histogram("t", [datetime(1970, 1, 1), pd.Timestamp(1, unit="s")], [3])
    table = pa.table({"t": pa.array([-1, 0, 999, 1000], pa.timestamp("ms"))})
    assert checked(plain, table) == [0, 3, 3, 0]


@pytest.mark.parametrize(
    ("edges", "worth", "says"),
    [
        ([0, 1], [1, 2], "2 edges and 2 values: give one edge more than values"),
        ([], [], "0 edges and 0 values"),
        ([1, 0], [1], "edge 0 comes after 1: give edges that ascend, each once"),
        ([0, 0], [1], "edge 0 comes after 0"),
        ([0, -INF, 1], [1, 1], "edge -inf comes after 0"),
        ([INF, 1], [1], "edge 1 comes after inf"),
        ([0, math.nan], [1], "nan is not an edge: give numbers, dates or datetimes"),
        (["a", "b"], [1], "'a' is not an edge"),
        ([True, 2], [1], "True is not an edge"),
        ([0, date(2026, 1, 1)], [1], "are of different types"),
        ([0, 1], [-1], "importance=-1 is not an importance"),
        (3, [1], "3 is none"),
    ],
)
def test_histograms_that_are_refused(edges: Any, worth: Any, says: str) -> None:
    assert says in message(hg.Histogram, "n", edges, worth)


@pytest.mark.parametrize(
    ("column", "edges", "says"),
    [
        ("cost", [0, 1], 'the histogram of importance over "cost" of the left side reads column'),
        ("category", [0, 1], 'edge 0 is a number, and column "category" is string: give text'),
        ("category", [-INF, INF], "is string"),
        ("wanted", [0, 1], "is bool"),
        ("day", [0, 1], "is date32[day]: give a date"),
        ("seen at", [datetime(2026, 1, 1), INF], "give datetimes with a tzinfo"),
    ],
)
def test_histograms_that_do_not_fit_the_column(column: str, edges: Any, says: str) -> None:
    assert says in message(hg.Histogram(column, edges, [1]).check, ROWS.schema, "left")


# What users give


def test_what_users_give_is_parsed() -> None:
    news = hg.Categories("category", {"sports": 1})
    assert parse_importance("price", "left") == hg.Expression("price")
    assert parse_importance(2, "left") == hg.Source(2)
    assert parse_importance(np.float32(2), "left") == hg.Source(2)
    assert parse_importance(news, "left") is news
    assert parse_importance(None, "left") is None
    assert checked(hg.Source(2)) == [2.0] * 4


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (-1, "left: value=-1.0 is not an importance"),
        (math.nan, "left: value=nan is not an importance"),
        (True, "left=True does not tell importance"),
        (["price"], "left=['price'] does not tell importance: give a column or expression as text"),
        ({"a": 1}, 'does not say which column has the categories: give hg.Categories("column", '),
    ],
)
def test_what_does_not_tell_importance(given: Any, says: str) -> None:
    assert says in message(hg.MaxImportance, left=given)


# The goal


def test_importance_of_pairs() -> None:
    left, right = np.array([2.0, 3.0]), np.array([5.0, 0.5])
    expected = {"min": [2, 0.5], "product": [10, 1.5], "sum": [7, 3.5], "max": [5, 3]}
    for combine, worth in expected.items():
        goal = hg.MaxImportance("price", "price", combine=combine)  # type: ignore[arg-type]
        assert goal.pair(left, right).tolist() == worth
        assert goal.code == Combine[combine.upper()]
    assert hg.MaxImportance(left="price", combine="sum").pair(left, right).tolist() == [2, 3]
    assert hg.MaxImportance(right="price", combine="sum").pair(left, right).tolist() == [5, 0.5]
    assert [int(code) for code in Combine] == list(range(7))


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({}, "MaxImportance is told the importance of neither side: give left=, right=, or both"),
        ({"left": 1, "combine": "mean"}, 'combine=\'mean\' is unknown: give one of "min", "prod'),
        ({"left": 1, "column": ""}, "column='' is not a name"),
        ({"left": 1, "fairness": 2}, "fairness=2 is not accepted: give the share of decisions"),
        ({"left": 1, "fairness": math.nan}, "fairness=nan is not accepted"),
    ],
)
def test_goals_that_are_refused(arguments: dict[str, Any], says: str) -> None:
    assert says in message(hg.MaxImportance, **arguments)


GOAL = hg.MaxImportance(
    hg.Histogram("price", [-INF, 3, INF], [1, 2]),
    hg.Categories("day", {date(2026, 1, 2): 3}),
    combine="product",
    column="worth",
    fairness=0.25,
)


def test_goals_survive_the_journey() -> None:
    assert hg.MaxImportance.from_json(GOAL.to_json()) == GOAL
    assert pickle.loads(pickle.dumps(GOAL)) == GOAL
    assert hash(pickle.loads(pickle.dumps(GOAL))) == hash(GOAL)
    assert isinstance(GOAL, hg.Goal)
    GOAL.check((ROWS.schema, ROWS.schema))
    assert GOAL.evaluate(ROWS, 0).tolist() == [2, 2, 0, 1]
    assert GOAL.evaluate(ROWS, 1).tolist() == [0, 3, 0, 0]


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"left": 3}', "x" * 1000])
def test_text_that_is_no_definition(text: str) -> None:
    says = message(hg.MaxImportance.from_json, text)
    assert "is not a definition of importance" in says
    assert len(says) < 300


def test_definitions_of_a_kind_that_is_not_known() -> None:
    text = hg.MaxImportance(left="price").to_json().replace('"expression"', '"oracle"')
    assert 'importance of kind \'oracle\' is unknown: known are "categories", "expression"' in (
        message(hg.MaxImportance.from_json, text)
    )


def test_a_redefinition_changes_what_rows_are_worth_alone() -> None:
    now = hg.MaxImportance(left="price")
    later = hg.MaxImportance(left=2)
    assert now.redefined(later) is later
    other = hg.MaxImportance(left=1, right=1, combine="sum", column="worth", fairness=1)
    assert message(now.redefined, other) == (
        "a running join cannot take up this importance: sides was 'left' and is 'left and right'; "
        "combine was 'min' and is 'sum'; column was 'importance' and is 'worth'; fairness was 0.0 "
        "and is 1.0. Only what rows are worth may change: keep the rest, or start another join"
    )
    assert "give a MaxImportance" in message(now.redefined, hg.MaxSubset())


def test_a_definition_too_large_to_ship_says_what_to_do() -> None:
    table = hg.Categories("id", {f"category {number}": 1 for number in range(30_000)})
    says = message(hg.MaxImportance, left=table)
    assert "with its 30,000 categories, and at most 500,000 are shipped with every task" in says
    assert "put the importance into a column of the stream" in says


# Definitions in a folder


def test_published_definitions_come_back_in_order(tmp_path: Path) -> None:
    folder = tmp_path / "made" / "here"
    assert hg.read_changes(folder) == []
    goals = [hg.MaxImportance(left=number) for number in range(5)]
    moment = datetime(2026, 1, 1, 9, tzinfo=timezone(timedelta(hours=9)))
    moments: list[Any] = [None, moment, "2026-01-01T00:00:00.000001Z", None, "2025-01-01T00+00:00"]
    files = [goal.publish(folder, at) for goal, at in zip(goals, moments, strict=True)]
    assert files == sorted(folder.iterdir())
    micros = [None, 1_767_225_600_000_000, 1_767_225_600_000_001, None, 1_735_689_600_000_000]
    assert hg.read_changes(str(folder)) == list(zip(micros, goals, strict=True))
    line = files[1].read_text()
    assert line.endswith("\n")
    assert json.loads(line) == {
        "definition": goals[1].to_json(),
        "at": "2026-01-01T00:00:00.000000+00:00",
    }


def test_unfinished_and_foreign_files_are_passed_over(tmp_path: Path) -> None:
    hg.MaxImportance(left=1).publish(tmp_path)
    for name in (".0001.json.unfinished", ".hidden.json", "_metadata.json", "notes.txt"):
        (tmp_path / name).write_text("half a li")
    assert len(hg.read_changes(tmp_path)) == 1


def test_a_clock_set_back_does_not_change_the_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number, clock in enumerate((1000, 500, 500, 2000)):
        monkeypatch.setattr("time.time_ns", lambda clock=clock: clock)
        hg.MaxImportance(left=number).publish(tmp_path)
    assert [goal for _, goal in hg.read_changes(tmp_path)] == [
        hg.MaxImportance(left=number) for number in range(4)
    ]


@pytest.mark.parametrize(
    ("at", "says"),
    [
        ("noon", "at='noon' is not an event time: give a datetime with a zone, text such as"),
        (3, "at=3 is not an event time"),
        ("2026-01-01", "at='2026-01-01' does not say in which zone"),
        (datetime(2026, 1, 1), "does not say in which zone: give a datetime with a tzinfo"),
    ],
)
def test_moments_that_are_refused(tmp_path: Path, at: Any, says: str) -> None:
    assert says in message(hg.MaxImportance(left=1).publish, tmp_path, at)
    assert list(tmp_path.iterdir()) == []


def test_an_address_is_not_a_folder() -> None:
    says = message(hg.MaxImportance(left=1).publish, "s3://bucket/importance")
    assert "folder 's3://bucket/importance' is an address: give a folder" in says
