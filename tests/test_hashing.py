"""Hashes of keys: alike for equal keys, spread evenly, the same everywhere."""

import datetime as dt
import struct
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.columns.hashing import hash_keys, share_of
from headgate.columns.key_codes import encode_together

NAN = float("nan")
OTHER_NAN = struct.unpack("<d", struct.pack("<Q", 0xFFF8_0000_0000_0123))[0]


def column(values: list[Any], kind: pa.DataType | None = None) -> pa.ChunkedArray:
    return pa.chunked_array([pa.array(values, kind)])


def hashes(values: list[Any], kind: pa.DataType | None = None) -> list[int]:
    return hash_keys([column(values, kind)])[0].tolist()


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        (["a", "b", "a", None, ""], pa.string()),
        (["a", "b", "a", None, ""], pa.large_string()),
        ([b"a", b"b\x00", b"a", None, b""], pa.binary()),
        ([b"ab", b"bc", b"ab", None, b"\x00\x00"], pa.binary(2)),
        ([1, 2, 1, None, 0], pa.int64()),
        ([1, 2, 1, None, 0], pa.uint8()),
        ([Decimal("1.5"), Decimal("-2"), Decimal("1.50"), None, Decimal(0)], pa.decimal128(9, 3)),
        ([1.5, NAN, 1.5, None, 0.0], pa.float32()),
        ([dt.date(2020, 1, 1), dt.date(1, 1, 1), dt.date(2020, 1, 1), None, dt.date.max], None),
        ([dt.time(1), dt.time(2), dt.time(1), None, dt.time(0)], pa.time32("s")),
        ([5, 6, 5, None, 0], pa.timestamp("us", "UTC")),
        ([[1, 2], [2, 1], [1, 2], None, []], pa.list_(pa.int64())),
        ([{"x": 1}, {"x": 2}, {"x": 1}, None, {"x": None}], pa.struct({"x": pa.int64()})),
    ],
    ids=str,
)
def test_keys_of_every_type_hash_by_value(values: list[Any], kind: pa.DataType | None) -> None:
    found, has_key = hash_keys([column(values, kind)])
    assert has_key.tolist() == [True, True, True, False, True]
    assert found[0] == found[2]
    assert len({*found[[0, 1, 4]].tolist()}) == 3


def test_zeros_and_nans_hash_alike() -> None:
    zero, minus_zero, nan, other_nan = hashes([0.0, -0.0, NAN, OTHER_NAN])
    assert zero == minus_zero
    assert nan == other_nan


def test_widths_do_not_change_the_hash() -> None:
    assert hashes([7, -7], pa.int8()) == hashes([7, -7], pa.int64())
    assert hashes([1.5], pa.float32()) == hashes([1.5], pa.float64())
    assert hashes(["seven"], pa.string()) == hashes(["seven"], pa.large_string())
    assert hashes([False, True]) == hashes([0, 1])


def test_dictionaries_hash_as_their_values() -> None:
    plain = column(["x", "y", None, "x"])
    assert hash_keys([plain.dictionary_encode()])[0][[0, 1, 3]].tolist() == [
        hash_keys([plain])[0][row] for row in (0, 1, 3)
    ]


def test_dictionaries_of_numbers_hash_and_code_by_value() -> None:
    zeros = column([0.0, -0.0, 1.0]).dictionary_encode()
    (codes,), _ = encode_together([[zeros]])
    assert codes.tolist() == [0, 0, 1]
    assert hash_keys([zeros])[0].tolist() == hashes([0.0, 0.0, 1.0])


def test_hashes_are_the_same_in_every_process_and_version() -> None:
    assert hashes([1, 2]) == [10451216379200822465, 10905525725756348110]
    assert hashes(["auction"]) == [3614600425215219014]


def test_slices_and_chunks_hash_as_the_whole() -> None:
    whole = pa.array([None, "one", "two", "", "a longer text than eight"])
    chunked = pa.chunked_array([whole.slice(0, 2), whole.slice(2)])
    assert hash_keys([chunked])[0][1:].tolist() == hashes(whole.to_pylist())[1:]


def test_a_null_in_any_column_is_no_key() -> None:
    _, has_key = hash_keys([column([1, None, 3]), column(["a", "b", None])])
    assert has_key.tolist() == [True, False, False]


def test_columns_do_not_change_places() -> None:
    one, two = column([1, 2]), column([2, 1])
    assert hash_keys([one, two])[0][0] != hash_keys([two, one])[0][0]


@given(st.lists(st.one_of(st.floats(), st.none()), max_size=30))
def test_equal_codes_mean_equal_hashes(values: list[float | None]) -> None:
    keys = [column(values, pa.float64())]
    (codes,), _ = encode_together([keys])
    found, has_key = hash_keys(keys)
    assert has_key.tolist() == (codes >= 0).tolist()
    assert len({*zip(codes[has_key], found[has_key], strict=True)}) == len({*codes[has_key]})


@pytest.mark.parametrize("kind", [pa.int64(), pa.string()])
def test_a_share_of_the_keys_is_that_share(kind: pa.DataType) -> None:
    keys = pa.chunked_array([pa.array(np.arange(100_000)).cast(kind)])
    found, _ = hash_keys([keys])
    for share in (0.01, 0.3):
        taken = share_of(found, share)
        sigma = np.sqrt(share * (1 - share) / len(found))
        assert abs(taken.mean() - share) < 4 * sigma
    assert np.all(share_of(found, 0.3) | ~share_of(found, 0.01))
    assert share_of(found, 1.0).all()
