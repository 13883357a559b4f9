"""Timed joins: windows that are full from the start, and a fixed number of arrivals per side."""

import gc
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from headgate.kernel.relation import Relation
from headgate.kernel.rows import Rows
from headgate.kernel.step import Step
from headgate.kernel.step_input import StepInput
from headgate.kernel.step_progress import StepProgress
from headgate.kernel.terms import Terms
from headgate.models.cost import NODE_ROWS, Pair
from headgate.policies.fifo import Fifo
from headgate.spec import RowWindow

ROW_BYTES = 100
NOBODY = np.empty(0, np.int64)


@dataclass(frozen=True)
class TimedWorkload:
    """Two streams over row windows that are full before the first arrival.

    Parameters
    ----------
    pair
        The index structures over window A, which B probes, and over window B.
    windows
        Rows in each window; 0 for a stream that is not stored.
    arrivals
        Rows of each stream that arrive.
    keys
        Number of different keys, drawn uniformly.
    node, bucket
        Rows in a tree's node and in a hash bucket.
    where
        A band or comparison on values from 0 to before ``keys``, in place of equal keys.
    seed
        Random seed of keys and order.

    Examples
    --------
    >>> from headgate.models.cost import parse_pair
    >>> search_only = TimedWorkload(parse_pair("TN"), (0, 500), arrivals=(1000, 0), keys=1000)
    >>> spent = search_only.seconds()
    >>> spent.joining > 0, 300 < spent.pairs < 700
    (True, True)
    """

    pair: Pair
    windows: tuple[int, int]
    arrivals: tuple[int, int]
    keys: int
    node: int = NODE_ROWS
    bucket: int = 1
    where: Relation | None = None
    seed: int = 0

    def with_pair(self, pair: Pair) -> "TimedWorkload":
        """The same streams over other structures."""
        other = replace(self, pair=pair)
        other.__dict__["rows"] = self.rows  # the same rows: drawn once, in memory once
        return other

    @property
    def terms(self) -> Terms:
        """The join's terms, as the engine takes them."""
        left, right = (RowWindow(rows) for rows in self.windows)
        return Terms(
            (left, right),
            Fifo(),
            where=self.where,
            indexes=self.pair,
            node_rows=self.node,
            bucket_rows=self.bucket,
        )

    @cached_property
    def rows(self) -> tuple[tuple[Rows, Rows], tuple[Rows, Rows]]:
        """Rows stored beforehand and rows that arrive, left and right."""
        rng = np.random.default_rng(self.seed)
        held = max(self.windows)
        stored = [
            self._batch(rng, np.arange(held - rows, held))._replace(
                sequence=np.arange(rows, dtype=np.int64)
            )
            for rows in self.windows
        ]
        is_right = rng.permutation(np.repeat([False, True], self.arrivals))
        coming = [
            self._batch(rng, held + np.flatnonzero(is_right == side)) for side in (False, True)
        ]
        return (stored[0], stored[1]), (coming[0], coming[1])

    def _batch(self, rng: np.random.Generator, time_us: np.ndarray) -> Rows:
        rows = len(time_us)
        drawn = rng.integers(0, self.keys, rows)
        code = drawn.astype(np.int32) if self.where is None else np.zeros(rows, np.int32)
        value = None if self.where is None else drawn
        size = np.full(rows, ROW_BYTES, np.int64)
        return Rows.of_arrivals(time_us.astype(np.int64), code, size, np.ones(rows), value)

    def seconds(self) -> "Spent":
        """Processor time of one run, and the pairs it makes."""
        stored, coming = self.rows
        codes = self.keys if self.where is None else 1
        progress = StepProgress(2 * max(self.windows) - 1, self.windows)
        terms = self.terms
        nobody = (coming[0].take(NOBODY), coming[1].take(NOBODY))
        began = time.process_time()
        Step(StepInput(terms, stored, nobody, codes, progress))
        started = time.process_time()
        step = Step(StepInput(terms, stored, coming, codes, progress))
        laid_out = time.process_time()
        step.take_up()
        ready = time.process_time()
        pairs = sum(len(block.left) for block in step.pairs())
        done = time.process_time()
        return Spent(done - ready, laid_out - started, started - began, pairs)


class Spent(NamedTuple):
    """Processor time of one run, in seconds."""

    joining: float
    """The join of the arrivals; taking up what is stored before does not count."""
    laying_out: float
    """Building the kernel's arrays from stored and arriving rows."""
    without: float
    """The same for the stored rows alone."""
    pairs: int


class Timed(NamedTuple):
    """Processor time that the arrivals of a workload take, in seconds.

    It is the lower quartile of all rounds, to leave out moments when the machine was busy. The
    minimum would compare one workload's luckiest round with another's ordinary ones.
    """

    joining: float
    laying_out: float
    rounds: np.ndarray
    """Joining, in each round."""
    pairs: int

    @property
    def seconds(self) -> float:
        """Processor time of both parts together."""
        return self.joining + self.laying_out


def in_turns(
    workloads: Sequence[TimedWorkload], rounds: int, done: Callable[[], None] = lambda: None
) -> list[Timed]:
    """Time each workload once per round, so that the machine's quiet spells favour none.

    Parameters
    ----------
    workloads
        What to time.
    rounds
        Number of measurements of each, after one uncounted round that warms up caches.
    done
        Called after each round.

    Examples
    --------
    >>> from headgate.models.cost import parse_pair
    >>> hash_join = TimedWorkload(parse_pair("HH"), (50, 50), (200, 200), keys=10)
    >>> [timed] = in_turns([hash_join], rounds=2)
    >>> timed.pairs > 0, len(timed.rounds)
    (True, 2)
    """
    runs = np.empty((rounds + 1, len(workloads), len(Spent._fields)))
    was_collecting = gc.isenabled()
    gc.disable()
    try:
        for turn in runs:
            for at, workload in enumerate(workloads):
                turn[at] = workload.seconds()
            done()
    finally:
        if was_collecting:
            gc.enable()
    quiet = [Spent(*spent) for spent in np.quantile(runs[1:], 0.25, axis=0)]
    return [
        Timed(
            spent.joining,
            max(spent.laying_out - spent.without, 0.0),
            runs[1:, at, 0],
            int(spent.pairs),
        )
        for at, spent in enumerate(quiet)
    ]
