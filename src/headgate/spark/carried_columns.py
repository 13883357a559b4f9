"""Converts DataFrames for the way to Python and back: numbered columns, in types that Arrow has.

Column names are replaced by numbers, so that no user column can clash with one of ours, be split at
a dot, or be confused with another that differs only by case. Types that Arrow lacks are cast to
another type and back.
"""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import pyarrow as pa
from pyspark.errors import PySparkTypeError
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import (
    ArrayType,
    CalendarIntervalType,
    DataType,
    IntegerType,
    MapType,
    NullType,
    StructField,
    StructType,
    UserDefinedType,
    YearMonthIntervalType,
)

from headgate.engine.inputs import check_names
from headgate.spark.spark_versions import to_arrow_schema, to_arrow_type
from headgate.spec import SpecError

MONTHS = YearMonthIntervalType(YearMonthIntervalType.MONTH, YearMonthIntervalType.MONTH)
"""Intervals of years and months are cast to this, and then to whole numbers."""


class ResultColumn(NamedTuple):
    """Name and type of a result column, as the user sees it."""

    name: str
    kind: DataType
    nullable: bool = True
    metadata: dict[str, Any] | None = None


def number(place: int) -> str:
    """The temporary name of a column, by its position.

    Examples
    --------
    >>> number(0)
    'c0'
    """
    return f"c{place}"


def quoted(name: str) -> str:
    """Quote a column name for Spark SQL, whatever characters it has.

    Examples
    --------
    >>> quoted("odd`name")
    '`odd``name`'
    """
    return f"`{name.replace('`', '``')}`"


def numbered(frame: DataFrame) -> DataFrame:
    """Return the frame with numbered columns, cast to types that Arrow has."""
    columns = [
        _cast(F.col(number(place)), field.dataType).alias(number(place))
        for place, field in enumerate(frame.schema)
    ]
    return frame.toDF(*map(number, range(len(columns)))).select(*columns)


def with_columns(frame: DataFrame, names: Sequence[str]) -> DataFrame:
    """Return the frame with some of its columns, whatever their names; the frame, if with all."""
    if list(names) == frame.columns:
        return frame
    places = [frame.columns.index(name) for name in names]
    numbers = frame.toDF(*map(number, range(len(frame.columns))))
    return numbers.select(
        *(F.col(number(place)).alias(name) for place, name in zip(places, names, strict=True))
    )


def column_of(frame: DataFrame, name: str) -> Column:
    """The numbered column for a name in the original frame."""
    return F.col(number(frame.columns.index(name)))


def arrow_schema(frame: DataFrame) -> pa.Schema:
    """The Arrow schema of a frame's rows, with the original names."""
    fields = [
        StructField(field.name, carried_type(field.dataType), field.nullable, field.metadata)
        for field in frame.schema
    ]
    # State must not depend on the session's time zone, which a restart may change.
    return to_arrow_schema(StructType(fields))


def travelling(columns: Iterable[ResultColumn]) -> StructType:
    """The Spark schema in which columns return from Python."""
    return StructType(
        [
            StructField(number(place), carried_type(column.kind), column.nullable)
            for place, column in enumerate(columns)
        ]
    )


def restored(frame: DataFrame, columns: Iterable[ResultColumn]) -> DataFrame:
    """Give numbered columns from Python their original names and types."""
    return frame.select(
        *(
            _cast_back(F.col(number(place)), column.kind).alias(
                column.name, metadata=column.metadata or {}
            )
            for place, column in enumerate(columns)
        )
    )


def carried_type(kind: DataType) -> DataType:
    """The type in which a column is sent to Python; its own, if Arrow has it.

    Examples
    --------
    >>> carried_type(ArrayType(MONTHS, False)).simpleString()
    'array<int>'
    >>> both = [StructField("a", IntegerType()), StructField("a", IntegerType())]
    >>> carried_type(StructType(both)).simpleString()
    'struct<a:int,a_1:int>'
    """
    return kind if _travels_as_it_is(kind) else _rebuilt(kind, IntegerType())


def check_carried(which: str, frame: DataFrame) -> None:
    """Raise unless all columns have distinct names and types that can be sent to Python."""
    check_names(which, frame.columns)
    for field in frame.schema:
        refused = _refused(field.dataType)
        if refused is not None:
            part, advice = refused
            kind = field.dataType.simpleString()
            inside = "" if part == field.dataType else f", with {part.simpleString()} inside"
            raise SpecError(
                f'column "{field.name}" of {which} is {kind}{inside}, which cannot be carried '
                f"through the join: {advice}, or leave it out"
            )


def _cast(column: Column, kind: DataType) -> Column:
    if _travels_as_it_is(kind):
        return column
    return column.cast(_rebuilt(kind, MONTHS)).cast(_rebuilt(kind, IntegerType()))


def _cast_back(column: Column, kind: DataType) -> Column:
    if _travels_as_it_is(kind):
        return column
    return column.cast(_rebuilt(kind, MONTHS)).cast(_rebuilt(kind, None))


def _travels_as_it_is(kind: DataType) -> bool:
    if isinstance(kind, YearMonthIntervalType):
        return False
    if isinstance(kind, StructType) and len(set(kind.names)) < len(kind.names):
        return False
    return all(_travels_as_it_is(part) for part, _ in _parts(kind))


def _rebuilt(kind: DataType, months: DataType | None) -> DataType:
    """Replace month intervals by another type, and make the field names of structs distinct.

    If ``months`` is None, intervals and names stay. Nested values are always nullable: in a
    stateful query Spark loses "not null", and then cannot cast to a type that has it.
    """
    if isinstance(kind, YearMonthIntervalType):
        return months or kind
    if isinstance(kind, ArrayType):
        return ArrayType(_rebuilt(kind.elementType, months))
    if isinstance(kind, MapType):
        return MapType(_rebuilt(kind.keyType, months), _rebuilt(kind.valueType, months))
    if isinstance(kind, StructType):
        names = kind.names if months is None else _different(kind.names)
        return StructType(
            [
                StructField(name, _rebuilt(field.dataType, months), metadata=field.metadata)
                for name, field in zip(names, kind.fields, strict=True)
            ]
        )
    return kind


def _different(names: list[str]) -> list[str]:
    """Append a number to every repeated name."""
    found: list[str] = []
    for name in names:
        new, count = name, 0
        while new in found or (new != name and new in names):
            count += 1
            new = f"{name}_{count}"
        found.append(new)
    return found


def _refused(kind: DataType) -> tuple[DataType, str] | None:
    """The type or nested type that cannot be sent to Python, and what to do about it."""
    if isinstance(kind, CalendarIntervalType):
        return kind, "cast it to string"
    if isinstance(kind, UserDefinedType):
        return kind, "turn it into an array or a struct (vector_to_array for vectors)"
    for part, nullable in _parts(kind):
        if isinstance(part, NullType) and not nullable:
            return part, "cast it to a type with values, such as array<string>"
        refused = _refused(part)
        if refused is not None:
            return refused
    try:
        to_arrow_type(carried_type(kind))
    except PySparkTypeError:
        return kind, "cast it to string or binary"
    return None


def _parts(kind: DataType) -> list[tuple[DataType, bool]]:
    """The types directly nested in a type, each with its nullability."""
    if isinstance(kind, ArrayType):
        return [(kind.elementType, kind.containsNull)]
    if isinstance(kind, MapType):
        return [(kind.keyType, False), (kind.valueType, kind.valueContainsNull)]
    if isinstance(kind, StructType):
        return [(field.dataType, field.nullable) for field in kind.fields]
    return []
