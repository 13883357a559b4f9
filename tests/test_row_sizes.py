"""Bytes of stored rows: exact for every Arrow type, and true of what is kept."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.columns.compaction import compacted
from headgate.columns.plain_form import plain
from headgate.columns.row_sizes import BOOKKEEPING_BYTES, row_bytes
from tests.arrow_values import KINDS, STORABLE, make_array, nested_types
from tests.row_sizes import most_bytes, plain_row_bytes
from tests.thoroughness import examples

careful = examples(60)
every_type = pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)


def make_column(kind: pa.DataType, seed: int, rows: int = 40) -> pa.ChunkedArray:
    """Values of a type in chunks, of which some are slices."""
    rng = np.random.default_rng(seed)
    first, second = (make_array(kind, rng, rng.random(rows) < 0.1) for _ in range(2))
    return pa.chunked_array([first, second.slice(3, rows // 2), first.slice(rows - 1), first[:0]])


def check_sizes(column: pa.ChunkedArray, seed: int) -> None:
    """Sizes are the twin's, the same for a copy of the rows, and enough for it."""
    table = pa.table({"column": column, "number": np.arange(len(column))})
    sizes = row_bytes(table)
    assert sizes.tolist() == plain_row_bytes(table)
    assert row_bytes(table.slice(2, 7)).tolist() == sizes[2:9].tolist()
    storable = plain(table)
    assert storable.column(0).to_pylist() == column.to_pylist()
    storable.validate(full=True)
    place = np.random.default_rng(seed).permutation(len(column))[: len(column) // 3]
    copy = compacted(storable, place)
    assert copy.schema == storable.schema
    assert copy.column(0).to_pylist() == [column[int(at)].as_py() for at in place]
    kept = row_bytes(copy)
    assert kept.tolist() == row_bytes(storable)[place].tolist()
    assert copy.get_total_buffer_size() <= most_bytes(copy)


@every_type
def test_the_size_of_a_row_is_what_its_copy_takes(kind: pa.DataType) -> None:
    for seed in range(3):
        check_sizes(make_column(kind, seed), seed)


@careful
@given(kind=nested_types(), seed=st.integers(0, 99))
def test_the_size_of_a_row_is_what_its_copy_takes_however_types_nest(
    kind: pa.DataType, seed: int
) -> None:
    check_sizes(make_column(kind, seed), seed)


@every_type
def test_no_rows_take_nothing(kind: pa.DataType) -> None:
    none = make_column(kind, 0)[:0]
    for column in (none, pa.chunked_array([], kind)):
        table = pa.table({"column": column})
        assert row_bytes(table).tolist() == []
        assert compacted(plain(table), np.empty(0, np.int64)).num_rows == 0


def test_what_lies_under_a_null_counts_where_it_is_kept() -> None:
    texts, nulls = pa.array(["x" * 1_000, "y", "z"]), pa.array([True, False, False])
    struct = pa.StructArray.from_arrays([texts], names=["text"], mask=nulls)
    lists = pa.ListArray.from_arrays(
        pa.array([0, 90, 91, 92], pa.int32()), pa.array(range(92)), mask=nulls
    )
    fixed = pa.FixedSizeListArray.from_arrays(texts.take([0, 0, 1, 1, 2, 2]), 2, mask=nulls)
    for column, more in ((struct, 1_000), (lists, 0), (fixed, 0)):
        table = pa.table({"column": column})
        first, second, _ = row_bytes(table).tolist()
        copy = compacted(table, np.arange(3))
        assert row_bytes(copy).tolist() == row_bytes(table).tolist()
        assert first >= BOOKKEEPING_BYTES + more
        assert first <= second + more
        assert copy.get_total_buffer_size() <= most_bytes(copy)


@pytest.mark.parametrize("kind", STORABLE.values(), ids=STORABLE)
def test_a_copy_of_few_rows_holds_on_to_no_others(kind: pa.DataType) -> None:
    rng = np.random.default_rng(1)
    many = pa.table({"column": make_array(kind, rng, np.arange(400) % 8 == 0)})
    copy = compacted(many, np.arange(100, 104))
    assert copy.column(0).to_pylist() == many.column(0).slice(100, 4).to_pylist()
    assert copy.get_total_buffer_size() <= most_bytes(copy)
