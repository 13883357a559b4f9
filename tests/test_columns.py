"""Facts about Arrow columns: key codes, event times, row sizes."""

import datetime as dt
import struct
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.columns.key_codes import encode_together
from headgate.columns.numbering import number
from headgate.columns.row_sizes import BOOKKEEPING_BYTES, row_bytes
from headgate.columns.times import NO_TIME, microseconds

NAN = float("nan")
OTHER_NAN = struct.unpack("<d", struct.pack("<Q", 0xFFF8_0000_0000_0123))[0]


def column(values: list[Any], kind: pa.DataType | None = None) -> pa.ChunkedArray:
    return pa.chunked_array([pa.array(values, kind)])


def codes(*columns: pa.ChunkedArray) -> list[int]:
    (found,), _ = encode_together([columns])
    assert found.dtype == np.int32
    return found.tolist()


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        (["a", "b", "a", None, ""], pa.string()),
        (["a", "b", "a", None, ""], pa.large_string()),
        ([b"a", b"b", b"a", None, b""], pa.binary()),
        ([1, 2, 1, None, 0], pa.int64()),
        ([1, 2, 1, None, 0], pa.uint8()),
        ([Decimal("1.5"), Decimal("-2"), Decimal("1.50"), None, Decimal(0)], pa.decimal128(9, 3)),
        ([1.5, 2.5, 1.5, None, 0.0], pa.float64()),
        ([1.5, NAN, 1.5, None, 0.0], pa.float32()),
        ([dt.date(2020, 1, 1), dt.date(1, 1, 1), dt.date(2020, 1, 1), None, dt.date.max], None),
        ([5, 6, 5, None, 0], pa.timestamp("us", "UTC")),
        ([[1, 2], [2, 1], [1, 2], None, []], pa.list_(pa.int64())),
        ([{"x": 1}, {"x": 2}, {"x": 1}, None, {"x": None}], pa.struct({"x": pa.int64()})),
    ],
    ids=str,
)
def test_equal_values_have_equal_codes_and_nulls_none(
    values: list[Any], kind: pa.DataType | None
) -> None:
    assert codes(column(values, kind)) == [0, 1, 0, -1, 2]


def test_booleans_and_columns_of_nulls_have_codes() -> None:
    assert codes(column([True, False, None, True])) == [0, 1, -1, 0]
    assert codes(column([None, None])) == [-1, -1]


@pytest.mark.parametrize("kind", [pa.float64(), pa.float32()], ids=str)
def test_floats_compare_as_in_spark(kind: pa.DataType) -> None:
    values = [NAN, -0.0, 0.0, None, OTHER_NAN, 1.0, float("inf")]
    assert codes(column(values, kind)) == [0, 1, 1, -1, 0, 2, 3]


def test_dictionary_columns_compare_by_value() -> None:
    one = column(["b", "a", None]).dictionary_encode()
    other = column(["a", "b"]).dictionary_encode()
    (left, right), count = encode_together([[one], [other]])
    assert (left.tolist(), right.tolist(), count) == ([0, 1, -1], [1, 0], 2)


def test_codes_of_several_tables_are_on_one_scale() -> None:
    tables = [[column(["a", "b"])], [column([], pa.string())], [column(["b", None, "c"])]]
    found, count = encode_together(tables)
    assert [part.tolist() for part in found] == [[0, 1], [], [1, -1, 2]]
    assert count == 3


def test_chunks_make_no_difference() -> None:
    chunked = pa.chunked_array([["a"], [], ["b", "a"]], pa.string())
    assert codes(chunked) == codes(column(["a", "b", "a"]))


def test_no_rows_have_no_codes() -> None:
    found, count = encode_together([[pa.chunked_array([], pa.int64())]] * 2)
    assert [part.tolist() for part in found] == [[], []]
    assert count == 0


def test_composite_keys_agree_only_in_all_columns() -> None:
    numbers = column([1, 1, 2, 1, None, 1])
    letters = column(["x", "y", "x", "x", "x", None])
    more = column([Decimal(1)] * 6)
    assert codes(numbers, letters, more) == [0, 1, 2, 0, -1, -1]


@given(st.lists(st.tuples(*[st.one_of(st.none(), st.integers(0, 2))] * 3), max_size=20))
def test_composite_codes_are_equal_exactly_for_equal_keys(
    keys: list[tuple[int | None, int | None, int | None]],
) -> None:
    found = codes(*(column([key[place] for key in keys], pa.int64()) for place in range(3)))
    for key, code in zip(keys, found, strict=True):
        assert (code == -1) == (None in key)
        for other_key, other_code in zip(keys, found, strict=True):
            if code != -1:
                assert (code == other_code) == (key == other_key)


def test_a_row_takes_its_values_and_the_bookkeeping() -> None:
    table = pa.table(
        {
            "number": pa.array([1, None], pa.int32()),
            "time": pa.array([1, 2], pa.timestamp("us")),
            "money": pa.array([Decimal(1), None], pa.decimal128(9, 2)),
            "yes": [True, None],
            "text": ["é", None],
            "long": pa.array(["abc", ""], pa.large_string()),
        }
    )
    fixed = BOOKKEEPING_BYTES + 4 + 8 + 16 + 1 + 4 + 8
    assert row_bytes(table).tolist() == [fixed + 2 + 3, fixed]


@pytest.mark.parametrize(
    ("kind", "micros"),
    [
        (pa.timestamp("s"), 3_000_000),
        (pa.timestamp("ms"), 3_000),
        (pa.timestamp("us"), 3),
        (pa.timestamp("us", "Europe/Berlin"), 3),
        (pa.date32(), 3 * 86_400_000_000),
    ],
    ids=str,
)
def test_times_are_microseconds_since_the_epoch(kind: pa.DataType, micros: int) -> None:
    assert microseconds(column([3, None, 0], kind)).tolist() == [micros, NO_TIME, 0]


def test_times_before_the_epoch_and_in_nanoseconds() -> None:
    assert microseconds(column([-5], pa.timestamp("us"))).tolist() == [-5]
    assert microseconds(column([7_000], pa.timestamp("ns"))).tolist() == [7]


@pytest.mark.parametrize("values", [6_000, 20_000])
def test_keys_that_meet_in_the_hash_table_are_told_apart(values: int) -> None:
    """So many values that many of them find their place taken, and that the table grows."""
    rng = np.random.default_rng(5)
    drawn = rng.integers(-(1 << 40), 1 << 40, values)
    close = np.concatenate([drawn, drawn ^ 1, drawn ^ 2, drawn])
    found, count = number(close)
    _, first, same = np.unique(close, return_index=True, return_inverse=True)
    in_order = np.argsort(np.argsort(first))
    assert count == len(first)
    assert np.array_equal(found, in_order[same])
