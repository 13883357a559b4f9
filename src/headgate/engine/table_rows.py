"""Rows with their payload in Arrow tables, stored or arriving."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from headgate.columns.compaction import compacted, trimmed
from headgate.columns.plain_form import no_rows
from headgate.columns.row_sizes import row_bytes
from headgate.columns.row_source import RowSource, cuts
from headgate.columns.times import NO_TIME, microseconds
from headgate.engine.placed_rows import PlacedRows, Screened
from headgate.kernel.rows import Rows
from headgate.kernel.step_progress import NO_WATERMARK
from headgate.spec import SpecError

FARTHEST_TIME = 1 << 60
"""In microseconds from 1970: the kernel doubles times, and adds windows and sides."""


@dataclass(frozen=True)
class TableRows(PlacedRows):
    """Rows of one side: payload in an Arrow table, and numbers for the kernel.

    The table may hold more rows than these (rows given up whose bytes are not yet reclaimed), so
    ``place`` says where each row stands in it. Codes, sizes and values are those of a step: see
    `coded`.
    """

    table: pa.Table

    @classmethod
    def arriving(cls, table: pa.Table, time: np.ndarray, weight: np.ndarray) -> "TableRows":
        """Arriving rows: no match history yet."""
        none = np.empty(0, np.int64)
        rows = Rows.of_arrivals(time, none.astype(np.int32), none, weight)
        return cls(np.arange(len(time)), rows._replace(recent=np.zeros(len(time))), table)

    @classmethod
    def nothing(cls, schema: pa.Schema) -> "TableRows":
        """No rows."""
        none = np.empty(0, np.int64)
        return cls.arriving(no_rows(schema), none, none.astype(np.float64))

    def only(self, table: pa.Table) -> pa.Table:
        """These rows of the table, or of some of its columns."""
        count = len(self.place)
        first = int(self.place[0]) if count else 0
        # The ends may be as in a slice and what lies between in another order.
        if count == 0 or (
            int(self.place[-1]) - first == count - 1 and bool((np.diff(self.place) == 1).all())
        ):
            return table.slice(first, count)
        return table.take(pa.array(self.place))

    def coded(self, code: np.ndarray, value: np.ndarray) -> Rows:
        """The rows as input for the kernel, given the codes of their keys and their values."""
        return self.rows._replace(code=code, size=row_bytes(self.table)[self.place], value=value)

    def places_with(self, other: "TableRows") -> np.ndarray:
        """Where these rows stand, and then those, in both tables together."""
        return np.concatenate([self.place, other.place + self.table.num_rows])

    def followed_by(self, other: "TableRows") -> "TableRows":
        """These rows, then those of another table."""
        return TableRows(
            self.places_with(other),
            self.rows.followed_by(other.rows),
            pa.concat_tables([self.table, other.table]),
        )

    def narrowed(self) -> "TableRows":
        """The same rows in the part of the table from the first of them to the last."""
        if not len(self.place):
            return replace(self, table=self.table.slice(0, 0))
        first, last = int(self.place.min()), int(self.place.max())
        part = self.table.slice(first, last + 1 - first)
        return replace(self, table=part, place=self.place - first)

    def compact(self) -> "TableRows":
        """The same rows in a table whose buffers hold no others: fit to be kept."""
        table = compacted(self.table, self.place)
        return replace(self, table=table, place=np.arange(len(self.place)))

    def pieces(self, most_bytes: int) -> Iterator[pa.Table]:
        """The rows, so many bytes at a time, in buffers that hold no others."""
        rows = RowSource(self.table)
        for part in cuts(rows.sizes[self.place], most_bytes):
            yield trimmed(rows.take(self.place[part]))


def screen(
    table: pa.Table, time_column: str, weight: np.ndarray | None = None, late_at: int = NO_WATERMARK
) -> Screened[TableRows]:
    """Set aside rows without a time, and rows at or before ``late_at``."""
    time = microseconds(table.column(time_column))
    weight = np.zeros(len(time)) if weight is None else weight
    timed = time != NO_TIME
    punctual = time > late_at
    rows = TableRows.arriving(table, time, weight).where(timed & punctual)
    null_times = int(np.count_nonzero(~timed))
    return Screened(rows, len(time) - len(rows) - null_times, null_times)


def without_times(table: pa.Table, time_column: str) -> np.ndarray:
    """The places of rows without a time."""
    return np.flatnonzero(microseconds(table.column(time_column)) == NO_TIME)


def check_times(which: str, column: str, screened: Screened[TableRows]) -> None:
    """Raise where a time of a whole input is too far away to be counted with."""
    time = screened.time
    farthest = int(max(time.max(), -time.min())) if len(time) else 0
    # Without a watermark, only what is farther back than any time can be late.
    if screened.late or farthest > FARTHEST_TIME:
        raise SpecError(
            f'time column "{column}" of the {which} side has times more than 36,000 years '
            f"from now, which cannot be joined: leave such rows out"
        )
