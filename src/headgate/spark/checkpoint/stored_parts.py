"""Stored tables as Spark's reader of state gives them: parts in order, put together and verified.

`StoredTables` does the reading and writing, as in a running query; only the local copies are left
out.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

import pyarrow as pa

from headgate.spark.state.stored_tables import StoredTables, TablePlace

PARTS = "shard int, name string, part int, blob binary"


class NoCopies:
    """Stands where a running query keeps local copies: every table comes from the state store."""

    def __init__(self, shard: int) -> None:
        self.shard = shard

    def read(
        self, name: str, checksum: int, fetch: Callable[[], pa.Table]
    ) -> tuple[pa.Table, bool]:
        """Fetch the table."""
        return fetch(), True

    def write(self, name: str, checksum: int, table: pa.Table) -> None:
        """Nothing to do."""


class _Parts:
    """The parts of one table, as a map in the state store has them."""

    def __init__(self) -> None:
        self.found: dict[tuple[str, int], bytes] = {}

    def getValue(self, key: tuple[str, int]) -> tuple[bytes] | None:
        blob = self.found.get(key)
        return None if blob is None else (blob,)


class StoredTable(NamedTuple):
    """A table, and where it was stored."""

    shard: int
    name: str
    table: pa.Table


def tables_of(
    batches: Iterable[pa.RecordBatch], wanted: dict[tuple[int, str], TablePlace]
) -> Iterator[StoredTable]:
    """Put together the tables whose parts come one after the other; those not wanted are left out.

    Raises where a table is not as it was written.
    """
    at: tuple[int, str] | None = None
    parts = _Parts()
    for batch in batches:
        for shard, name, part, blob in zip(*(_plain(column) for column in batch), strict=True):
            if at is not None and at != (shard, name):
                yield from _whole(at, parts, wanted)
                parts = _Parts()
            at = (shard, name)
            parts.found[name, part] = blob
    if at is not None:
        yield from _whole(at, parts, wanted)


def _plain(column: pa.Array) -> list[Any]:
    plain: list[Any] = column.to_pylist()
    return plain


def _whole(
    at: tuple[int, str], parts: _Parts, wanted: dict[tuple[int, str], TablePlace]
) -> Iterator[StoredTable]:
    stored = wanted.get(at)
    if stored is not None:
        local: Any = NoCopies(at[0])
        yield StoredTable(*at, StoredTables(parts, local).get(stored))
