"""Benchmark of offline planning: the time OPT-offline and FlowExpect take to plan all rows."""

import time
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from headgate.bench.kernel_bench import GAP_US, side_of
from headgate.policies.offline import Events, FlowExpect, Now, Opt
from headgate.spec import TimeWindow

ROWS, MEMORY = 50_000, 1_000
WINDOW_ROWS, MATCHES = 5_000, 10
STEPS, CACHE, LOOK_AHEAD, NOISE = 5_000, 10, 10, 10


@dataclass(frozen=True)
class Planning:
    """A plan, its input, and how long planning took."""

    name: str
    arrivals: int
    memory: int
    arcs: int | None
    """Of the one flow; None where there was one an arrival."""
    seconds: float


@dataclass(frozen=True)
class Drift:
    """A process whose values rise by one per step, with uniform noise."""

    lag: int

    def chance(self, values: np.ndarray, now: Now, ahead: np.ndarray) -> np.ndarray:
        """Probability of a value: uniform within the noise."""
        off = np.abs(values - (now.step + ahead - self.lag)[:, None])
        return np.where(off <= NOISE, 1.0 / (2 * NOISE + 1), 0.0)

    def spread(self, now: Now, ahead: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The range of values that the noise allows."""
        trend = now.step + ahead - self.lag
        return trend - NOISE, trend + NOISE

    def draw(self, rng: np.random.Generator) -> np.ndarray:
        """Draw a stream."""
        return np.arange(STEPS) - self.lag + rng.integers(-NOISE, NOISE + 1, STEPS)


def measure_offline() -> Iterator[Planning]:
    """Time OPT-offline, by pairs and by importance with ten matches per row; then FlowExpect."""
    window = TimeWindow(WINDOW_ROWS * GAP_US)
    rng = np.random.default_rng(1)
    sides = [side_of(rng, ROWS, 2 * WINDOW_ROWS // MATCHES) for _ in range(2)]
    left, right = (Events(side.time, side.code) for side in sides)
    important = [rng.integers(1, 10, ROWS) for _ in sides]
    for name, importance in (("OPT-OFFLINE", None), ("by importance", important)):
        started = time.perf_counter()
        opt = Opt.plan(left, right, (window, window), MEMORY, importance=importance)
        yield Planning(name, 2 * ROWS, MEMORY, opt.arcs, time.perf_counter() - started)
    rng = np.random.default_rng(1)
    processes = (Drift(lag=1), Drift(lag=0))
    streams = [process.draw(rng) for process in processes]
    started = time.perf_counter()
    FlowExpect.plan(streams[0], streams[1], processes, CACHE, LOOK_AHEAD)
    yield Planning("FLOWEXPECT", 2 * STEPS, CACHE, None, time.perf_counter() - started)
