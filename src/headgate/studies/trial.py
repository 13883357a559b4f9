"""A trial: two streams and their join, run under different policies and budgets."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa

from headgate.api.window_join import WindowJoin
from headgate.engine.outcome import Outcome
from headgate.policies import Fifo, Policy
from headgate.spec import Budget, Predicate, Side, TimeWindow
from headgate.spec.budget import AMPLE
from headgate.spec.quantity import SECOND_US

START_US = SECOND_US
"""Clocks begin a second after zero, where Spark's first watermark lies."""


def stream(keys: np.ndarray | pa.Array, seconds: np.ndarray, time: str) -> pa.Table:
    """A stream of keys and arrival times, given in seconds from the start."""
    return pa.table({"key": keys, time: timestamps(seconds)})


def timestamps(seconds: np.ndarray) -> pa.Array:
    """Moments, given in seconds from the start."""
    us = START_US + np.rint(seconds * SECOND_US).astype(np.int64)
    return pa.array(us).cast(pa.timestamp("us"))


@dataclass(frozen=True, eq=False)
class ProbeTrial:
    """A join in which only left rows wait for partners (the paper's S1-probe results).

    Parameters
    ----------
    left, right
        Streams with columns ``key`` and ``stored_at``, ``key`` and ``probed_at``.
    window_s
        How long left rows wait.
    counted_from_s
        Results before this time are not counted: memory is still filling.
    where
        What must hold between the two keys; equality unless given.

    Examples
    --------
    >>> times = np.arange(4.0)
    >>> trial = ProbeTrial(
    ...     stream(np.arange(4), times, "stored_at"),
    ...     stream(np.arange(4), times + 1.5, "probed_at"),
    ...     window_s=2,
    ... )
    >>> trial.exact_results, trial.results(Fifo(), rows=1), trial.recall(Fifo(), rows=2)
    (4, 1, 1.0)
    """

    left: pa.Table
    right: pa.Table
    window_s: float
    counted_from_s: float = 0.0
    where: Predicate | None = None

    def join(self, policy: Policy, budget: Budget) -> Outcome:
        """Run the join."""
        return WindowJoin(
            on="key" if self.where is None else None,
            where=self.where,
            left=Side(time="stored_at", window=TimeWindow(round(self.window_s * SECOND_US))),
            right=Side(time="probed_at", window=TimeWindow(0)),
            budget=budget,
            policy=policy,
        ).run(self.left, self.right)

    @cached_property
    def exact(self) -> pa.Table:
        """The whole result, with memory to spare."""
        return self.join(Fifo(), AMPLE).pairs

    @cached_property
    def exact_results(self) -> int:
        """Results of the whole window, those that count."""
        return self._counted(self.exact)

    def results(self, policy: Policy, rows: int) -> int:
        """Results within so many stored rows, those that count."""
        return self._counted(self.join(policy, Budget(rows=rows)).pairs)

    def recall(self, policy: Policy, rows: int) -> float:
        """The share of the exact result that was made."""
        return self.results(policy, rows) / self.exact_results

    def _counted(self, pairs: pa.Table) -> int:
        return int(np.count_nonzero(seconds(pairs, "probed_at") >= self.counted_from_s))


def seconds(table: pa.Table, column: str) -> np.ndarray:
    """A time column in seconds from the start."""
    us: np.ndarray = table.column(column).cast(pa.int64()).to_numpy()
    return (us - START_US) / SECOND_US
