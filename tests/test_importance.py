"""How the importance of rows is told: by categories, histograms, and what users give."""

import math
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import headgate as hg
from headgate.spec import parse_importance
from headgate.spec.importance.importance import cleaned
from tests.importances import INF, ROWS, checked, message
from tests.thoroughness import examples

# Cleaning


@pytest.mark.parametrize("nothing", [None, math.nan, INF, -INF, -1.0, -0.0])
def test_what_is_not_known_counts_for_nothing(nothing: float | None) -> None:
    found = cleaned(pa.array([2.0, nothing]))
    assert found.tolist() == [2.0, 0.0]
    assert not np.signbit(found).any()


def test_large_whole_numbers_are_rounded_not_refused() -> None:
    assert cleaned(pa.array([2**62 + 1])).tolist() == [float(2**62)]


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


@examples(60)
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


@examples(150)
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
        (-1, "left: value=-1 is not an importance"),
        (math.nan, "left: value=nan is not an importance"),
        (True, "left=True is not an importance"),
        (
            ["price"],
            "left=['price'] is not an importance: give a column or expression as text",
        ),
        ({"a": 1}, 'does not say which column has the categories: give hg.Categories("column", '),
    ],
)
def test_what_does_not_tell_importance(given: Any, says: str) -> None:
    assert says in message(hg.MaxImportance, left=given)
