"""Takes rows from tables in pieces of bounded size, however wide the rows are.

Arrow takes rows from a table of several chunks by putting the chunks together first: a copy of the
whole table, for however few rows. Here every chunk stays where it is, in memory or in a mapped
file, and only the rows asked for are copied.
"""

from collections.abc import Iterator
from itertools import pairwise

import numpy as np
import pyarrow as pa

from headgate.columns.plain_form import no_rows
from headgate.columns.row_sizes import BOOKKEEPING_BYTES, row_bytes

PIECE_BYTES = 1 << 21
"""What a piece may take; only a single row that is larger takes more."""
CHUNK_BYTES = 1 << 28
"""A chunk of a table that is kept whole; Arrow's columns of text end at eight times as much."""
SMALL_BYTES = 1 << 24
"""What is copied at a time where a table is copied piece by piece."""
JOINED_BYTES = 1 << 26
"""A table of no more than this is put together once, and then read twice as fast."""


def payload_bytes(table: pa.Table) -> np.ndarray:
    """Bytes of each row's payload.

    Examples
    --------
    >>> payload_bytes(pa.table({"k": pa.array([1, 2]), "s": ["", "abc"]})).tolist()
    [13, 16]
    """
    return row_bytes(table) - BOOKKEEPING_BYTES


def cuts(sizes: np.ndarray, most_bytes: int = PIECE_BYTES) -> Iterator[slice]:
    """Neighbouring rows, as many at a time as take no more than ``most_bytes``; at least one.

    Examples
    --------
    >>> [(part.start, part.stop) for part in cuts(np.array([4, 4, 4, 20, 1]), 10)]
    [(0, 2), (2, 3), (3, 4), (4, 5)]
    """
    ends = np.cumsum(sizes)
    first, before = 0, 0
    while first < len(ends):
        end = max(int(np.searchsorted(ends, before + most_bytes, side="right")), first + 1)
        yield slice(first, end)
        first, before = end, int(ends[end - 1])


def in_pieces(table: pa.Table, most_bytes: int = PIECE_BYTES) -> Iterator[pa.Table]:
    """A table's rows piece by piece; nothing is copied."""
    if table.nbytes <= most_bytes:
        if table.num_rows:
            yield table
        return
    for part in cuts(payload_bytes(table), most_bytes):
        yield table.slice(part.start, part.stop - part.start)


class RowSource:
    """Rows of a table by their places.

    Parameters
    ----------
    table
        Of any number of chunks.
    small_bytes
        A table of no more than this is put together.
    """

    def __init__(self, table: pa.Table, small_bytes: int = JOINED_BYTES) -> None:
        self.schema = table.schema
        self.sizes = payload_bytes(table)
        """Bytes of each row."""
        whole = table.combine_chunks() if table.nbytes <= small_bytes else table
        self._chunks = whole.to_batches()
        self._ends = np.cumsum([chunk.num_rows for chunk in self._chunks])

    def take(self, places: np.ndarray) -> pa.Table:
        """The rows at these places, in this order; nulls where a place is negative.

        Costs by the rows taken and the chunks they come from, not by the table.
        """
        known = places >= 0
        missing = None if known.all() else ~known
        if len(self._chunks) == 1:
            taken = self._chunks[0].take(pa.array(places, mask=missing))
            return pa.Table.from_batches([taken])
        wanted = places if missing is None else places[known]
        chunk = np.searchsorted(self._ends, wanted, side="right")
        if len(self._chunks) < 1 << 16:
            chunk = chunk.astype(np.uint16)  # sorted in one pass or two
        order = np.argsort(chunk, kind="stable")
        taken = list(self._by_chunk(wanted[order], chunk[order]))
        gathered = pa.Table.from_batches(taken, self.schema)
        back = np.full(len(places), -1)
        back[np.flatnonzero(known)[order]] = np.arange(len(order))
        return gathered.combine_chunks().take(pa.array(back, mask=missing))

    def take_all(self, places: np.ndarray) -> pa.Table:
        """As `take`, for any number of rows; the table has chunks of bounded size."""
        parts = (self.take(places[part]) for part in cuts(self.sizes[places], SMALL_BYTES))
        return pa.concat_tables([no_rows(self.schema), *parts])

    def _by_chunk(self, places: np.ndarray, chunk: np.ndarray) -> Iterator[pa.RecordBatch]:
        """Rows given chunk by chunk."""
        changes = (np.flatnonzero(chunk[1:] != chunk[:-1]) + 1).tolist()
        for first, end in pairwise([0, *changes, len(chunk)] if len(chunk) else []):
            which = int(chunk[first])
            begins = int(self._ends[which]) - self._chunks[which].num_rows
            yield self._chunks[which].take(pa.array(places[first:end] - begins))
