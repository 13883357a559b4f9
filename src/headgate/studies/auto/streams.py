"""Twelve pairs of streams that favour different policies.

Budgets are a tenth of what the windows hold. The papers' streams are here at a scale at which
memory is thousands of rows rather than ten, so all sizes are in rows per second.
"""

from collections.abc import Callable

import numpy as np

from headgate.models import LinearTrend, Noise, Process, RandomWalk
from headgate.studies.streams import Streams, keyed

WINDOW_S = 100
MEMORY = 0.1
SKEW = 0.8
Maker = Callable[[int, int, int], Streams]
"""Two streams from the rows of a side (about), the rows of a side a second, and a seed."""
Shape = Callable[[np.ndarray], np.ndarray]
"""How often rows match at each age, told as a part of the window."""


def _keys(rate: int) -> int:
    """Half as many as a window has rows of a side."""
    return rate * WINDOW_S // 2


def drawn_ranks(random: np.random.Generator, rows: int, keys: int) -> np.ndarray:
    """The ranks of keys, Zipf."""
    share = np.arange(1, keys + 1) ** -SKEW
    return random.choice(keys, rows, p=share / share.sum())


def sorted_times(random: np.random.Generator, rows: int, rate: float) -> np.ndarray:
    return np.sort(random.uniform(0, rows / rate, rows))


def _by_frequency(right_rank: Callable[[np.random.Generator, int], np.ndarray]) -> Maker:
    """Zipf on both sides; the right side's ranks are the left side's in another order."""

    def make(rows: int, rate: int, seed: int) -> Streams:
        random, keys = np.random.default_rng(seed), _keys(rate)
        rank = right_rank(random, keys)
        drawn = [drawn_ranks(random, rows, keys) for _ in range(2)]
        times = [sorted_times(random, rows, rate) for _ in range(2)]
        return keyed((drawn[0], rank[drawn[1]]), (times[0], times[1]), (WINDOW_S, WINDOW_S))

    return make


def _by_age(shape: Shape) -> Maker:
    """Left rows with keys of their own, and right rows that find them, three each."""

    def make(rows: int, rate: int, seed: int) -> Streams:
        random = np.random.default_rng(seed)
        left = sorted_times(random, rows // 2, rate)
        key, right = partners(random, left, 3 * len(left), shape)
        return keyed((np.arange(len(left)), key), (left, right), (WINDOW_S, 0))

    return make


def partners(
    random: np.random.Generator, left: np.ndarray, matches: int, shape: Shape
) -> tuple[np.ndarray, np.ndarray]:
    """So many matches of left rows, in order of time: whose, and when."""
    steps = np.linspace(0, 1, 1001)
    weight = shape((steps[1:] + steps[:-1]) / 2)
    cumulative = np.concatenate([[0.0], np.cumsum(weight)]) / weight.sum()
    key = random.integers(0, len(left), matches)
    when = left[key] + np.interp(random.random(matches), cumulative, steps) * WINDOW_S
    order = np.argsort(when, kind="stable")
    return key[order], when[order]


def _moving(processes: Callable[[int], tuple[Process, Process]], anew_s: int = 0) -> Maker:
    """One row of each side per step; the key is the current value of a process.

    Optionally both restart elsewhere after a number of seconds: walks soon drift apart.
    """

    def make(rows: int, rate: int, seed: int) -> Streams:
        each = anew_s * rate or rows

        def values(process: Process, which: int) -> np.ndarray:
            pieces = [
                process.simulate(min(each, rows - first), 2 * (seed * rows + first) + which) + first
                for first in range(0, rows, each)
            ]
            return np.concatenate(pieces)

        left, right = processes(rate)
        times = (np.arange(rows) / rate, (np.arange(rows) + 0.5) / rate)
        return keyed((values(left, 0), values(right, 1)), times, (WINDOW_S, WINDOW_S))

    return make


def _tower(rate: int) -> tuple[Process, Process]:
    return (
        LinearTrend(1, -rate, Noise.normal(rate, bound=10 * rate)),
        LinearTrend(1, 0, Noise.normal(2 * rate, bound=15 * rate)),
    )


def _floor(rate: int) -> tuple[Process, Process]:
    return (
        LinearTrend(1, -rate, Noise.uniform(10 * rate)),
        LinearTrend(1, 0, Noise.uniform(15 * rate)),
    )


def _walk(rate: int) -> tuple[Process, Process]:
    return RandomWalk(0, Noise.normal(1)), RandomWalk(0, Noise.normal(1))


def _drift(rows: int, rate: int, seed: int) -> Streams:
    """Zipf, and other keys are hot every third window."""
    random, keys = np.random.default_rng(seed), _keys(rate)
    parts = rows // (3 * WINDOW_S * rate) + 1
    names = np.stack([random.permutation(keys) for _ in range(parts)])
    times = [sorted_times(random, rows, rate) for _ in range(2)]
    drawn = [
        names[(time // (3 * WINDOW_S)).astype(np.int64), drawn_ranks(random, rows, keys)]
        for time in times
    ]
    return keyed((drawn[0], drawn[1]), (times[0], times[1]), (WINDOW_S, WINDOW_S))


def _bursts(rows: int, rate: int, seed: int) -> Streams:
    """Zipf; half of the rows come in a tenth of the time, a fifth of every second window."""
    random, keys = np.random.default_rng(seed), _keys(rate)
    seconds = rows / rate
    times = []
    for _ in range(2):
        quiet = random.uniform(0, seconds, rows - rows // 2)
        which = random.integers(0, max(int(seconds // (2 * WINDOW_S)), 1), rows // 2)
        burst = (2 * which + 1) * WINDOW_S + random.uniform(0, WINDOW_S / 5, rows // 2)
        times.append(np.sort(np.concatenate([quiet, burst])))
    drawn = [drawn_ranks(random, rows, keys) for _ in range(2)]
    return keyed((drawn[0], drawn[1]), (times[0], times[1]), (WINDOW_S, WINDOW_S))


def _mixed(rows: int, rate: int, seed: int) -> Streams:
    """Half of the left rows match late and once; the other half by key, Zipf."""
    random, keys = np.random.default_rng(seed), _keys(rate)
    half = rows // 2
    late, hot, hot_right = (np.sort(random.uniform(0, rows / rate, half)) for _ in range(3))
    late_key, late_right = partners(random, late, half, lambda age: age**4)
    left = np.concatenate([keys + np.arange(half), drawn_ranks(random, half, keys)])
    right = np.concatenate([keys + late_key, drawn_ranks(random, half, keys)])
    times = (np.concatenate([late, hot]), np.concatenate([late_right, hot_right]))
    return keyed((left, right), times, (WINDOW_S, 0))


STREAMS: dict[str, Maker] = {
    "Zipf, direct": _by_frequency(lambda random, keys: np.arange(keys)),
    "Zipf, inverse": _by_frequency(lambda random, keys: np.arange(keys)[::-1]),
    "Zipf, uncorrelated": _by_frequency(lambda random, keys: random.permutation(keys)),
    "INC": _by_age(lambda age: age**2),
    "DEC": _by_age(lambda age: (1 - age) ** 2),
    "BELL": _by_age(lambda age: np.exp(-(((age - 0.5) / 0.15) ** 2) / 2)),
    "TOWER": _moving(_tower),
    "FLOOR": _moving(_floor),
    "WALK": _moving(_walk, anew_s=50),
    "drift": _drift,
    "bursts": _bursts,
    "mixed": _mixed,
}
