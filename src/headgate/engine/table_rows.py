"""Rows on Arrow tables: payload, what is kept beside it, and what the kernel wants of them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from headgate.columns.compaction import compacted, trimmed
from headgate.columns.key_codes import NULL, encode_together
from headgate.columns.pieces import SMALL_BYTES, RowSource, cuts
from headgate.columns.plain_form import no_rows
from headgate.columns.row_sizes import BOOKKEEPING_BYTES, row_bytes
from headgate.columns.times import NO_TIME, microseconds
from headgate.engine.definitions import Definitions
from headgate.engine.shape import Shape
from headgate.kernel.progress import NO_WATERMARK
from headgate.kernel.rows import Batch
from headgate.spec import SpecError

FARTHEST_TIME = 1 << 60
"""In microseconds from 1970: the kernel doubles times, and adds windows and sides."""


@dataclass(frozen=True)
class Held:
    """Rows of one side: payload, and what is kept beside it.

    The table may hold more rows than these (rows given up whose bytes are not yet reclaimed), so
    ``place`` says where each row stands in it. All arrays have an entry a row.
    """

    table: pa.Table
    place: np.ndarray
    time: np.ndarray
    weight: np.ndarray
    sequence: np.ndarray
    matches: np.ndarray
    touched: np.ndarray
    recent: np.ndarray

    @classmethod
    def arriving(cls, table: pa.Table, time: np.ndarray, weight: np.ndarray) -> "Held":
        """Rows without a past."""
        none = np.zeros(len(time), np.int64)
        zeros = np.zeros(len(time))
        return cls(
            table, np.arange(len(time)), time, weight, none, none.astype(np.int32), time, zeros
        )

    @classmethod
    def nothing(cls, schema: pa.Schema) -> "Held":
        """No rows."""
        none = np.empty(0, np.int64)
        return cls.arriving(no_rows(schema), none, none.astype(np.float64))

    def only(self, table: pa.Table) -> pa.Table:
        """These rows of the table, or of some of its columns."""
        count = len(self.place)
        first = int(self.place[0]) if count else 0
        if count == 0 or int(self.place[-1]) - first == count - 1:
            return table.slice(first, count)
        return table.take(pa.array(self.place))

    def batch(self, code: np.ndarray, value: np.ndarray) -> Batch:
        """The rows as the kernel wants them, given the codes of their keys and their values."""
        return Batch(
            self.time,
            code,
            row_bytes(self.table)[self.place],
            self.weight,
            self.sequence,
            self.matches,
            self.touched,
            value,
            recent=self.recent,
        )

    def where(self, keep: np.ndarray) -> "Held":
        """Only some of the rows; the table stays as it is."""
        if keep.all():
            return self
        return Held(self.table, *(column[keep] for column in self._columns()))

    def followed_by(self, other: "Held") -> "Held":
        """These rows, then those."""
        theirs = replace(other, place=other.place + self.table.num_rows)
        return Held(
            pa.concat_tables([self.table, other.table]),
            *(
                np.concatenate(both)
                for both in zip(self._columns(), theirs._columns(), strict=True)
            ),
        )

    def compact(self) -> "Held":
        """The same rows in a table whose buffers hold no others: fit to be kept."""
        table = compacted(self.table, self.place)
        return replace(self, table=table, place=np.arange(len(self.place)))

    def pieces(self, most_bytes: int) -> Iterator[pa.Table]:
        """The rows, so many bytes at a time, in buffers that hold no others."""
        rows = RowSource(self.table)
        for part in cuts(rows.sizes[self.place], most_bytes):
            yield trimmed(rows.take(self.place[part]))

    def _columns(self) -> tuple[np.ndarray, ...]:
        return (
            self.place,
            self.time,
            self.weight,
            self.sequence,
            self.matches,
            self.touched,
            self.recent,
        )


Numbers = tuple[np.ndarray, np.ndarray]


@dataclass(frozen=True)
class Screened:
    """Arriving rows of one side that can take part, and how many could not."""

    rows: Held
    late: int
    null_times: int
    dropped: int = 0
    """Rows for which there was no time."""

    def thinned(self, inside: np.ndarray) -> "Screened":
        """Only the rows for which there is time."""
        out = int(len(inside) - np.count_nonzero(inside))
        return replace(self, rows=self.rows.where(inside), dropped=self.dropped + out)


def numbered(arriving: tuple[Screened, Screened], seen: tuple[int, int]) -> Numbers:
    """A number for each arrival, counting on from the rows seen so far."""
    left, right = (
        first + np.arange(len(side.rows.time)) for first, side in zip(seen, arriving, strict=True)
    )
    return left, right


def screen(
    table: pa.Table, time_column: str, weight: np.ndarray | None = None, late_at: int = NO_WATERMARK
) -> Screened:
    """Set aside rows without a time, and rows at or before ``late_at``."""
    time = microseconds(table.column(time_column))
    weight = np.zeros(len(time)) if weight is None else weight
    timed = time != NO_TIME
    punctual = time > late_at
    rows = Held.arriving(table, time, weight).where(timed & punctual)
    null_times = int(np.count_nonzero(~timed))
    return Screened(rows, len(time) - len(rows.time) - null_times, null_times)


def check_times(which: str, column: str, screened: Screened) -> None:
    """Raise where a time of a whole input is too far away to be counted with."""
    time = screened.rows.time
    farthest = int(max(time.max(), -time.min())) if len(time) else 0
    # Without a watermark, only what is farther back than any time can be late.
    if screened.late or farthest > FARTHEST_TIME:
        raise SpecError(
            f'time column "{column}" of the {which} side has times beyond the year 36,000, before '
            f"or after ours, which cannot be joined by: leave such rows out"
        )


class Coded(NamedTuple):
    """Keys as codes on one scale, and what a predicate looks at as numbers on another."""

    codes: list[np.ndarray]
    values: list[np.ndarray]
    """Empty arrays where there is no predicate."""
    distinct: int
    """How many different codes there are."""


def code_tables(
    shape: Shape, tables: Sequence[pa.Table], more_keys: Sequence[pa.Table] = ()
) -> Coded:
    """Code tables of the left and the right side in turn, and then some of keys alone."""
    count = 1
    codes = [np.zeros(table.num_rows, np.int32) for table in (*tables, *more_keys)]
    if shape.keys.left:
        keys = [shape.key_columns(table, place % 2) for place, table in enumerate(tables)]
        codes, count = encode_together([*keys, *(table.columns for table in more_keys)])
    if shape.condition is None:
        return Coded(codes, [np.empty(0) for _ in tables], count)
    names = shape.condition.columns
    numbers = shape.condition.numbers_together(
        [table.column(names[place % 2]) for place, table in enumerate(tables)]
    )
    for place, (_, missing) in enumerate(numbers):
        codes[place] = np.where(missing, np.int32(NULL), codes[place])
    return Coded(codes, [value for value, _ in numbers], count)


def matched(shape: Shape, table: pa.Table, side: int) -> pa.Table:
    """The columns of a side that decide what matches: keys, and what a predicate looks at."""
    names = list((shape.keys.left, shape.keys.right)[side])
    if shape.condition is not None and shape.condition.columns[side] not in names:
        names.append(shape.condition.columns[side])
    return table.select(names)


def key_bytes(shape: Shape, tables: Sequence[pa.Table], more_keys: Sequence[pa.Table] = ()) -> int:
    """The most that what decides a match takes; tables are as for `code_tables`."""
    deciding = [matched(shape, table, place % 2) for place, table in enumerate(tables)]
    sizes = [int(row_bytes(table).max(initial=0)) for table in (*deciding, *more_keys)]
    return max(max(sizes) - BOOKKEEPING_BYTES, 0)


def coded(
    shape: Shape, groups: Sequence[Held], definitions: Definitions | None = None
) -> tuple[list[Batch], int]:
    """Rows as the kernel wants them, and the number of codes.

    Groups are of the left and the right side in turn.
    """
    tables = [held.only(matched(shape, held.table, place % 2)) for place, held in enumerate(groups)]
    codes, values, count = code_tables(shape, tables)
    batches = [
        held.batch(code, value) for held, code, value in zip(groups, codes, values, strict=True)
    ]
    return judged(batches, groups, definitions), count


def judged(
    batches: Sequence[Batch], groups: Sequence[Held], definitions: Definitions | None
) -> list[Batch]:
    """The rows with their importance; groups are of the left and the right side in turn."""
    if definitions is None:
        return list(batches)
    return [
        batch._replace(importance=_importance(definitions, held, place % 2))
        for place, (batch, held) in enumerate(zip(batches, groups, strict=True))
    ]


def _importance(definitions: Definitions, rows: Held, side: int) -> np.ndarray:
    none = definitions.of_rows(no_rows(rows.table.schema), side)
    parts = (definitions.of_rows(piece, side) for piece in rows.pieces(SMALL_BYTES))
    return np.concatenate([none, *parts], axis=1)
