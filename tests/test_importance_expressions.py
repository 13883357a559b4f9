"""Importance by columns and Spark SQL expressions."""

import math
import os
import subprocess
import sys
import threading
from datetime import UTC, datetime

import numpy as np
import pyarrow as pa
import pytest

import headgate as hg
from tests.importances import ROWS, checked, message


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
        ("rand() * price", "changes every time it is computed (RAND())"),
        ("datediff(current_date(), day)", "every time it is computed (CURRENT_DATE"),
        ("price * my_function(day)", "has MY_FUNCTION(day), which cannot be computed outside"),
        ("hash(category)", "has HASH(category), which cannot be computed outside Spark: add a"),
        ("pmod(price)", "has PMOD(price): pmod() takes 2"),
        ("unix_timestamp(category, 'yyyy')", "whose format cannot be read outside Spark"),
        (
            "1 + 1",
            "reads no column, so all rows would be equally important: name a column",
        ),
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
