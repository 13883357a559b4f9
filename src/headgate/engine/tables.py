"""A step on Arrow tables: payload in, result table out.

Finds keys, times and sizes in the columns, hands numbers to `Step`, and builds result rows from the
numbers of the pairs.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from headgate.columns.codes import NULL, encode_together
from headgate.columns.sizes import row_bytes
from headgate.columns.times import NO_TIME, microseconds
from headgate.engine.shape import Shape
from headgate.engine.stats import Stats
from headgate.engine.step import NO_WATERMARK, Batch, Progress, Step, Terms
from headgate.policies.base import Kind


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

    @classmethod
    def arriving(cls, table: pa.Table, time: np.ndarray, weight: np.ndarray) -> "Held":
        """Rows without a past."""
        none = np.zeros(len(time), np.int64)
        return cls(table, np.arange(len(time)), time, weight, none, none.astype(np.int32), time)

    @classmethod
    def nothing(cls, schema: pa.Schema) -> "Held":
        """No rows."""
        none = np.empty(0, np.int64)
        return cls.arriving(schema.empty_table(), none, none.astype(np.float64))

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
        """The same rows in a table that holds no others."""
        return replace(self, table=self.only(self.table), place=np.arange(len(self.place)))

    def _columns(self) -> tuple[np.ndarray, ...]:
        return (self.place, self.time, self.weight, self.sequence, self.matches, self.touched)


@dataclass(frozen=True)
class Screened:
    """Arriving rows of one side that can take part, and how many could not."""

    rows: Held
    late: int
    null_times: int


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


class TableStep:
    """A step under way: iterate `results`, then read the rest."""

    def __init__(
        self,
        terms: Terms,
        shape: Shape,
        stored: tuple[Held, Held],
        arriving: tuple[Screened, Screened],
        progress: Progress = Progress(),  # noqa: B008 - immutable
        watermark: int = NO_WATERMARK,
        keep_late: bool = False,
    ) -> None:
        self._shape = shape
        self._policy = terms.policy
        self._arriving = arriving
        self._stored = stored
        new = (arriving[0].rows, arriving[1].rows)
        (left, right, new_left, new_right), codes = coded(shape, (*stored, *new))
        self._step = Step(
            terms, (left, right), (new_left, new_right), codes, progress, watermark, keep_late
        )

    def results(self) -> Iterator[pa.Table]:
        """Result rows, block by block."""
        tables, places = [], []
        for stored, new in zip(self._stored, self._arriving, strict=True):
            tables.append(pa.concat_tables([stored.table, new.rows.table]))
            places.append(np.concatenate([stored.place, new.rows.place + stored.table.num_rows]))
        for left, right in self._step.pairs():
            yield self._shape.result(tables[0], tables[1], places[0][left], places[1][right])

    def raise_watermark(self, watermark: int) -> None:
        """After the last result: expire rows that nothing after this watermark can meet."""
        self._step.raise_watermark(watermark)

    @property
    def after(self) -> Progress:
        """What the next step must know."""
        return self._step.after

    @property
    def stats(self) -> Stats:
        """What this step did."""
        left, right = self._arriving
        counted = Stats.of_counts(
            self._step.counts,
            len(left.rows.time) + left.late + left.null_times,
            len(right.rows.time) + right.late + right.null_times,
            (self._step.stored_rows, self._step.stored_bytes),
        )
        return counted.then(
            Stats(
                late=left.late + right.late,
                null_times=left.null_times + right.null_times,
                stored_rows=counted.stored_rows,
                stored_bytes=counted.stored_bytes,
            )
        )

    def alive(self, side: int) -> np.ndarray:
        """For each stored row of a side and then each arrival that took part: stored now?"""
        return self._step.alive(side)

    def arrivals(self, side: int) -> Held:
        """The arrivals of a side that took part."""
        count = len(self._stored[side].place)
        return replace(self._arriving[side].rows, sequence=self._step.sequences(side)[count:])

    def survivors(self, side: int) -> Held:
        """The rows of a side that are stored now, with their history up to now."""
        rows = self._stored[side].followed_by(self._arriving[side].rows)
        rows = replace(rows, sequence=self._step.sequences(side))
        if self._policy.kind == Kind.HISTORY:
            matches, touched = self._step.histories(side)
            rows = replace(rows, matches=matches, touched=touched)
        return rows.where(self.alive(side))


def coded(shape: Shape, groups: Sequence[Held]) -> tuple[list[Batch], int]:
    """Rows as the kernel wants them, their keys coded on one scale; and the number of codes.

    Groups are of the left and the right side in turn.
    """
    codes, count = _codes(shape, groups)
    if shape.condition is None:
        return [
            held.batch(code, np.empty(0)) for held, code in zip(groups, codes, strict=True)
        ], count
    names = shape.condition.columns
    numbers = shape.condition.numbers_together(
        [
            held.only(held.table.select([names[number % 2]])).column(0)
            for number, held in enumerate(groups)
        ]
    )
    return [
        held.batch(np.where(missing, np.int32(NULL), code), value)
        for held, code, (value, missing) in zip(groups, codes, numbers, strict=True)
    ], count


def _codes(shape: Shape, groups: Sequence[Held]) -> tuple[list[np.ndarray], int]:
    if not shape.keys.left:
        return [np.zeros(len(held.place), np.int32) for held in groups], 1
    names = (list(shape.keys.left), list(shape.keys.right))
    return encode_together(
        [
            held.only(held.table.select(names[number % 2])).columns
            for number, held in enumerate(groups)
        ]
    )
