"""Named tables in the state store, split into parts, each table with a local memory-mapped copy.

State calls cost about 8 ms per megabyte when values are a few hundred kilobytes, and two to five
times as much for values of tens of megabytes; hence the parts.
"""

import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import pyarrow as pa

from headgate.spark.state.blobs import NO_ARROW, damaged, pieces_of_blob, write_blob
from headgate.spark.state.local_copy import LocalCopy
from headgate.spark.table_buffer import gathered

PART_BYTES = 1 << 19
KEY = "name string, part int"
VALUE = "blob binary"


class TablePlace(NamedTuple):
    """The location of a stored table, and its expected checksum."""

    name: str
    parts: int
    checksum: int | None = None
    """Of the blob as the state store has it; None where an earlier version wrote it."""


class _Parts:
    """A writable file that puts its bytes into the state store part by part."""

    closed = False

    def __init__(self, variable: Any, name: str) -> None:
        self._variable, self._name = variable, name
        self._rest = bytearray()
        self.count = self.written_bytes = self.checksum = 0

    def write(self, data: "bytes | memoryview | pa.Buffer") -> int:
        """As of a file."""
        given = memoryview(data)
        self._rest += given
        self.written_bytes += len(given)
        self.checksum = zlib.crc32(given, self.checksum)
        while len(self._rest) >= PART_BYTES:
            self._put(PART_BYTES)
        return len(given)

    def flush(self) -> None:
        """As of a file; does not cut a part short."""

    def close(self) -> None:
        """As of a file."""

    def flush_rest(self) -> None:
        """Write the last part."""
        if self._rest:
            self._put(len(self._rest))

    def _put(self, size: int) -> None:
        self._variable.updateValue((self._name, self.count), (bytes(self._rest[:size]),))
        del self._rest[:size]
        self.count += 1


class _StoredParts:
    """A table's parts, read like a file that has the checksum of what was read."""

    closed = False

    def __init__(self, parts: Iterator[bytes]) -> None:
        self._parts = parts
        self._rest = bytearray()
        self.checksum = 0

    def read(self, size: int) -> bytes:
        """As of a file: so many bytes, fewer only at the end."""
        while len(self._rest) < size and (part := next(self._parts, None)) is not None:
            self.checksum = zlib.crc32(part, self.checksum)
            self._rest += part
        found = bytes(self._rest[:size])
        del self._rest[:size]
        return found

    def read_to_end(self) -> None:
        """Read what is left: the checksum is then that of the whole."""
        while self.read(PART_BYTES):
            pass

    def close(self) -> None:
        """As of a file."""


@dataclass
class StoredTables:
    """The tables in one map state."""

    variable: Any
    local: LocalCopy
    fetched: bool = False
    """Whether any table had to come from the state store."""
    written_bytes: int = 0

    def put(self, name: str, table: pa.Table) -> TablePlace:
        """Store a table under a unique name."""
        parts = _Parts(self.variable, name)
        write_blob(table, pa.PythonFile(parts, "w"), compress=True)
        parts.flush_rest()
        self.local.write(name, parts.checksum, table)
        self.written_bytes += parts.written_bytes
        return TablePlace(name, parts.count, parts.checksum)

    def get(self, stored: TablePlace) -> pa.Table:
        """Read a stored table."""
        table, fetched = self.local.read(
            stored.name, stored.checksum or 0, lambda: self._fetch(stored)
        )
        self.fetched |= fetched
        return table

    def remove(self, stored: TablePlace) -> None:
        """Delete a table; its local copy is deleted in the next batch."""
        for part in range(stored.parts):
            self.variable.removeKey((stored.name, part))

    def _fetch(self, stored: TablePlace) -> pa.Table:
        return fetched_table(self.variable, stored, self.local.shard)


def fetched_table(variable: Any, stored: TablePlace, shard: int) -> pa.Table:
    """Read a table from the state store, or what stands for it; raises where it is damaged."""
    what = f"table {stored.name} of shard {shard}"
    # Read twice, since only bytes that were verified are parsed, and large tables are parsed part
    # by part. What is parsed is verified once more: the store is read anew. A rebuild is rare.
    before = _StoredParts(_parts_of(variable, stored, what))
    before.read_to_end()
    _check_checksum(stored, before.checksum, what)
    parsed = _StoredParts(_parts_of(variable, stored, what))
    try:
        table = gathered(pieces_of_blob(pa.PythonFile(parsed, "r")))
        # A checksum is no proof against who can write one: offsets must not lead outside.
        table.validate(full=True)
    except NO_ARROW as error:
        # Format 6 has tables without a checksum.
        raise damaged(what, f"it is no Arrow stream ({error})") from error
    parsed.read_to_end()
    _check_checksum(stored, parsed.checksum, what)
    return table


def _parts_of(variable: Any, stored: TablePlace, what: str) -> Iterator[bytes]:
    for part in range(stored.parts):
        value = variable.getValue((stored.name, part))
        if value is None:
            raise damaged(what, f"part {part + 1} of {stored.parts} is missing")
        yield value[0]


def _check_checksum(stored: TablePlace, found: int, what: str) -> None:
    if stored.checksum is not None and found != stored.checksum:
        raise damaged(what, f"its checksum is {found} and should be {stored.checksum}")
