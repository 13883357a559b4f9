"""Definitions of importance that others wrote: whatever a file holds, reading it ends in an answer.

A running join reads definitions from a folder. Whoever can write to it must not be able to stop
the join: text is taken up, or refused with a `SpecError`, and never anything else.
"""

import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import headgate as hg
from headgate.engine.definitions import MOST_AHEAD, MOST_AT_ONCE, known_definitions
from headgate.kernel.step_progress import StepProgress
from headgate.models.cost import load_calibration
from headgate.spec.bounded_json import read_json
from headgate.spec.importance import Expression, evaluation
from headgate.spec.importance.spark_sql import Translation
from tests.thoroughness import examples

SCHEMA = pa.schema(
    {
        "key": pa.int64(),
        "price": pa.float64(),
        "exact": pa.decimal128(10, 2),
        "name": pa.string(),
        "at": pa.timestamp("us", "UTC"),
        "day": pa.date32(),
        "raw": pa.binary(),
        "large": pa.uint64(),
    }
)
GOAL = hg.MaxImportance(left="price")
ROWS = pa.table(
    {
        "key": pa.array([2**62, -(2**63), 0, 1, -1, None], pa.int64()),
        "price": [1.0, 0.0, float("nan"), float("inf"), -1e308, None],
        "exact": pa.array([*map(Decimal, range(5)), None], pa.decimal128(10, 2)),
        "name": ["a\\", "", "(", "%x\\", "1e999", None],
        "at": pa.array([0, 2**62, -(2**62), 1, 2, None], pa.timestamp("us", "UTC")),
        "day": pa.array([0, 2**31 - 1, -(2**31), 1, 2, None], pa.date32()),
        "raw": pa.array([b"\xff", b"", b"a", b"b", b"c", None]),
        "large": pa.array([2**64 - 1, 0, 1, 2, 3, None], pa.uint64()),
    },
    schema=SCHEMA,
)
"""Rows that are hard to compute with."""


def definition(left: Any, **others: Any) -> str:
    whole = {"left": left, "right": None, "combine": "min", "column": "importance", "fairness": 0}
    return json.dumps({**whole, **others})


def expression(sql: str) -> str:
    return definition({"kind": "expression", "sql": sql})


def categories(column: str, category: Any) -> str:
    parts = {"kind": "categories", "column": column, "table": [[category, 1]], "default": 0}
    return definition(parts)


def histogram(column: str, *edges: Any) -> str:
    return definition(
        {
            "kind": "histogram",
            "column": column,
            "edges": [0, *edges],
            "importance": [1] * len(edges),
        }
    )


POISON = {
    "deep lists": "[" * 100_000,
    "deep objects": '{"left":' * 5_000 + "1" + "}" * 5_000,
    "a long text": definition({"kind": "source", "value": 1}) + " " * 600_000,
    "a long sum": expression("+".join(["price"] * 3_000)),
    "a long conjunction": expression(" and ".join(["price > 1"] * 1_000)),
    "a long expression": expression("price in (" + ",".join(map(str, range(100_000))) + ")"),
    "deep brackets": expression("(" * 500 + "price" + ")" * 500),
    "many NOTs": expression("not " * 2_000 + "price > 1"),
    "many signs": expression("- " * 2_000 + "price"),
    "deep CASEs": expression("case when price > 1 then " * 300 + "1" + " else 0 end" * 300),
    "deep types": expression("cast(price as " + "array<" * 300 + "int" + ">" * 300 + ")"),
    "many subscripts": expression("name" + "[0]" * 1_000),
    "many casts": expression("price" + "::int" * 1_000),
    "functions that double": expression("log(" * 18 + "price" + ", price)" * 18),
    "a text of any length": expression("length(repeat(name, 1000000000))"),
    "a text of any width": expression("length(lpad(name, 2000000000, 'x'))"),
    "texts that multiply": expression(
        "length(" + "replace(" * 10 + "name" + ", 'a', 'aaaaaaaaaa')" * 10 + ")"
    ),
    "a huge number": definition({"kind": "source", "value": 10**400}),
    "a number too long to read": definition({"kind": "source", "value": 1}).replace(
        "1", "9" * 5000
    ),
    "a float too large": definition({"kind": "source", "value": 7}).replace("7", "1e400"),
    "no number": definition({"kind": "source", "value": float("nan")}),
    "infinity": definition({"kind": "source", "value": float("inf")}),
    "a pattern that ends in its escape": expression("name like 'a\\\\'"),
    "a pattern that ends in an escape of its own": expression("name like 'a!' escape '!'"),
    "an escape of two characters": expression("name like 'a' escape 'xy'"),
    "a broken regular expression": expression("name rlike '('"),
    "half a character in an expression": expression("price + \ud800"),
    "half a character as a column": categories("\ud800", "a"),
    "half a character as a category": categories("name", "\ud800"),
    "a zero byte": expression("price + \0 1"),
    "a list as combination": definition({"kind": "source", "value": 1}, combine=[]),
    "an object as column": definition({"kind": "source", "value": 1}, column={}),
    "a list as kind": definition({"kind": []}),
    "no decimal": categories("exact", {"decimal": "x"}),
    "a signalling decimal": categories("exact", {"decimal": "sNaN"}),
    "a decimal that takes forever": categories("key", {"decimal": "1e9999999"}),
    "an edge that takes forever": histogram("price", {"decimal": "1e999999999"}),
    "a huge category": categories("price", 10**400),
    "a huge edge": histogram("large", 10**400),
    "a time before time": categories("at", {"timestamp": "0001-01-01T00:00:00+23:00"}),
    "two statements": expression("price; drop table x"),
    "an open quote": expression("'"),
    "a mark in front": "\ufeff" + expression("price * 2"),
    "nothing": "",
    "a number": "1",
    "null": "null",
}


