"""Rows in pieces: taken without copying tables, packed and spilled within bounds."""

import os

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import headgate as hg
from headgate.columns.row_source import PIECE_BYTES, SMALL_BYTES, RowSource, cuts, in_pieces
from headgate.spark.packing import SHARD_COLUMN, Packing, Unpacking, padded
from headgate.spark.shard_arrivals import ShardArrivals
from headgate.spark.shard_processor import FRAME_BYTES, result_blobs
from headgate.spark.state.blobs import from_blob, to_blob
from headgate.spark.table_buffer import MEMORY_BYTES, TableBuffer
from tests.thoroughness import examples


def wide(rows: int, width: int, seed: int = 0) -> pa.Table:
    text = [bytes([seed + place & 127]) * width for place in range(rows)]
    return pa.table({"key": np.arange(rows), "text": pa.array(text, pa.binary())})


@given(sizes=st.lists(st.integers(0, 30)), most=st.integers(1, 40))
def test_cuts_cover_all_rows_and_only_a_single_row_is_larger(sizes: list[int], most: int) -> None:
    parts = list(cuts(np.array(sizes, np.int64), most))
    assert [place for part in parts for place in range(part.start, part.stop)] == list(
        range(len(sizes))
    )
    for part in parts:
        assert sum(sizes[part]) <= most or part.stop - part.start == 1


@examples(100)
@given(
    chunks=st.lists(st.integers(0, 5), min_size=1, max_size=5),
    data=st.data(),
)
def test_rows_come_out_of_chunks_as_out_of_one_table(
    chunks: list[int], data: st.DataObject
) -> None:
    table = pa.concat_tables([wide(rows, 9, seed) for seed, rows in enumerate(chunks)])
    table = table.append_column("list", pa.array([[1] * (n % 3) for n in range(table.num_rows)]))
    places = data.draw(st.lists(st.integers(-1, table.num_rows - 1), max_size=6))
    wanted = pa.array([place if place >= 0 else None for place in places], pa.int64())
    taken = RowSource(table, small_bytes=0).take(np.array(places, np.int64))
    assert taken.equals(table.combine_chunks().take(wanted))


def test_taking_a_few_rows_does_not_copy_the_table() -> None:
    table = pa.concat_tables([wide(1_000, 10_000, seed) for seed in range(8)])
    rows = RowSource(table)
    before = pa.total_allocated_bytes()
    assert table.nbytes > 4 * SMALL_BYTES
    taken = [rows.take(np.array([place, 7_999 - place])) for place in range(10)]
    assert pa.total_allocated_bytes() - before < 1_000_000
    assert taken[0].column("key").to_pylist() == [0, 999]


@pytest.mark.parametrize(("rows", "width"), [(50_000, 200), (4_000, 5_000), (20, 1_000_000)])
def test_packed_blobs_are_of_bounded_size_and_bring_every_row(rows: int, width: int) -> None:
    table = wide(rows, width)
    pack = Packing(0, (0, 1), tuple(table.column_names), ("key",), hg.policies.Random())
    tagged = table.add_column(0, SHARD_COLUMN, pa.array(np.arange(rows) % 2))
    out = pa.Table.from_batches(pack(tagged.to_batches()))
    lengths = [len(blob) for blob in out.column("blob").to_pylist()]
    assert max(lengths) <= PIECE_BYTES + 100_000
    for label in (0, 1):
        mine = out.to_pandas()
        mine = mine[mine["shard"] == label]
        assert mine["ordinal"].is_unique
        shuffled = iter([mine.sample(frac=1.0, random_state=1)])
        arrived = ShardArrivals.read(shuffled, {0: table.schema}).sides[0].table
        assert arrived.column("key").to_pylist() == list(range(label, rows, 2))


@pytest.mark.parametrize(("rows", "width"), [(200_000, 100), (3_000, 10_000), (9, 2_500_000)])
def test_results_are_handed_on_in_frames_of_bounded_size(rows: int, width: int) -> None:
    table = wide(rows, width)
    frames = list(result_blobs(in_pieces(table), None))
    assert max(sum(map(len, frame)) for frame in frames) <= FRAME_BYTES
    blobs = [pa.record_batch({"blob": pa.array(frame, pa.binary())}) for frame in frames]
    assert pa.Table.from_batches(Unpacking()(blobs)).equals(table)


def test_batches_cut_by_rows_alone_are_bounded_by_empty_rows() -> None:
    table = wide(3_000, 10_000)
    for frame in result_blobs(in_pieces(table), 50_000):
        assert sum(map(len, frame)) <= 50_000 * len(frame)
    assert padded([b"x" * 10], 3) == [b"x" * 10, b"", b"", b""]
    blobs = [
        pa.record_batch({"blob": pa.array(f, pa.binary())}) for f in result_blobs([table], 5_000)
    ]
    assert pa.Table.from_batches(Unpacking()(blobs)).equals(table)


def test_tables_beyond_memory_are_read_from_a_file_without_a_name(
    tmp_path: "os.PathLike[str]", monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SPARK_LOCAL_DIRS", str(tmp_path))
    buffer, tables = TableBuffer(), [wide(800, 5_000, seed) for seed in range(20)]
    assert sum(table.nbytes for table in tables) > 2 * MEMORY_BYTES
    before = pa.total_allocated_bytes()
    for table in tables:
        buffer.add(from_blob(to_blob(table)))
    found = buffer.tables()
    assert all(one.equals(other) for one, other in zip(found, tables, strict=True))
    assert pa.total_allocated_bytes() - before < 1_000_000
    assert not os.listdir(tmp_path)
