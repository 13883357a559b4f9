"""Streams to profile on one piece and join on the next, both of the same kind."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from headgate.models import LinearTrend, Noise, Process, RandomWalk
from headgate.spec.quantity import SECOND_US
from headgate.studies.streams import START_US, TIMES, Streams, keyed

WINDOW_S = 10
RATE = 200
"""Rows of a side a second."""
KEYS, SKEW = 2_000, 1.0
Maker = Callable[[np.random.Generator, float], Streams]
"""Two streams of so many seconds."""


@dataclass(frozen=True)
class Pieces:
    """A piece to profile, and the next to join."""

    first: Streams
    second: Streams


def pieces(kind: str, seconds: float, seed: int) -> Pieces:
    """Two pieces of so many seconds each, one after the other.

    Examples
    --------
    >>> found = pieces("rising", 30, seed=1)
    >>> found.first.right.num_rows > 1000, found.first.windows
    (True, (10, 0))
    """
    both = KINDS[kind](np.random.default_rng(seed), 2 * seconds)
    middle = pa.scalar(START_US + round(seconds * SECOND_US)).cast(pa.timestamp("us"))
    parts = [
        [
            table.filter(test(table.column(time), middle))
            for table, time in zip(both.tables, TIMES, strict=True)
        ]
        for test in (pc.less, pc.greater_equal)
    ]
    first, second = (Streams(left, right, both.windows) for left, right in parts)
    return Pieces(first, second)


def _times(random: np.random.Generator, seconds: float, rate: float = RATE) -> np.ndarray:
    return np.sort(random.uniform(0, seconds, random.poisson(rate * seconds)))


def _shares(keys: int = KEYS) -> np.ndarray:
    share = np.arange(1, keys + 1) ** -SKEW
    result: np.ndarray = share / share.sum()
    return result


def _by_key(
    rank: Callable[[np.random.Generator], np.ndarray], rate: float = RATE, keys: int = KEYS
) -> Maker:
    """Zipf on both sides; the right side's ranks are the left side's in another order."""

    def make(random: np.random.Generator, seconds: float) -> Streams:
        times = [_times(random, seconds, rate) for _ in range(2)]
        left, right = (random.choice(keys, len(time), p=_shares(keys)) for time in times)
        return keyed((left, rank(random)[right]), (times[0], times[1]), (WINDOW_S, WINDOW_S))

    return make


def _by_age(shape: Callable[[np.ndarray], np.ndarray], rate: float = RATE) -> Maker:
    """Left rows with keys of their own; right rows find them at ages drawn by a shape."""

    def make(random: np.random.Generator, seconds: float) -> Streams:
        left = _times(random, seconds, rate)
        whose, when = _partners(random, left, 3 * len(left), shape)
        return keyed((np.arange(len(left)), whose), (left, when), (WINDOW_S, 0))

    return make


def _partners(
    random: np.random.Generator,
    left: np.ndarray,
    matches: int,
    shape: Callable[[np.ndarray], np.ndarray],
) -> tuple[np.ndarray, np.ndarray]:
    edges = np.linspace(0, 1, 501)
    weight = shape((edges[1:] + edges[:-1]) / 2)
    cumulative = np.concatenate([[0.0], np.cumsum(weight)]) / weight.sum()
    whose = random.integers(0, len(left), matches)
    return whose, left[whose] + np.interp(random.random(matches), cumulative, edges) * WINDOW_S


def _by_value(left: Process, right: Process) -> Maker:
    """One row of each side per step; the key is the current value of a process."""

    def make(random: np.random.Generator, seconds: float) -> Streams:
        steps = np.arange(int(RATE * seconds))
        values = [
            process.simulate(len(steps), int(random.integers(1 << 30))) for process in (left, right)
        ]
        times = (steps / RATE, (steps + 0.5) / RATE)
        return keyed((values[0], values[1]), times, (WINDOW_S, WINDOW_S))

    return make


def _drifting(rate: float = RATE, keys: int = KEYS) -> Maker:
    """Zipf, and other keys are hot every third window."""

    def make(random: np.random.Generator, seconds: float) -> Streams:
        times = [_times(random, seconds, rate) for _ in range(2)]
        lasts = 3 * WINDOW_S
        names = np.stack([random.permutation(keys) for _ in range(int(seconds // lasts) + 1)])
        left, right = (
            names[(time // lasts).astype(np.int64), random.choice(keys, len(time), p=_shares(keys))]
            for time in times
        )
        return keyed((left, right), (times[0], times[1]), (WINDOW_S, WINDOW_S))

    return make


def _bursting(random: np.random.Generator, seconds: float) -> Streams:
    """Zipf; half of the rows come in bursts of a fifth of a window, one every other window."""
    times = []
    for _ in range(2):
        count = random.poisson(RATE * seconds / 2)
        which = random.integers(0, int(seconds // (2 * WINDOW_S)), count)
        burst = (which + 0.5) * 2 * WINDOW_S + random.uniform(0, WINDOW_S / 5, count)
        times.append(np.sort(np.concatenate([_times(random, seconds, RATE / 2), burst])))
    left, right = (random.choice(KEYS, len(time), p=_shares()) for time in times)
    return keyed((left, right), (times[0], times[1]), (WINDOW_S, WINDOW_S))


def _mixed(random: np.random.Generator, seconds: float) -> Streams:
    """Half of the left rows match late; the other half by key, Zipf."""
    late = _times(random, seconds, RATE / 2)
    whose, when = _partners(random, late, 2 * len(late), lambda age: age**4)
    times = [_times(random, seconds, RATE / 2) for _ in range(2)]
    hot = [random.choice(KEYS, len(time), p=_shares()) for time in times]
    return keyed(
        (
            np.concatenate([KEYS + np.arange(len(late)), hot[0]]),
            np.concatenate([KEYS + whose, hot[1]]),
        ),
        (np.concatenate([late, times[0]]), np.concatenate([when, times[1]])),
        (WINDOW_S, 0),
    )


def _bell(age: np.ndarray) -> np.ndarray:
    shape: np.ndarray = np.exp(-(((age - 0.5) / 0.15) ** 2) / 2)
    return shape


MANY = 2_500
"""Rows of a side a second, where there are too many to keep them all."""

KINDS: dict[str, Maker] = {
    "Zipf, direct": _by_key(lambda random: np.arange(KEYS)),
    "Zipf, inverse": _by_key(lambda random: np.arange(KEYS)[::-1]),
    "Zipf, uncorrelated": _by_key(lambda random: random.permutation(KEYS)),
    "rising": _by_age(lambda age: age**2),
    "falling": _by_age(lambda age: (1 - age) ** 2),
    "bell": _by_age(_bell),
    "trends": _by_value(
        LinearTrend(1, -RATE, Noise.normal(RATE / 4, bound=2 * RATE)),
        LinearTrend(1, 0, Noise.normal(RATE / 2, bound=3 * RATE)),
    ),
    "walks": _by_value(RandomWalk(1, Noise.normal(5)), RandomWalk(1, Noise.normal(5))),
    "drifting": _drifting(),
    "bursting": _bursting,
    "mixed": _mixed,
    "many keys": _by_key(lambda random: random.permutation(50_000), MANY, 50_000),
    "many rows": _by_age(_bell, MANY / 2),
    "many drifting": _drifting(MANY, 20_000),
}