def taken_up(text: str) -> hg.MaxImportance:
    """What a running join does with a definition it hears of, and then with its rows."""
    other = GOAL.redefined(hg.MaxImportance.from_json(text))
    other.check((SCHEMA, SCHEMA))
    for rows in (ROWS, ROWS.slice(0, 0), ROWS.slice(2, 3)):
        assert np.isfinite(other.evaluate(rows, 0)).all()
    return other


@pytest.mark.parametrize("text", POISON.values(), ids=POISON.keys())
def test_a_poisoned_definition_is_refused_as_any_other_that_is_wrong(text: str) -> None:
    with pytest.raises(hg.SpecError):
        taken_up(text)


def test_all_of_it_is_counted_and_what_is_right_is_taken_up() -> None:
    good = hg.MaxImportance(left="price * 3").to_json()
    news = [(None, text) for text in (*POISON.values(), good)]
    known = known_definitions(GOAL, StepProgress(), (SCHEMA, SCHEMA), news)
    assert known.refused == len(POISON)
    assert [goal.left for goal in known.definitions.goals] == [
        Expression("price"),
        Expression("price * 3"),
    ]


def test_definitions_kept_with_the_state_that_can_be_read_no_more_are_left_out() -> None:
    """As after an upgrade that no longer accepts what was taken up before."""
    kept = ((5, POISON["a long sum"]), (7, hg.MaxImportance(left="key").to_json()))
    progress = StepProgress()._replace(definitions=kept)
    known = known_definitions(GOAL, progress, (SCHEMA, SCHEMA))
    assert known.refused == 1
    assert known.definitions.goals[1].left == Expression("key")
    assert known.progress.definitions == kept[1:]
    again = known_definitions(GOAL, known.progress, (SCHEMA, SCHEMA))
    assert again.refused == 0


def test_no_more_definitions_wait_than_there_is_room_for() -> None:
    text = hg.MaxImportance(left="key").to_json()
    news = [(at + 1, text) for at in range(10 * MOST_AT_ONCE)]
    known = known_definitions(GOAL, StepProgress(), (SCHEMA, SCHEMA), news)
    assert len(known.progress.definitions) == MOST_AHEAD
    assert known.refused == len(news) - MOST_AHEAD


@pytest.mark.parametrize("at", [2**63 - 1, -(2**63), 0])
def test_any_event_time_can_be_heard_of(at: int) -> None:
    text = hg.MaxImportance(left="key").to_json()
    known = known_definitions(GOAL, StepProgress(), (SCHEMA, SCHEMA), [(at, text)])
    assert known.refused == 0
    (heard,) = np.array(known.definitions.changes, np.int64).tolist()
    assert heard == max(at, StepProgress().clock >> 1)


TEXTS = st.text(st.characters(), max_size=30) | st.sampled_from(
    ["price", "name", "\ud800", "\0", "inf", "1e400", "2026-01-01", "sNaN", "1e99999999", "%\\", ""]
)
NUMBERS = st.integers() | st.floats() | st.integers(-(10**400), 10**400)
VALUES = st.recursive(
    st.none() | st.booleans() | NUMBERS | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=10,
)
SQL = r"""
price key name exact at day raw ( ) [ ] + - * / % < > = == and or not case when then else end like
ilike rlike escape in between is null cast as int double decimal ( , ) , . ` ' \ 1 0 9e999 'a\\' '%'
'(' abs ln log pmod length replace repeat lpad year datediff if coalesce interval select from over
count * -- /* */ ; :: array< struct map true
"""
WORDS = st.sampled_from(SQL.split())
EXPRESSIONS = st.lists(WORDS, max_size=25).map(" ".join) | TEXTS
KINDS = st.one_of(
    st.builds(lambda sql: {"kind": "expression", "sql": sql}, EXPRESSIONS | VALUES),
    st.builds(
        lambda column, table, default: {
            "kind": "categories",
            "column": column,
            "table": table,
            "default": default,
        },
        st.sampled_from(SCHEMA.names) | VALUES,
        st.lists(
            st.tuples(
                VALUES
                | st.dictionaries(
                    st.sampled_from(["decimal", "date", "timestamp", "float", "bytes"]),
                    TEXTS,
                    min_size=1,
                    max_size=1,
                ),
                NUMBERS | VALUES,
            ),
            max_size=3,
        )
        | VALUES,
        NUMBERS,
    ),
    st.builds(
        lambda column, edges, worth: {
            "kind": "histogram",
            "column": column,
            "edges": edges,
            "importance": worth,
        },
        st.sampled_from(SCHEMA.names) | VALUES,
        st.lists(NUMBERS, max_size=4) | VALUES,
        st.lists(NUMBERS, max_size=3) | VALUES,
    ),
    st.builds(lambda value: {"kind": "source", "value": value}, VALUES),
    VALUES,
)
SLOW = settings(examples(120), suppress_health_check=[HealthCheck.too_slow])


