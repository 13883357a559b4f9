"""What may change at a restart: descriptions compared, those of format 6 included."""

import json
from typing import Any

import pyarrow as pa
import pytest

import headgate as hg
from headgate.spark.join.join_description import read_description
from headgate.spark.join.restart_rules import check_restart, is_widened
from headgate.spark.join.shard_plan import shard_plan
from tests.golden.checkpoint_cases import join_of, tables

pytestmark = pytest.mark.spark

SCHEMAS = (tables(0)[0].schema, tables(1)[0].schema)
OLD = {
    "left keys": "key",
    "right keys": "key",
    "left time and window": "opened_at, 2 minutes",
    "right time and window": "bid_at, 1 minute",
    "policy": "Lru()",
    "left columns": "struct<key:string,opened_at:timestamp,left_id:bigint,price:decimal(10,2),"
    "tags:array<string>>",
    "right columns": "struct<key:string,bid_at:timestamp,right_id:int,rating:float,note:string>",
    "shards": "2",
    "spark.sql.shuffle.partitions": "1",
}
"""A description as format 6 has it."""


def described(schemas: tuple[pa.Schema, pa.Schema] = SCHEMAS, kind: str = "lru") -> dict[str, Any]:
    """The present description of the same join, with Spark's types as a query has them."""
    join = join_of(kind)
    plan = shard_plan(join, join.bind(schemas), (0, 1), live=True)
    facts: dict[str, Any] = json.loads(plan.description)
    for side in ("left", "right"):
        for column in facts[f"{side} columns"]:
            column["type"] = SPARK[column["arrow"]]
    return facts


SPARK: dict[str, Any] = {
    "string": "string",
    "timestamp[us, tz=UTC]": "timestamp",
    "int64": "long",
    "int32": "integer",
    "float": "float",
    "double": "double",
    "decimal128(10, 2)": "decimal(10,2)",
    "decimal128(12, 2)": "decimal(12,2)",
    "list<item: string>": {"type": "array", "elementType": "string", "containsNull": True},
}


def other_schema(side: int, **changed: pa.DataType | None) -> tuple[pa.Schema, pa.Schema]:
    """The schemas with other types; None drops a column."""
    kinds = {field.name: field.type for field in SCHEMAS[side]} | changed
    schema = pa.schema([(name, kind) for name, kind in kinds.items() if kind is not None])
    return (schema, SCHEMAS[1]) if side == 0 else (SCHEMAS[0], schema)


def changes(before: dict[str, Any], now: dict[str, Any]) -> set[str]:
    return set(check_restart(json.dumps(before), json.dumps(now)).changed)


def test_a_description_of_format_6_is_the_same_join() -> None:
    assert changes(OLD, described()) == set()
    assert read_description(json.dumps(OLD))["left window"] == {"microseconds": 120_000_000}


def test_columns_of_format_6_may_be_added_dropped_and_widened() -> None:
    wider = {"right_id": pa.int64(), "rating": pa.float64(), "note": None, "new": pa.string()}
    assert changes(OLD, described(other_schema(1, **wider))) == {"right columns"}
    assert changes(OLD, described(other_schema(0, price=pa.decimal128(12, 2)))) == {"left columns"}


@pytest.mark.parametrize("before", [OLD, described()], ids=["format 6", "format 7"])
@pytest.mark.parametrize(
    ("side", "changed", "says"),
    [
        (0, {"left_id": pa.int32()}, 'column "left_id" was bigint and is int: whole numbers'),
        (1, {"note": pa.int64()}, 'column "note" was string and is bigint'),
    ],
)
def test_types_that_are_not_wider_are_refused(
    before: dict[str, Any], side: int, changed: dict[str, pa.DataType], says: str
) -> None:
    with pytest.raises(hg.SpecError) as raised:
        changes(before, described(other_schema(side, **changed)))
    assert says in str(raised.value)
    assert "Nothing was lost: set it back" in str(raised.value)


def test_a_new_column_that_cannot_be_null_is_refused() -> None:
    now = described()
    now["left columns"].append({"name": "n", "arrow": "int64", "type": "long", "nullable": False})
    with pytest.raises(hg.SpecError, match='column "n" is new and would be null in stored rows'):
        changes(described(), now)


@pytest.mark.parametrize(
    ("kind", "changed", "says"),
    [
        ("sample", {"left window": {"microseconds": 240_000_000}}, "weights would be wrong"),
        ("sample", {"seed": 9}, "which rows a sample has drawn follows from its seed"),
        ("lru", {"how": "semi"}, "semi and anti joins let rows go"),
        ("lru", {"shards": 4}, "`headgate reshard` writes a checkpoint"),
        ("lru", {"left keys": ["note"]}, "rows are placed and found by their keys"),
        ("lru", {"left time": "t"}, "the order and windows of stored rows"),
        ("lru", {"predicate": "Band()"}, "decided, by the predicate"),
        ("lru", {"left window": {"rows": 5}}, "times and counts of rows cannot"),
    ],
)
def test_what_may_not_change_says_why(kind: str, changed: dict[str, Any], says: str) -> None:
    with pytest.raises(hg.SpecError) as raised:
        changes(described(kind=kind), described(kind=kind) | changed)
    assert says in str(raised.value)


def test_decimals_are_wider_only_with_no_fewer_digits_on_both_sides() -> None:
    assert is_widened("decimal(10,2)", "decimal(11,3)")
    assert not is_widened("decimal(10,2)", "decimal(10,3)")
    assert not is_widened("decimal(10,2)", "decimal(12,1)")
    assert not is_widened("int", "double")
