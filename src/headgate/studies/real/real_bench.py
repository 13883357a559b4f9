"""Every policy on real and generated streams, as a share of what any policy could make.

The ceiling is the upper bound of `policies/offline/price_bound.py`, so shares are rather too small
than too large; how far it may be above the optimum is stated by what its plan makes.
"""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property, partial

import numpy as np
import pyarrow as pa

from headgate.policies.offline import Ceiling, Events
from headgate.spec import Budget
from headgate.spec.quantity import SECOND_US
from headgate.studies.auto.choice import AUTO, SINGLE
from headgate.studies.auto.streams import STREAMS
from headgate.studies.real.real_stream import REAL
from headgate.studies.real.results_file import (
    CEILING,
    EXACT,
    PLAN,
    PolicyResult,
    ResultsFile,
    source_hash,
)
from headgate.studies.streams import TIMES, Streams
from headgate.trials.simulation import simulate
from headgate.trials.stretch_tally import StretchTally
from headgate.trials.trace import Trace

WINDOWS, START_WINDOWS, LEAST_WINDOWS = 10, 2, 8
SECONDS_A_WINDOW = 100
SEED = 3
"""Of the generated streams. Seed 1 is what policies are tuned on, others are to judge them."""
HELD_OUT = ("routes", "sea")
"""Real streams that were not looked at while policies that learn were tuned."""


@dataclass(frozen=True)
class Form:
    """How much is measured."""

    name: str
    memories: tuple[float, ...]
    policies: tuple[str, ...]
    rows: int
    """Of a side of a generated stream, in ten windows of a hundred seconds."""
    most_rows: int
    """Of a side of a real stream that has many windows: what comes first of it."""
    only: tuple[str, ...] = ()
    """The streams, where not all."""


PAPERS = ("fifo", "random", "lru", "prob", "life", "age")
MAIN = (AUTO, *PAPERS, "density")
STANDARD = Form("standard", (0.05, 0.1, 0.2, 0.5), MAIN, rows=60_000, most_rows=120_000)
QUICK = Form(
    "quick",
    (0.1,),
    (AUTO, "random", "fifo", "prob", "age", "lru"),
    rows=20_000,
    most_rows=120_000,
    only=("sea", "Zipf, direct", "mixed"),
)
LONG = Form("long", STANDARD.memories, (AUTO, *SINGLE), rows=100_000, most_rows=1 << 30)


@dataclass(frozen=True)
class MemoryPoint:
    """A stream within a share of the memory that the exact join takes."""

    stream: str
    is_real: bool
    memory: float
    rows: int
    exact: PolicyResult
    """Pairs of the exact join."""
    ceiling: float
    """Pairs that no policy can exceed."""
    planned: float
    """Pairs that some plan does make, so that the optimum is between the two."""
    tried: dict[str, PolicyResult] = field(default_factory=dict)

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

    @property
    def is_held_out(self) -> bool:
        """Whether it is of a stream that "auto" was not tuned on."""
        return not self.is_real or self.stream in HELD_OUT

    def against_papers(self) -> float:
        """What "auto" makes of what the best of the papers' policies does."""
        best = max(self.tried[name].made for name in PAPERS if name in self.tried)
        return self.tried[AUTO].made / max(best, 1.0)

    def against_best(self, settled: bool = False) -> float:
        """What "auto" makes of what the best single policy does."""
        auto = self.tried[AUTO]
        return (auto.settled if settled else auto.made) / max(self.best_single(settled), 1.0)

    def against(self, policy: str) -> float:
        """What "auto" makes of what another policy does."""
        return self.tried[AUTO].made / max(self.tried[policy].made, 1.0)


def streams(form: Form, seed: int) -> Iterator[tuple[str, bool, Callable[[], Streams]]]:
    """The streams: name, whether it is real, and how to make it."""
    rate = form.rows // (WINDOWS * SECONDS_A_WINDOW)
    for real in REAL:
        if not form.only or real.name in form.only:
            yield real.name, True, partial(_first, real.make, form.most_rows)
    for name, make in STREAMS.items():
        if not form.only or name in form.only:
            yield name, False, partial(make, form.rows, rate, seed)


