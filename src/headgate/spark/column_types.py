"""Types of the columns that the join compares: Spark's types converted to Arrow's, and checked."""

import re
from collections.abc import Iterator, Sequence

import pyarrow as pa
from pyspark.errors import PySparkTypeError
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import (
    ArrayType,
    DataType,
    MapType,
    StringType,
    StructField,
    StructType,
    TimestampNTZType,
    VariantType,
)

from headgate.columns.common_type import plain_type
from headgate.spark.carried_columns import column_of
from headgate.spark.shard_hash import is_hashed_here
from headgate.spark.spark_versions import from_arrow_type, to_arrow_type
from headgate.spec import SpecError

ANSI = "spark.sql.ansi.enabled"
CHAR_TYPE = "__CHAR_VARCHAR_TYPE_STRING"
"""Where Spark notes that a column of strings was declared as char or varchar."""
BINARY_COLLATION = "UTF8_BINARY"
_CHAR = re.compile(r"(?<!var)char\(")
DAY_US = 86_400_000_000


def compared_types(frame: DataFrame, which: str, names: Sequence[str]) -> dict[str, pa.DataType]:
    """Arrow types of the compared columns; raises if Spark cannot compare their types."""
    return {name: _compared_type(frame.schema[name], which) for name in names}


def check_char_types(left: StructField, right: StructField) -> None:
    """Raise if Spark's own join would pad values (CHAR columns) before comparing them."""
    declared = [field.metadata.get(CHAR_TYPE, "") for field in (left, right)]
    if declared[0] != declared[1] and all(_CHAR.search(kind) for kind in declared):
        raise SpecError(
            f'columns differ in length: "{left.name}" is {declared[0]}, "{right.name}" is '
            f"{declared[1]}, and Spark would pad the shorter: make them strings without padding "
            f'first, such as F.rtrim("{left.name}")'
        )


def _compared_type(field: StructField, which: str) -> pa.DataType:
    name, kind = field.name, field.dataType
    for part in _parts(kind):
        if isinstance(part, MapType | VariantType):
            raise SpecError(
                f'column "{name}" of the {which} is {kind.simpleString()}: Spark cannot compare '
                f"such values; join on a part of it"
            )
        if isinstance(part, StringType) and part.collation != BINARY_COLLATION:
            raise SpecError(
                f'column "{name}" of the {which} has the collation {part.collation}, by which '
                f"different strings are equal or in another order: give the strings a form in "
                f"which equal ones are the same and the default collation, such as "
                f'F.collate(F.lower("{name}"), "{BINARY_COLLATION}") or F.rtrim'
            )
    try:
        return to_arrow_type(kind)
    except PySparkTypeError:
        raise SpecError(
            f'column "{name}" of the {which} is {kind.simpleString()}, which has no type in '
            f"Arrow: cast it first, such as an interval to a number or a string"
        ) from None


def _parts(kind: DataType) -> Iterator[DataType]:
    yield kind
    if isinstance(kind, StructType):
        for field in kind:
            yield from _parts(field.dataType)
    elif isinstance(kind, ArrayType):
        yield from _parts(kind.elementType)


def compared_keys(
    frame: DataFrame, names: Sequence[str], types: Sequence[pa.DataType]
) -> list[Column]:
    """Key columns of a numbered frame, cast to the types in which they are compared, so that equal
    keys have equal hashes."""
    columns = []
    for name, kind in zip(names, types, strict=True):
        column = column_of(frame, name)
        if _type_of(frame, name) != kind:
            column = column.cast(from_arrow_type(kind))
        columns.append(column)
    return columns


def are_hashed_here(frame: DataFrame, names: Sequence[str], types: Sequence[pa.DataType]) -> bool:
    """Whether key columns can be hashed outside of Spark: they are compared as they are, and their
    hashes are known."""
    return all(
        _type_of(frame, name) == kind and is_hashed_here(kind)
        for name, kind in zip(names, types, strict=True)
    )


def _type_of(frame: DataFrame, name: str) -> pa.DataType:
    return plain_type(to_arrow_type(frame.schema[name].dataType))


def time_in_micros(frame: DataFrame, name: str) -> Column:
    """A time column of a numbered frame in microseconds since 1970; times without a zone are read
    as UTC.

    A cast would read them in the session's zone, where daylight saving makes times ambiguous.
    """
    time = column_of(frame, name)
    if not isinstance(frame.schema[name].dataType, TimestampNTZType):
        return F.unix_micros(time)
    micros = F.extract(F.lit("SECOND"), time) * F.lit(1_000_000)
    minutes = F.hour(time) * F.lit(60) + F.minute(time)
    return (
        F.unix_date(time.cast("date")).cast("long") * F.lit(DAY_US)
        + minutes.cast("long") * F.lit(60_000_000)
        + micros.cast("long")
    )
