"""Serialises Arrow tables to bytes (blobs) for the shuffle and the state store.

A blob is eight bytes, then an Arrow IPC stream. The eight are ``HG``, the format's version and a
checksum of the rest, which is zero where it is kept elsewhere, or needed nowhere. What is in state,
and how, is specified in docs/reference/state-format.md.
"""

import struct
import zlib
from collections.abc import Iterator
from typing import NamedTuple

import pyarrow as pa

from headgate.columns.plain_form import no_rows
from headgate.columns.row_source import SMALL_BYTES, in_pieces
from headgate.spec import SpecError

_MAGIC = b"HG"
FORMAT = 7
"""Version of everything kept in state; raise it when what follows changes meaning."""
OLDEST = 6
"""The oldest version that is read; its blobs have no checksums of their own."""
_PREFIX = struct.Struct("<2sHI")
_QUICK = pa.Codec("zstd", 1)
_READ = pa.ipc.IpcReadOptions(use_threads=False)
"""Tasks fill the cores already, and most blobs are small: handing columns to threads costs more
than it saves.
"""
NO_ARROW = (pa.ArrowException, OSError, UnicodeDecodeError)
"""What Arrow raises for a stream that is none: also where lengths in it point outside, and where
names are no text.
"""


class Prefix(NamedTuple):
    """The first eight bytes of a blob."""

    format: int
    checksum: int
    """Of what follows; zero where it has none."""

    @classmethod
    def read(cls, prefix: bytes) -> "Prefix":
        """Read a prefix; raises where a blob cannot be read by this version.

        Examples
        --------
        >>> Prefix.read(b"HG" + (7).to_bytes(2, "little") + bytes(4)).format
        7
        """
        if len(prefix) < _PREFIX.size or prefix[:2] != _MAGIC:
            raise SpecError(
                f"a blob of state begins with {prefix!r}, not with {_MAGIC!r} and its format: it "
                f"is damaged, or not Headgate's. Restore the checkpoint from a copy, or start "
                f"from a new checkpoint"
            )
        _, version, checksum = _PREFIX.unpack(prefix[: _PREFIX.size])
        if version > FORMAT:
            raise SpecError(
                f"state was written in format {version}, by a later version of Headgate: this one "
                f"reads formats {OLDEST} to {FORMAT}. Nothing was changed: start the query with "
                f"the version that wrote it, or a later one, or start from a new checkpoint"
            )
        if version < OLDEST or (version == OLDEST and checksum):
            raise SpecError(
                f"state has another format ({prefix[: _PREFIX.size]!r}) than those this version "
                f"of Headgate reads ({OLDEST} to {FORMAT}): it is damaged, or older. Start with "
                f"the version that wrote it, or start from a new checkpoint"
            )
        return cls(version, checksum)


def to_blob(table: pa.Table, compress: bool = False, checked: bool = False) -> bytes:
    """A table as an Arrow IPC stream, with the format's version in front.

    The prefix is eight bytes long, so that columns stay aligned when the blob is memory-mapped.
    Compressed blobs are for the state store, where cost grows with bytes; they are read the same
    way. With ``checked`` the prefix has a checksum.
    """
    sink = pa.BufferOutputStream()
    write_blob(table, sink, compress)
    blob = bytes(sink.getvalue())
    if not checked:
        return blob
    return _PREFIX.pack(_MAGIC, FORMAT, checksum_of(blob)) + blob[_PREFIX.size :]


def write_blob(table: pa.Table, sink: pa.NativeFile, compress: bool = False) -> None:
    """Write a table's blob to a file; a large table is copied piece by piece."""
    sink.write(_PREFIX.pack(_MAGIC, FORMAT, 0))
    options = pa.ipc.IpcWriteOptions(compression=_QUICK if compress else None, use_threads=False)
    with pa.ipc.new_stream(sink, table.schema, options=options) as writer:
        for piece in in_pieces(table, SMALL_BYTES):
            writer.write_table(piece.combine_chunks())


def from_blob(blob: "bytes | pa.Buffer") -> pa.Table:
    """Read the table of a blob without copying: its columns point into the blob."""
    buffer = pa.py_buffer(blob)
    Prefix.read(buffer.slice(0, min(_PREFIX.size, buffer.size)).to_pybytes())
    return pa.ipc.open_stream(buffer.slice(_PREFIX.size), options=_READ).read_all()


def from_checked_blob(blob: bytes, what: str) -> pa.Table:
    """Read the table of a blob that was written with a checksum, which is verified.

    ``what`` names the blob where it is damaged. Blobs of format 6 have no checksum.
    """
    try:
        prefix = Prefix.read(blob[: _PREFIX.size])
        found = checksum_of(blob)
        if prefix.format > OLDEST and found != prefix.checksum:
            raise damaged(what, f"its checksum is {found} and should be {prefix.checksum}")
        table = from_blob(blob)
        # A checksum is no proof against who can write one: offsets must not lead outside.
        table.validate(full=True)
        return table
    except NO_ARROW as error:
        raise damaged(what, f"it is no Arrow stream ({error})") from error


def checksum_of(blob: bytes) -> int:
    """The checksum that a blob should have in its prefix, never zero."""
    return zlib.crc32(memoryview(blob)[_PREFIX.size :]) or 1


def damaged(what: str, reason: str) -> SpecError:
    """The error for state that is not as it was written."""
    return SpecError(
        f"{what} is not in the state store as it was written: {reason}. The checkpoint is damaged: "
        f"restore it from a copy, or start from a new checkpoint. No row was put out from it"
    )


def pieces_of_blob(file: pa.NativeFile) -> Iterator[pa.Table]:
    """Read a table from a blob file in the pieces in which it was written; at least one."""
    Prefix.read(file.read(_PREFIX.size))
    with pa.ipc.open_stream(file, options=_READ) as reader:
        yield no_rows(reader.schema)
        for batch in reader:
            yield pa.Table.from_batches([batch])
