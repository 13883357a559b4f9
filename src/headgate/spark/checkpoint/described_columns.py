"""The columns of a join's sides as its checkpoint describes them, as empty DataFrames."""

from typing import Any

from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import DataType, StructType

from headgate.spark.carried_columns import quoted
from headgate.spark.checkpoint.described_join import DescribedJoin
from headgate.spark.join.join_description import spark_columns
from headgate.spec import SpecError

SIDES = ("left", "right")


def described_columns(session: SparkSession, join: DescribedJoin) -> tuple[DataFrame, DataFrame]:
    """DataFrames without rows, of the types that the sides had when the query began."""
    left, right = (
        session.createDataFrame([], _columns(join.facts[f"{side} columns"])) for side in SIDES
    )
    return left, right


def _columns(told: Any) -> StructType:
    """The schema that a description has: a list of columns, or in format 6 a text."""
    return described_schema(told["shown"]) if isinstance(told, dict) else spark_columns(told)


def described_schema(text: str) -> StructType:
    """The schema of a text like ``struct<key:bigint,at:timestamp>``; names may have any letters.

    Examples
    --------
    >>> [part for part in _fields("struct<a:bigint,b:struct<x:int,y:decimal(3,1)>>")]
    [('a', 'bigint'), ('b', 'struct<x:int,y:decimal(3,1)>')]
    """
    ddl = ", ".join(f"{quoted(name)} {kind}" for name, kind in _fields(text))
    try:
        found = DataType.fromDDL(ddl)
    except PySparkException as error:
        raise SpecError(
            f"the columns {text} of this checkpoint's join cannot be read: "
            f"{str(error).splitlines()[0]}"
        ) from error
    if not isinstance(found, StructType):
        raise SpecError(f"the columns {text} of this checkpoint's join are not those of rows")
    return found


def _fields(text: str) -> list[tuple[str, str]]:
    """Names and types between the brackets of a struct."""
    inner = text.removeprefix("struct<").removesuffix(">")
    fields, depth, begin = [], 0, 0
    for place, letter in enumerate(inner + ","):
        depth += (letter in "<(") - (letter in ">)")
        if letter == "," and depth == 0:
            name, _, kind = inner[begin:place].partition(":")
            fields.append((name, kind))
            begin = place + 1
    return fields
