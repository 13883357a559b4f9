"""Arrow tables as bytes: what travels through the shuffle and rests in the state store."""

import pyarrow as pa

from headgate.spec import SpecError

_MAGIC = b"HG"
FORMAT = 6
"""Version of everything kept in state; raise it when what follows changes meaning."""
_PREFIX = _MAGIC + FORMAT.to_bytes(6, "little")
_QUICK = pa.Codec("zstd", 1)


def to_blob(table: pa.Table, compress: bool = False) -> bytes:
    """A table as an Arrow IPC stream, with the format's version in front.

    The prefix is eight bytes long, so that the columns stay aligned when the blob is mapped.
    Compressed blobs are for the state store, whose calls cost by the byte; they read the same.
    """
    sink = pa.BufferOutputStream()
    write_blob(table, sink, compress)
    return bytes(sink.getvalue())


def write_blob(table: pa.Table, sink: pa.NativeFile, compress: bool = False) -> None:
    """Write a table's blob to a file."""
    sink.write(_PREFIX)
    options = pa.ipc.IpcWriteOptions(compression=_QUICK if compress else None)
    with pa.ipc.new_stream(sink, table.schema, options=options) as writer:
        writer.write_table(table.combine_chunks())


def from_blob(blob: "bytes | pa.Buffer") -> pa.Table:
    """The table of a blob; its columns point into the blob, nothing is copied."""
    buffer = pa.py_buffer(blob)
    prefix = buffer.slice(0, len(_PREFIX)).to_pybytes()
    if prefix != _PREFIX:
        raise SpecError(
            f"state was written in another format ({prefix!r}) than this version of Headgate "
            f"reads ({_PREFIX!r}): start from a new checkpoint, or with the version that wrote it"
        )
    return pa.ipc.open_stream(buffer.slice(len(_PREFIX))).read_all()