@SLOW
@given(KINDS, st.sampled_from(["min", "sum"]) | VALUES, NUMBERS | VALUES)
def test_whatever_is_written_is_taken_up_or_refused(left: Any, combine: Any, fairness: Any) -> None:
    for text in (
        definition(left),
        definition(left, combine=combine, fairness=fairness),
        definition(left, right=left),
    ):
        try:
            taken_up(text)
        except hg.SpecError:
            continue


@SLOW
@given(
    st.binary(max_size=200) | st.text(max_size=200).map(lambda text: text.encode(errors="replace"))
)
def test_whatever_bytes_are_read_they_are_taken_up_or_refused(raw: bytes) -> None:
    with pytest.raises(hg.SpecError):
        taken_up(raw.decode(errors="surrogateescape"))


@SLOW
@given(VALUES)
def test_what_json_says_is_read_as_it_is_written(value: Any) -> None:
    text = json.dumps(value)
    try:
        read = read_json(text, "JSON", longest=10_000, deepest=20)
    except hg.SpecError:
        return
    assert json.dumps(read) == text


UNCAUGHT = Translation("CAST(c0 LIKE c0 ESCAPE '\\' AS INT) + 1", ("name",), ())
"""An error of DuckDB's that TRY does not turn into null: a pattern that ends in its escape."""


def test_rows_that_an_expression_fails_on_count_for_nothing() -> None:
    names = ["a\\" if at % 1000 == 3 else "b" for at in range(4000)]
    rows = pa.table({"name": names})
    with pytest.raises(hg.SpecError, match="escape character"):
        evaluation._computed(UNCAUGHT, rows, "importance")
    found = evaluation.evaluate(UNCAUGHT, rows, "importance").to_pylist()
    assert found == [None if name == "a\\" else 2.0 for name in names]


def test_rows_that_all_fail_are_given_up_on_after_a_while() -> None:
    rows = pa.table({"name": ["a\\"] * 4 * evaluation.MOST_TRIES})
    found = evaluation.evaluate(UNCAUGHT, rows, "importance")
    assert (len(found), found.null_count) == (rows.num_rows, rows.num_rows)


@pytest.mark.parametrize("sql", ["name like name", "name ilike name", "name not like name"])
def test_a_pattern_from_a_column_that_ends_in_its_escape_counts_for_nothing(sql: str) -> None:
    rows = pa.table({"name": ["a\\", "b", "\\\\", "\\", "c\\\\\\", None]})
    found = Expression(sql).of(rows).tolist()
    plain = 0.0 if "not" in sql else 1.0
    assert found == [0.0, plain, 1.0 - plain, 0.0, 0.0, 0.0]


@pytest.mark.parametrize(
    "make",
    [
        lambda: hg.MaxImportance(left=10**400),
        lambda: hg.MaxImportance(left="\ud800"),
        lambda: hg.Categories("key", {Decimal("1e9999999"): 1}),
        lambda: hg.Categories("key", [(Decimal("sNaN"), 1)]),
        lambda: hg.Categories("\ud800", {"a": 1}),
        lambda: hg.MaxImportance(left=1, combine=[]),  # type: ignore[arg-type]
    ],
)
def test_the_same_is_refused_at_the_call(make: Any) -> None:
    with pytest.raises(hg.SpecError):
        make()


def test_edges_beyond_all_numbers_are_beyond_all_rows() -> None:
    rows = pa.table({"price": [-1.0, 5.0, 1e300]})
    bins = hg.Histogram("price", [-(10**400), 0, 10**400], [1, 2])
    assert bins.of(rows).tolist() == [1.0, 2.0, 2.0]


@pytest.mark.parametrize(
    "text", ["[" * 100_000, '{"at": 1}', "x", "\xff", '{"definition": "{}", "at": 5}', "7"]
)
def test_a_folder_with_a_broken_file_is_refused_by_its_name(tmp_path: Path, text: str) -> None:
    (tmp_path / "00-broken.json").write_bytes(text.encode("latin-1"))
    with pytest.raises(hg.SpecError, match=r"00-broken\.json|event time|definition"):
        hg.read_changes(tmp_path)


@pytest.mark.parametrize(
    "raw", [b"[" * 100_000, b"\xff\xfe", b"{}", b'{"version": 1, "node": 1e999}', b"x" * 2_000_000]
)
def test_a_broken_calibration_is_refused_by_its_name(tmp_path: Path, raw: bytes) -> None:
    place = tmp_path / "calibration.json"
    place.write_bytes(raw)
    with pytest.raises(hg.SpecError, match=r"calibration\.json"):
        load_calibration(place)
