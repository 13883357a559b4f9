"""A step on Arrow tables: payload in, result table out.

Finds keys, times and sizes in the columns, hands numbers to `Step`, and builds result rows from the
numbers of the pairs.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from headgate.columns.codes import encode_together
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

    def batch(self, code: np.ndarray) -> Batch:
        """The rows as the kernel wants them, given the codes of all keys in the table."""
        return Batch(
            self.time,
            code[self.place],
            row_bytes(self.table)[self.place],
            self.weight,
            self.sequence,
            self.matches,
            self.touched,
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
        if len(self.place) and np.all(np.diff(self.place) == 1):
            table = self.table.slice(int(self.place[0]), len(self.place))
        else:
            table = self.table.take(pa.array(self.place))
        return replace(self, table=table, place=np.arange(len(self.place)))

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
        new = (arriving[0].rows, arriving[1].rows)
        codes, count = encode_together(
            [
                shape.key_columns(held.table, number % 2)
                for number, held in enumerate((*stored, *new))
            ]
        )
        batches = [held.batch(code) for held, code in zip((*stored, *new), codes, strict=True)]
        self._step = Step(
            terms,
            (batches[0], batches[1]),
            (batches[2], batches[3]),
            count,
            progress,
            watermark,
            keep_late,
        )
        self._rows = (stored[0].followed_by(new[0]), stored[1].followed_by(new[1]))

    def results(self) -> Iterator[pa.Table]:
        """Result rows, block by block."""
        left, right = self._rows
        for left_rows, right_rows in self._step.pairs():
            yield self._shape.result(
                left.table, right.table, left.place[left_rows], right.place[right_rows]
            )

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

    def rows(self, side: int) -> Held:
        """Stored rows and arrivals of a side, with their history up to now."""
        rows = replace(self._rows[side], sequence=self._step.sequences(side))
        if self._policy.kind != Kind.HISTORY:
            return rows
        matches, touched = self._step.histories(side)
        return replace(rows, matches=matches, touched=touched)

    def survivors(self, side: int) -> Held:
        """The rows of a side that are stored now, in a table of their own."""
        return self.rows(side).where(self.alive(side)).compact()
