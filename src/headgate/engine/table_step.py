"""A step on Arrow tables: payload in, result table out.

Hands the numbers of the rows to `Step`, and builds result rows from the numbers of the pairs.
"""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pyarrow as pa

from headgate.columns.pieces import PIECE_BYTES, RowSource
from headgate.engine.definitions import Definitions
from headgate.engine.shape import Shape
from headgate.engine.stats import Stats
from headgate.engine.table_learner import LearnsFromTables, Lessons, LessonsLearned
from headgate.engine.table_rows import Held, Screened, coded
from headgate.kernel.pace import Pace
from headgate.kernel.progress import NO_WATERMARK, Progress
from headgate.kernel.step import Step
from headgate.kernel.terms import Terms
from headgate.pacing.pacer import Passed


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
        lessons: Lessons | None = None,
        shard: int = 0,
        definitions: Definitions | None = None,
        pace: Pace | None = None,
    ) -> None:
        terms = replace(terms, policy=terms.policy.for_shard(shard), pace=pace)
        self._redefined = 0
        if definitions is not None:
            terms = definitions.applied(terms)
            self._redefined = definitions.at_once
        self._shard = shard
        self._shape = shape
        self._policy = terms.policy
        self._arriving = arriving
        self._stored = stored
        new = (arriving[0].rows, arriving[1].rows)
        self._learning: LearnsFromTables | None = None
        if lessons is None:
            batches, codes = coded(shape, (*stored, *new), definitions)
            left, right, new_left, new_right = batches
            self._step = Step(
                terms, (left, right), (new_left, new_right), codes, progress, watermark, keep_late
            )
        else:
            self._learning = LearnsFromTables(
                terms, shape, stored, new, progress, watermark, keep_late, lessons, definitions
            )
            self._step = self._learning.step
            # Kept with the rows where the policy is one that goes by what was known when they came.
            first, second = (
                replace(side, rows=replace(side.rows, weight=weight))
                for side, weight in zip(arriving, self._learning.weights, strict=True)
            )
            self._arriving = (first, second)

    def results(self, most_bytes: int = PIECE_BYTES) -> Iterator[pa.Table]:
        """Result rows, so many bytes at a time; only a row that is larger comes alone."""
        places = [
            np.concatenate([stored.place, new.rows.place + stored.table.num_rows])
            for stored, new in zip(self._stored, self._arriving, strict=True)
        ]
        sources: list[RowSource] = []
        for block in self._step.pairs():
            sources = sources or [self._rows(0), self._rows(1)]
            pairs = block.made_of(places[0], places[1], self._shard)
            yield from self._shape.results(sources[0], sources[1], pairs, most_bytes)

    def _rows(self, side: int) -> RowSource:
        """The payload of a side's stored rows and arrivals."""
        return RowSource(
            pa.concat_tables([self._stored[side].table, self._arriving[side].rows.table])
        )

    def raise_watermark(self, watermark: int) -> None:
        """After the last result: expire rows that nothing after this watermark can meet."""
        self._step.raise_watermark(watermark)

    def learned(self) -> LessonsLearned | None:
        """After all else: what was learned; None without lessons to begin with."""
        return None if self._learning is None else self._learning.finish()

    @property
    def after(self) -> Progress:
        """What the next step must know."""
        return self._step.after

    @property
    def stats(self) -> Stats:
        """What this step did."""
        left, right = self._arriving
        arrived = (len(left.rows.time), len(right.rows.time))
        came = (arrived[0] + left.dropped, arrived[1] + right.dropped)
        counted = Stats.of_step(
            self._step,
            came[0] + left.late + left.null_times,
            came[1] + right.late + right.null_times,
        ).with_dropped(arrived, came)
        return counted.then(
            Stats(
                late=left.late + right.late,
                null_times=left.null_times + right.null_times,
                redefined=self._redefined,
                stored_rows=counted.stored_rows,
                stored_bytes=counted.stored_bytes,
            )
        )

    def passed(self, seconds: float = 0.0) -> Passed:
        """What a pacer must know of this step, which took so long."""
        left, right = self._arriving
        return Passed.of_step(self._step, (len(left.rows.time), len(right.rows.time)), seconds)

    @property
    def keeps_history(self) -> bool:
        """Whether the policy that was followed goes by what happened to rows."""
        return self._step.keeps_history

    def alive(self, side: int) -> np.ndarray:
        """For each stored row of a side and then each arrival that took part: stored now?"""
        return self._step.alive(side)

    def kept_arrivals(self, side: int) -> Held:
        """The arrivals of a side that are stored now."""
        count = len(self._stored[side].place)
        rows = replace(self._arriving[side].rows, sequence=self._step.sequences(side)[count:])
        return rows.where(self.alive(side)[count:])

    def survivors(self, side: int) -> Held:
        """The rows of a side that are stored now, with their history up to now."""
        rows = self._stored[side].followed_by(self._arriving[side].rows)
        rows = replace(rows, sequence=self._step.sequences(side))
        if self.keeps_history:
            matches, touched = self._step.histories(side)
            recent = self._step.recent(side)
            rows = replace(rows, matches=matches, touched=touched, recent=recent)
        return rows.where(self.alive(side))
