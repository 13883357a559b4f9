"""Serialises Arrow tables to bytes (blobs) for the shuffle and the state store."""

from collections.abc import Iterator

import pyarrow as pa

from headgate.columns.pieces import SMALL_BYTES, in_pieces
from headgate.columns.plain_form import no_rows
from headgate.spec import SpecError

_MAGIC = b"HG"
FORMAT = 6
"""Version of everything kept in state; raise it when what follows changes meaning."""
_PREFIX = _MAGIC + FORMAT.to_bytes(6, "little")
_QUICK = pa.Codec("zstd", 1)


def to_blob(table: pa.Table, compress: bool = False) -> bytes:
    """A table as an Arrow IPC stream, with the format's version in front.

    The prefix is eight bytes long, so that columns stay aligned when the blob is memory-mapped.
    Compressed blobs are for the state store, where cost grows with bytes; they are read the same
    way.
    """
    sink = pa.BufferOutputStream()
    write_blob(table, sink, compress)
    return bytes(sink.getvalue())


def write_blob(table: pa.Table, sink: pa.NativeFile, compress: bool = False) -> None:
    """Write a table's blob to a file; a large table is copied piece by piece."""
    sink.write(_PREFIX)
    options = pa.ipc.IpcWriteOptions(compression=_QUICK if compress else None)
    with pa.ipc.new_stream(sink, table.schema, options=options) as writer:
        for piece in in_pieces(table, SMALL_BYTES):
            writer.write_table(piece.combine_chunks())


def from_blob(blob: "bytes | pa.Buffer") -> pa.Table:
    """Read the table of a blob without copying: its columns point into the blob."""
    buffer = pa.py_buffer(blob)
    _check_format(buffer.slice(0, len(_PREFIX)).to_pybytes())
    return pa.ipc.open_stream(buffer.slice(len(_PREFIX))).read_all()


def pieces_of_blob(file: pa.NativeFile) -> Iterator[pa.Table]:
    """Read a table from a blob file in the pieces in which it was written; at least one."""
    _check_format(file.read(len(_PREFIX)))
    with pa.ipc.open_stream(file) as reader:
        yield no_rows(reader.schema)
        for batch in reader:
            yield pa.Table.from_batches([batch])


def _check_format(prefix: bytes) -> None:
    if prefix != _PREFIX:
        raise SpecError(
            f"state was written in another format ({prefix!r}) than this version of Headgate "
            f"reads ({_PREFIX!r}): start from a new checkpoint, or with the version that wrote it"
        )
