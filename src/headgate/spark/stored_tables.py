"""Named tables in the state store, cut into parts, each with a mapped copy on this machine.

A state call costs some 8 ms for a megabyte when values are a few hundred kilobytes, and two to five
times as much for values of tens of megabytes; hence the parts.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import pyarrow as pa

from headgate.spark.blobs import from_blob, to_blob
from headgate.spark.local_copy import LocalCopy

PART_BYTES = 1 << 19
KEY = "name string, part int"
VALUE = "blob binary"


class Stored(NamedTuple):
    """Where a table is kept."""

    name: str
    parts: int


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
        self.local.write(name, table)
        self.written_bytes += len(blob)
        return Stored(name, len(starts))

    def get(self, stored: Stored) -> pa.Table:
        """A table kept before."""

        def fetch() -> pa.Table:
            keys = [(stored.name, part) for part in range(stored.parts)]
            return from_blob(b"".join(self.variable.getValue(key)[0] for key in keys))

        table, fetched = self.local.read(stored.name, fetch)
        self.fetched |= fetched
        return table

    def remove(self, stored: Stored) -> None:
        """Forget a table; its local copy goes with the next batch."""
        for part in range(stored.parts):
            self.variable.removeKey((stored.name, part))
