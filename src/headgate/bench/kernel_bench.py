"""Benchmark of the kernel alone: arrivals per second against budget, for each kind of score."""

import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime

import numpy as np

from headgate.bench.ratio_spread import RatioSpread
from headgate.engine.replay import Replay
from headgate.kernel import advance
from headgate.kernel.rows import Rows
from headgate.kernel.terms import Terms
from headgate.models import Frequencies, LinearTrend, Noise, RandomWalk
from headgate.policies import Fifo, Heeb, Ijoin, Life, Lru, Policy, Prob, Random
from headgate.spec import TimeWindow
from headgate.spec.budget import UNLIMITED
from headgate.spec.importance import Combine

BUDGETS = (1_000, 10_000, 100_000, 1_000_000)
LEVELS = 64
GAP_US = 1_000
START = datetime(2026, 1, 1, tzinfo=UTC)
START_US = round(START.timestamp() * 1_000_000)


@dataclass(frozen=True)
class KernelSpeed:
    """Million arrivals per second in the kernel, without and with building its arrays from rows."""

    policy: str
    kind: str
    budget: int | None
    kernel: RatioSpread
    engine: RatioSpread


def policies() -> tuple[Policy, ...]:
    """At least one policy of each kind of score."""
    shares = np.linspace(0.0, 1.0, LEVELS)
    model = Frequencies.of_mappings(dict(enumerate(shares)), {0: 0.5})
    return Random(), Prob(model), Fifo(), Life(model), Lru(), Ijoin()


def measure_kernel(rows: int, rounds: int) -> Iterator[KernelSpeed]:
    """Measure the exact join with a one-minute window, then each policy evicting at each budget.

    Everything scales with the budget, so that an arrival means the same work at each: windows span
    twice as many rows as fit, so half are evicted, and there are twice as many keys, so that a
    probe finds a match every few arrivals.
    """
    rng = np.random.default_rng(1)
    minute = TimeWindow(60_000_000)
    sides = tuple(side_of(rng, rows // 2, 120_000) for _ in range(2))
    terms = Terms((minute, minute), Random())
    yield _timed(
        "none shed",
        "exact",
        None,
        terms=terms,
        sides=(sides[0], sides[1]),
        codes=120_000,
        rounds=rounds,
    )
    for policy in policies():
        for budget in BUDGETS:
            arrivals = max(rows, 4 * budget)
            both = tuple(side_of(rng, arrivals // 2, 2 * budget) for _ in range(2))
            window = TimeWindow(budget * GAP_US)  # as many rows of each side
            terms = Terms((window, window), policy, (budget, UNLIMITED))
            if policy.kind.reads_importance:
                terms = replace(terms, combine=Combine.MIN)
                both = tuple(_important(side) for side in both)
            yield _timed(
                policy.label,
                policy.kind.name,
                budget,
                terms=terms,
                sides=(both[0], both[1]),
                codes=2 * budget,
                rounds=rounds,
            )
    for budget in BUDGETS:
        streams = moving_streams(rng, max(rows, 4 * budget), budget)
        for name, heeb, both_sides, codes in streams:
            long = TimeWindow(1_000 * budget * GAP_US)
            terms = Terms((long, long), heeb, (budget, UNLIMITED))
            yield _timed(
                name, "curve", budget, terms=terms, sides=both_sides, codes=codes, rounds=rounds
            )


def moving_streams(
    rng: np.random.Generator, rows: int, budget: int
) -> Iterator[tuple[str, Heeb, tuple[Rows, Rows], int]]:
    """HEEB on streams with moving values: a trend wide enough to fill memory, and a random walk.

    The spread of values grows with memory, so that an arrival finds one or two matches.
    """
    step = TimeWindow(GAP_US)
    trend = LinearTrend(1, 0, Noise.uniform(budget))
    walk = RandomWalk(0, Noise.normal(max(budget / 10_000, 1)))
    for name, process in (("HEEB, trend", trend), ("HEEB, walk", walk)):
        both = [process.simulate(rows // 2, seed) for seed in (1, 2)]
        lowest = min(int(values.min()) for values in both)
        sides = tuple(
            side_of(rng, rows // 2, 2)._replace(
                code=(values - lowest).astype(np.int32), weight=values.astype(np.float64)
            )
            for values in both
        )
        policy = Heeb(process, process, every=step, start=START).within(budget)
        codes = max(int(values.max()) for values in both) - lowest + 1
        yield name, policy, (sides[0], sides[1]), codes


def side_of(rng: np.random.Generator, rows: int, keys: int) -> Rows:
    """Make a side's rows, one millisecond apart: uniform keys, and weights of a few levels."""
    time_us = START_US + np.arange(rows) * GAP_US + rng.integers(0, GAP_US, rows)
    code = rng.integers(0, keys, rows).astype(np.int32)
    weight = np.linspace(0.0, 1.0, LEVELS)[code % LEVELS]
    return Rows.of_arrivals(time_us, code, np.full(rows, 100, np.int64), weight)


def _important(side: Rows) -> Rows:
    """Rows whose importance is from 1 to 100, by key."""
    return side._replace(importance=(1.0 + side.code % 100)[None])


def _timed(
    name: str,
    kind: str,
    budget: int | None,
    terms: Terms,
    sides: tuple[Rows, Rows],
    codes: int,
    rounds: int,
) -> KernelSpeed:
    in_kernel, in_engine = [], []
    for _ in range(rounds):
        with _Stopwatch() as watch:
            started = time.perf_counter()
            replay = Replay(terms, sides[0], sides[1], codes)
            for _ in replay.pairs():
                pass
            total = time.perf_counter() - started
        arrivals = replay.stats.left_rows + replay.stats.right_rows
        in_kernel.append(arrivals / watch.seconds / 1e6)
        in_engine.append(arrivals / total / 1e6)
    return KernelSpeed(name, kind, budget, RatioSpread.of(in_kernel), RatioSpread.of(in_engine))


class _Stopwatch:
    """Context manager that sums the time spent in the kernel."""

    def __enter__(self) -> "_Stopwatch":
        self.seconds = 0.0
        self._advance = advance.advance

        def timed(*args: object) -> object:
            started = time.perf_counter()
            result = self._advance(*args)
            self.seconds += time.perf_counter() - started
            return result

        advance.advance = timed
        return self

    def __exit__(self, *_: object) -> None:
        advance.advance = self._advance
