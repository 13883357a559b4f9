"""Every policy on real and generated streams, as a share of what any policy could make.

The ceiling is the upper bound of `policies/offline/price_bound.py`, so shares are rather too small
than too large; how far it may be above the optimum is stated by what its plan makes.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from headgate.policies.offline import Ceiling, Events
from headgate.spec import Budget
from headgate.studies.auto.choice import AUTO, SINGLE
from headgate.studies.auto.streams import STREAMS
from headgate.studies.real.real_stream import REAL
from headgate.studies.streams import Streams
from headgate.trials.simulation import simulate
from headgate.trials.stretch_tally import StretchTally
from headgate.trials.trace import Trace

MEMORIES, QUICK_MEMORIES = (0.05, 0.1, 0.2, 0.5), (0.1,)
POLICIES = (AUTO, *SINGLE)
QUICK_POLICIES = (AUTO, "random", "fifo", "prob", "age", "lru")
ROWS, QUICK_ROWS = 100_000, 20_000
"""Of a side of a generated stream, in ten windows of a hundred seconds."""
WINDOWS, START_WINDOWS = 10, 2
SECONDS_A_WINDOW = 100
QUICK_REAL = ("sea",)
QUICK_GENERATED = ("Zipf, direct", "mixed")


@dataclass(frozen=True)
class PolicyRecall:
    """A policy on a stream, in pairs: of the whole stream, and after the first two windows."""

    made: float
    settled: float
    followed: str = ""
    """The policy that "auto" mostly followed."""


@dataclass(frozen=True)
class MemoryPoint:
    """A stream within a share of the memory that the exact join takes."""

    stream: str
    is_real: bool
    memory: float
    rows: int
    exact: float
    settled: float
    """Pairs of the exact join: all of them, and those after the first two windows."""
    ceiling: float
    """Pairs that no policy can exceed."""
    planned: float
    """Pairs that some plan does make, so that the optimum is between the two."""
    tried: dict[str, PolicyRecall] = field(default_factory=dict)

    def share(self, policy: str) -> float:
        """What a policy makes, of what could be made at most."""
        return self.tried[policy].made / max(self.ceiling, 1.0)

    def best_single(self, settled: bool = False) -> float:
        """The most that a single policy makes; after two windows where ``settled``."""
        return max(
            (tried.settled if settled else tried.made)
            for name, tried in self.tried.items()
            if name != AUTO
        )

    def against_best(self, settled: bool = False) -> float:
        """What "auto" makes of what the best single policy does."""
        auto = self.tried[AUTO]
        return (auto.settled if settled else auto.made) / max(self.best_single(settled), 1.0)

    def against(self, policy: str) -> float:
        """What "auto" makes of what another policy does."""
        return self.tried[AUTO].made / max(self.tried[policy].made, 1.0)


def streams(quick: bool, seed: int) -> Iterator[tuple[str, bool, Callable[[], Streams]]]:
    """The streams: name, whether it is real, and how to make it."""
    for real in REAL:
        if not quick or real.name in QUICK_REAL:
            yield real.name, True, real.make
    rows = QUICK_ROWS if quick else ROWS
    rate = rows // (WINDOWS * SECONDS_A_WINDOW)
    for name, make in STREAMS.items():
        if not quick or name in QUICK_GENERATED:
            yield name, False, partial(make, rows, rate, seed)


def measure_real(
    quick: bool = False,
    seed: int = 2,
    policies: tuple[str, ...] = (),
    only: tuple[str, ...] = (),
) -> Iterator[MemoryPoint]:
    """Try every policy on every stream within every share of memory.

    Parameters
    ----------
    seed
        Of the generated streams. Seed 1 is what policies are tuned on, others are to judge them.
    policies, only
        The policies and the streams to try, where not all.
    """
    policies = policies or (QUICK_POLICIES if quick else POLICIES)
    for name, is_real, make in streams(quick, seed):
        if only and name not in only:
            continue
        made = make()
        trace = Trace.of_tables(made.request("fifo", Budget(rows=1)), *made.tables)
        settled = _settled(trace, made.windows)
        for memory in QUICK_MEMORIES if quick else MEMORIES:
            rows = max(1, round(memory * trace.needs.peak_rows))
            ceiling = _ceiling(trace, rows)
            planned = simulate(trace, ceiling.plan, Budget(rows=rows, monitor=0))
            point = MemoryPoint(
                name,
                is_real,
                memory,
                rows,
                exact=trace.met.total,
                settled=settled(trace.met),
                ceiling=min(ceiling.value, trace.met.total),
                planned=planned.made.total,
            )
            for policy in policies:
                run = simulate(trace, policy, Budget(rows=rows))
                most = max(run.followed, key=run.followed.__getitem__, default="")
                followed = most if policy == AUTO else ""
                point.tried[policy] = PolicyRecall(run.made.total, settled(run.made), followed)
            yield point


def _ceiling(trace: Trace, rows: int) -> Ceiling:
    left, right = (Events(side.time, side.code) for side in trace.rows)
    return Ceiling.of(left, right, trace.windows, rows)


def _settled(trace: Trace, windows: tuple[int, int]) -> Callable[[StretchTally], float]:
    """Counts pairs made after the first two windows, in whole slices of the trace's time."""
    times = np.concatenate([side.time for side in trace.rows])
    first, last = int(times.min()), int(times.max()) + 1
    parts = len(trace.met.by_time)
    after = START_WINDOWS * max(windows) * 1_000_000
    begin = int(np.ceil(min(after / (last - first), 0.5) * parts))
    return lambda tally: float(tally.by_time[begin:].sum())
