"""A step of a join on rows with payload: pairs by payload position, and the surviving rows.

Hands the numbers of the rows to `Step`, and builds result rows from the pairs it makes.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Generic

import numpy as np
import pyarrow as pa

from headgate.columns.row_source import PIECE_BYTES, RowSource
from headgate.engine.placed_rows import Placed, Screened
from headgate.engine.shape import Shape
from headgate.engine.stats import Stats
from headgate.engine.table_rows import TableRows
from headgate.kernel.pair_block import PairBlock
from headgate.kernel.step import Step
from headgate.kernel.step_input import StepInput
from headgate.kernel.step_progress import StepProgress
from headgate.pacing.pacer import Passed


class JoinStep(Generic[Placed]):
    """One step of a join: iterate `pairs` first, then read the other results.

    Parameters
    ----------
    given
        What the kernel is given.
    stored, arriving
        The same rows, with their places.
    """

    def __init__(
        self,
        given: StepInput,
        stored: tuple[Placed, Placed],
        arriving: tuple[Screened[Placed], Screened[Placed]],
    ) -> None:
        self.stored, self.arriving = stored, arriving
        self.kernel = Step(given)
        """The step on numbers alone."""

    def pairs(self) -> Iterator[PairBlock]:
        """Pairs in blocks, by the places of rows in the payload: stored rows, then arrivals."""
        left, right = (
            stored.places_with(came.rows)
            for stored, came in zip(self.stored, self.arriving, strict=True)
        )
        for block in self.kernel.pairs():
            yield block.placed(left, right)

    def gone(self) -> Iterator[PairBlock]:
        """After the watermark was raised: rows that come out alone, by their places."""
        for block in self.kernel.gone():
            left, right = (
                stored.places_with(came.rows)
                for stored, came in zip(self.stored, self.arriving, strict=True)
            )
            yield block.placed(left, right)

    def _rows(self, side: int) -> Placed:
        """Stored rows and arrivals of a side."""
        return self.stored[side].followed_by(self.arriving[side].rows)

    def raise_watermark(self, watermark: int) -> None:
        """After the last pair: expire rows that no row after this watermark can match.

        Those without a partner are then to be had from `gone`.
        """
        self.kernel.raise_watermark(watermark)

    @property
    def arrived(self) -> tuple[int, int]:
        """Rows of each side that took part."""
        return len(self.arriving[0]), len(self.arriving[1])

    @property
    def after(self) -> StepProgress:
        """The progress to hand to the next step."""
        return self.kernel.after

    @property
    def stats(self) -> Stats:
        """What this step did."""
        left, right = self.arriving
        arrived = self.arrived
        came = (arrived[0] + left.dropped, arrived[1] + right.dropped)
        counted = Stats.of_step(
            self.kernel,
            came[0] + left.late + left.null_times,
            came[1] + right.late + right.null_times,
        ).with_dropped(arrived, came)
        return replace(
            counted,
            late=left.late + right.late,
            null_times=left.null_times + right.null_times,
        )

    def passed(self) -> Passed:
        """What a pacer needs to know of this step, except the time it took."""
        return Passed.of_step(self.kernel, self.arrived, seconds=0.0)

    @property
    def keeps_history(self) -> bool:
        """Whether the policy followed uses the match history of rows."""
        return self.kernel.keeps_history

    def alive(self, side: int) -> np.ndarray:
        """For each stored row of a side and then each arrival that took part: stored now?"""
        return self.kernel.alive(side)

    def kept_arrivals(self, side: int) -> Placed:
        """The arrivals of a side that are stored now."""
        count, came = len(self.stored[side]), self.arriving[side].rows
        rows = came.rows._replace(sequence=self.kernel.sequences(side)[count:])
        return replace(came, rows=rows).where(self.alive(side)[count:])

    def kept_fates(self, side: int) -> np.ndarray:
        """What is known of the partners of the rows that are stored now, as `Fate`."""
        fates = self.kernel.fates(side)
        alive = self.alive(side)
        return np.zeros(int(alive.sum()), np.uint8) if fates is None else fates[alive]

    def survivors(self, side: int) -> Placed:
        """The rows of a side that are stored now, with their history up to now."""
        alive = self.alive(side)
        kept = self._rows(side).where(alive)
        return replace(kept, rows=self.kernel.brought_forward(side, kept.rows, alive))


def results(
    step: JoinStep[TableRows],
    shape: Shape,
    shard: int = 0,
    most_bytes: int = PIECE_BYTES,
    watermark: int | None = None,
) -> Iterator[pa.Table]:
    """Result rows of a step on tables, so many bytes at a time; only a larger row comes alone.

    After the last pair the step's watermark is raised, if one is given.
    """

    def blocks() -> Iterator[PairBlock]:
        yield from step.pairs()
        if watermark is not None:
            step.raise_watermark(watermark)
            yield from step.gone()

    sources: list[RowSource] = []
    for block in blocks():
        sources = sources or [
            shape.source(pa.concat_tables([stored.table, came.rows.table]), side)
            for side, (stored, came) in enumerate(zip(step.stored, step.arriving, strict=True))
        ]
        yield from shape.results(sources[0], sources[1], block.of_shard(shard), most_bytes)