def _first(make: Callable[[], Streams], most_rows: int) -> Streams:
    """What comes first of a stream, of at least eight windows where there are so many."""
    made = make()
    times = made.left[TIMES[0]].cast(pa.int64()).to_numpy()
    until = times[0] + LEAST_WINDOWS * max(made.windows) * SECOND_US
    most_rows = max(most_rows, int(np.searchsorted(times, until)))
    return Streams(made.left[:most_rows], made.right[:most_rows], made.windows)


def measure_real(
    form: Form,
    results: ResultsFile,
    seed: int = SEED,
    only: tuple[str, ...] = (),
) -> Iterator[MemoryPoint]:
    """Try every policy on every stream within every share of memory.

    Parameters
    ----------
    results
        Where results are kept; those that are there are not measured again.
    only
        The streams to try, where not all.
    """
    for name, is_real, make in streams(form, seed):
        if only and name not in only:
            continue
        bench = _StreamBench(name, is_real, form, seed if not is_real else 0, make)
        for memory in form.memories:
            yield bench.point(memory, results)


@dataclass
class _StreamBench:
    """A stream, made when something is to be measured on it."""

    name: str
    is_real: bool
    form: Form
    seed: int
    make: Callable[[], Streams]

    @cached_property
    def trace(self) -> Trace:
        made = self.make()
        return Trace.of_tables(made.request("fifo", Budget(rows=1)), *made.tables)

    def point(self, memory: float, results: ResultsFile) -> MemoryPoint:
        exact = self._found(EXACT, memory, results)
        point = MemoryPoint(
            stream=self.name,
            is_real=self.is_real,
            memory=memory,
            rows=exact.rows,
            exact=exact,
            ceiling=min(self._found(CEILING, memory, results).made, exact.made),
            planned=self._found(PLAN, memory, results).made,
        )
        for policy in self.form.policies:
            point.tried[policy] = self._found(policy, memory, results)
        return point

    def _found(self, policy: str, memory: float, results: ResultsFile) -> PolicyResult:
        asked = (self.name, self.form.name, self.seed, memory)
        found = results.find(*asked, policy)
        if found is not None:
            return found
        rows = max(1, round(memory * self.trace.needs.peak_rows))
        began = time.process_time()
        if policy == EXACT:
            made = {EXACT: (self.trace.met.total, self._settled(self.trace.met), "")}
        elif policy in (CEILING, PLAN):
            made = self._ceiling(rows)
        else:
            made = {policy: self._tried(policy, rows)}
        cpu_s = round(time.process_time() - began, 2)
        results.add(
            PolicyResult(*asked, rows, name, source_hash(name), *told, cpu_s)
            for name, told in made.items()
        )
        found = results.find(*asked, policy)
        assert found is not None
        return found

    def _tried(self, policy: str, rows: int) -> tuple[float, float, str]:
        run = simulate(self.trace, policy, Budget(rows=rows))
        most = max(run.followed, key=run.followed.__getitem__, default="")
        return run.made.total, self._settled(run.made), most if policy == AUTO else ""

    def _ceiling(self, rows: int) -> dict[str, tuple[float, float, str]]:
        """The bound, and what its plan makes."""
        left, right = (Events(side.time, side.code) for side in self.trace.rows)
        ceiling = Ceiling.of(left, right, self.trace.windows, rows)
        plan = simulate(self.trace, ceiling.plan, Budget(rows=rows, monitor=0))
        return {
            CEILING: (round(ceiling.value, 1), 0.0, ""),
            PLAN: (plan.made.total, self._settled(plan.made), ""),
        }

    def _settled(self, tally: StretchTally) -> float:
        """Pairs made after the first two windows, in whole slices of the trace's time."""
        times = np.concatenate([side.time for side in self.trace.rows])
        first, last = int(times.min()), int(times.max()) + 1
        parts = len(tally.by_time)
        after = START_WINDOWS * max(window.span for window in self.trace.windows)
        begin = int(np.ceil(min(after / (last - first), 0.5) * parts))
        return float(tally.by_time[begin:].sum())
