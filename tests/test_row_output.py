"""Results that leave the join as rows stay Arrow data in pandas, and figures come beside them."""

import math

import pandas as pd
import pyarrow as pa
import pytest
from pyspark.sql.types import (
    ArrayType,
    BooleanType,
    DataType,
    DoubleType,
    LongType,
    MapType,
    NullType,
    StringType,
    StructType,
    TimestampType,
    VarcharType,
    YearMonthIntervalType,
)

from headgate.spark.carried_columns import ResultColumn, number
from headgate.spark.row_output import FIGURES, figures_frame, leave_as_rows, row_frame, row_schema


def test_columns_are_handed_over_without_a_copy() -> None:
    wanted = [pa.array([2**62 + 1, None]), pa.array([0, None], pa.timestamp("us", "UTC"))]
    frame = row_frame(pa.table(wanted, ["key", "at"]))
    assert list(frame) == [FIGURES, "c0", "c1"]
    assert frame[FIGURES].isna().all()
    for place, column in enumerate(wanted):
        handed = pa.Array.from_pandas(frame[number(place)], type=column.type)
        assert handed.equals(column)
        assert handed.buffers()[1].address == column.buffers()[1].address


def test_a_result_in_chunks_is_handed_over_in_one() -> None:
    rows = pa.table({"key": pa.chunked_array([[1, 2], [3]])})
    assert pa.Array.from_pandas(row_frame(rows)["c0"]).to_pylist() == [1, 2, 3]


def test_figures_are_read_back_exactly() -> None:
    figures = [0.1 + 0.2, 1e308, -0.0, 5e-324, 7, math.inf]
    frame = figures_frame(pd.DataFrame({"blob": [None], "figures": [figures]}), 2)
    assert list(frame) == [FIGURES, "c0", "c1"]
    assert frame["c0"].isna().all()
    assert list(map(float, frame[FIGURES][0].split(" "))) == figures
    fields = row_schema([ResultColumn("a", LongType()), ResultColumn("b", DoubleType())]).fields
    assert [field.name for field in fields] == list(frame)


@pytest.mark.parametrize(
    "kind",
    [
        ArrayType(LongType()),
        MapType(StringType(), LongType()),
        StructType(),
        NullType(),
        VarcharType(7),
        YearMonthIntervalType(),
    ],
    ids=repr,
)
def test_what_spark_would_convert_leaves_in_blobs(kind: DataType) -> None:
    assert not leave_as_rows([ResultColumn("key", LongType()), ResultColumn("other", kind)])


def test_columns_without_nulls_need_a_value_for_the_row_of_figures() -> None:
    for kind, leaves in ((DoubleType(), True), (BooleanType(), True), (TimestampType(), False)):
        assert leave_as_rows([ResultColumn("other", kind, nullable=False)]) == leaves
