"""A batch after its last step: what the state needs to know of it, however many steps it took."""

import numpy as np

from headgate.engine.join_step import JoinStep
from headgate.engine.stats import Stats
from headgate.engine.table_rows import TableRows
from headgate.kernel.step_progress import StepProgress


class FinishedBatch:
    """The rows stored after a batch, told apart into those stored before and arrivals.

    Rows are told apart by their sequence numbers: arrivals count on from the rows seen before.

    Parameters
    ----------
    before
        How far the join had come before the batch.
    held
        The rows stored before it.
    last
        Its last step.
    stats
        Of all its steps.
    """

    def __init__(
        self,
        before: StepProgress,
        held: tuple[TableRows, TableRows],
        last: JoinStep[TableRows],
        stats: Stats,
    ) -> None:
        self.stats, self.after, self.keeps_history = stats, last.after, last.keeps_history
        self._seen, self._held = before.seen, held
        self._survivors = (last.survivors(0), last.survivors(1))

    def alive(self, side: int) -> np.ndarray:
        """For each row stored before the batch: whether it still is."""
        return np.isin(self._held[side].rows.sequence, self._survivors[side].rows.sequence)

    def kept_arrivals(self, side: int) -> TableRows:
        """The arrivals that are stored now."""
        rows = self._survivors[side]
        return rows.where(rows.rows.sequence >= self._seen[side])

    def kept_fates(self, side: int) -> np.ndarray:
        """What is known of the partners of the rows that are stored now, as `Fate`."""
        return self._survivors[side].rows.fates

    def survivors(self, side: int) -> TableRows:
        """The rows that are stored now, those stored before first."""
        return self._survivors[side]
