"""Results that leave the join's own operator as rows, and not in blobs to be unpacked after it.

Unpacking takes a Python evaluation of its own: another pool of workers, and all results once more
from Java to Python and back. Spark takes over a column of a pandas frame as it is, without a copy,
if pandas holds it as Arrow data; but lists, maps and structs it would convert value by value.
"""

from collections.abc import Sequence

import pandas as pd
import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import (
    BinaryType,
    BooleanType,
    ByteType,
    DataType,
    DateType,
    DayTimeIntervalType,
    DecimalType,
    DoubleType,
    FloatType,
    IntegerType,
    LongType,
    ShortType,
    StringType,
    StructField,
    StructType,
    TimestampNTZType,
    TimestampType,
)

from headgate.spark.carried_columns import ResultColumn, number, restored
from headgate.spark.shard_output import FIGURES

AS_NUMBERS = f"cast(split({FIGURES}, ' ') AS array<double>)"
"""The figures of a shard as numbers, only where they are observed: in a column of their own every
row of the result would be copied once more. They come as text, since Spark looks at each value of
a column of lists, even where all are null."""
_AS_THEY_ARE: tuple[type[DataType], ...] = (
    *(BinaryType, BooleanType, ByteType, DateType, DayTimeIntervalType, DecimalType, DoubleType),
    *(FloatType, IntegerType, LongType, ShortType, StringType, TimestampNTZType, TimestampType),
)
"""Types whose columns Spark takes over as they are; those derived from them are not meant."""
_ANY_VALUE: dict[type[DataType], float | bool] = {
    DoubleType: 0.0,
    LongType: 0,
    BooleanType: False,
}
"""Types of columns without nulls, and a value that none of their rows will have to take."""


def leave_as_rows(columns: Sequence[ResultColumn]) -> bool:
    """Whether results with these columns can leave the join as rows.

    The row of figures has nulls in them, so a column without nulls must be told that it has none.

    Examples
    --------
    >>> leave_as_rows([ResultColumn("key", LongType()), ResultColumn("at", TimestampType())])
    True
    >>> from pyspark.sql.types import ArrayType
    >>> leave_as_rows([ResultColumn("keys", ArrayType(LongType()))])
    False
    """
    return all(
        type(column.kind) in _AS_THEY_ARE and (column.nullable or type(column.kind) in _ANY_VALUE)
        for column in columns
    )


def row_schema(columns: Sequence[ResultColumn]) -> StructType:
    """What the operator puts out: the figures of a shard, or a row of the result."""
    figures = StructField(FIGURES, StringType())
    rows = [StructField(number(place), column.kind) for place, column in enumerate(columns)]
    return StructType([figures, *rows])


def rows_alone(frame: DataFrame, columns: Sequence[ResultColumn]) -> DataFrame:
    """The result's rows, without the figures, under their names."""
    kept = frame.where(F.col(FIGURES).isNull())
    if all(column.nullable for column in columns):
        return restored(kept, columns)
    return restored(kept.select(*map(_never_null, range(len(columns)), columns)), columns)


def _never_null(place: int, column: ResultColumn) -> Column:
    given = F.col(number(place))
    if column.nullable:
        return given
    return F.coalesce(given, F.lit(_ANY_VALUE[type(column.kind)])).alias(number(place))


def row_frame(rows: pa.Table) -> pd.DataFrame:
    """A piece of the result, as the operator puts it out."""
    frame = {FIGURES: _held(pa.nulls(rows.num_rows, pa.string()))}
    for place, column in enumerate(rows.combine_chunks().columns):
        frame[number(place)] = _held(column)
    return pd.DataFrame(frame, copy=False)


def figures_frame(figures: pd.DataFrame, columns: int) -> pd.DataFrame:
    """A shard's figures, as the operator puts them out beside rows of so many columns."""
    nothing = pd.Series([None] * len(figures), dtype=object)
    rows = {number(place): nothing for place in range(columns)}
    text = [" ".join(map(repr, map(float, each))) for each in figures[FIGURES]]
    return pd.DataFrame({FIGURES: text, **rows})


def _held(column: "pa.Array | pa.ChunkedArray") -> pd.Series:
    """A column that stays Arrow data in pandas."""
    held = pd.arrays.ArrowExtensionArray(column)
    return pd.Series(held, copy=False)
