"""Named tables in the state store, cut into parts, each with a mapped copy on this machine.

A state call costs some 8 ms for a megabyte when values are a few hundred kilobytes, and two to five
times as much for values of tens of megabytes; hence the parts.
"""

import zlib
from dataclasses import dataclass
from typing import Any, NamedTuple

import pyarrow as pa

from headgate.spark.blobs import from_blob, to_blob
from headgate.spark.local_copy import LocalCopy
from headgate.spec import SpecError

PART_BYTES = 1 << 19
KEY = "name string, part int"
VALUE = "blob binary"


class Stored(NamedTuple):
    """Where a table is kept, and what it must be."""

    name: str
    parts: int
    checksum: int | None = None
    """Of the blob as the state store has it; None where an earlier version wrote it."""


@dataclass
class StoredTables:
    """The tables in one map state."""

    variable: Any
    local: LocalCopy
    fetched: bool = False
    """Whether any table had to come from the state store."""
    written_bytes: int = 0

    def put(self, name: str, table: pa.Table) -> Stored:
        """Keep a table under a name unlike any other."""
        blob = to_blob(table, compress=True)
        starts = range(0, len(blob), PART_BYTES)
        for part, first in enumerate(starts):
            self.variable.updateValue((name, part), (blob[first : first + PART_BYTES],))
        stored = Stored(name, len(starts), zlib.crc32(blob))
        self.local.write(name, stored.checksum or 0, table)
        self.written_bytes += len(blob)
        return stored

    def get(self, stored: Stored) -> pa.Table:
        """A table kept before."""
        table, fetched = self.local.read(
            stored.name, stored.checksum or 0, lambda: self._fetch(stored)
        )
        self.fetched |= fetched
        return table

    def remove(self, stored: Stored) -> None:
        """Forget a table; its local copy goes with the next batch."""
        for part in range(stored.parts):
            self.variable.removeKey((stored.name, part))

    def _fetch(self, stored: Stored) -> pa.Table:
        parts = [self.variable.getValue((stored.name, part)) for part in range(stored.parts)]
        if None in parts:
            missing = f"part {parts.index(None) + 1} of {stored.parts} is missing"
            raise self._broken(stored, missing)
        blob = b"".join(part[0] for part in parts)
        found = zlib.crc32(blob)
        if stored.checksum is not None and found != stored.checksum:
            raise self._broken(stored, f"its checksum is {found} and should be {stored.checksum}")
        return from_blob(blob)

    def _broken(self, stored: Stored, reason: str) -> SpecError:
        return SpecError(
            f"blob {stored.name} of shard {self.local.shard} is not in the state store as it was "
            f"written: {reason}. The checkpoint is damaged: restore it from a copy, or start from "
            f"a new one"
        )
