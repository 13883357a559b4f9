"""Twelve pairs of streams, each of which wants another policy.

Budgets are a tenth of what the windows hold. The papers' streams are here at a scale at which
memory is thousands of rows rather than ten.
"""

from collections.abc import Callable

import numpy as np

from headgate.models import LinearTrend, Noise, Process, RandomWalk
from headgate.studies.streams import Streams, keyed

WINDOW_S = 100
RATE = 1000
"""Rows of a side a second."""
KEYS, SKEW = 50_000, 0.8
MEMORY = 0.1


def zipf_shares(exponent: float = SKEW, keys: int = KEYS) -> np.ndarray:
    """The chance of each key, the most frequent first."""
    share = np.arange(1, keys + 1) ** -exponent
    result: np.ndarray = share / share.sum()
    return result


def _even_times(random: np.random.Generator, rows: int, seconds: float) -> np.ndarray:
    return np.sort(random.uniform(0, seconds, rows))


def _by_frequency(right_rank: Callable[[np.random.Generator], np.ndarray]) -> "Maker":
    """Zipf on both sides; the right side's ranks are the left side's in another order."""

    def make(rows: int, seed: int) -> Streams:
        random = np.random.default_rng(seed)
        seconds, share = rows / RATE, zipf_shares()
        rank = right_rank(random)
        left = random.choice(KEYS, rows, p=share)
        right = rank[random.choice(KEYS, rows, p=share)]
        times = [_even_times(random, rows, seconds) for _ in range(2)]
        return keyed((left, right), (times[0], times[1]), (WINDOW_S, WINDOW_S))

    return make


def ages(shape: Callable[[np.ndarray], np.ndarray]) -> "Maker":
    """Left rows with keys of their own; right rows find them at ages drawn by a shape."""

    def make(rows: int, seed: int) -> Streams:
        random = np.random.default_rng(seed)
        own = rows // 2
        seconds = own / RATE
        left = _even_times(random, own, seconds)
        key, right = _partners(random, left, 3 * own, shape)
        return keyed((np.arange(own), key), (left, right), (WINDOW_S, 0))

    return make


def _partners(
    random: np.random.Generator,
    left: np.ndarray,
    matches: int,
    shape: Callable[[np.ndarray], np.ndarray],
) -> tuple[np.ndarray, np.ndarray]:
    """So many matches of left rows, in order of time: whose, and when."""
    steps = np.linspace(0, 1, 1001)
    weight = shape((steps[1:] + steps[:-1]) / 2)
    cumulative = np.concatenate([[0.0], np.cumsum(weight)]) / weight.sum()
    key = random.integers(0, len(left), matches)
    age = np.interp(random.random(matches), cumulative, steps) * WINDOW_S
    when = left[key] + age
    order = np.argsort(when, kind="stable")
    return key[order], when[order]


def _moving(left: Process, right: Process, anew: int | None = None) -> "Maker":
    """A row of each side a step; the key is where the stream has got to.

    Where told, both begin anew every so many steps, elsewhere: walks soon lose each other.
    """

    def make(rows: int, seed: int) -> Streams:
        steps = np.arange(rows)
        values = [
            np.concatenate(
                [
                    process.simulate(
                        min(anew or rows, rows - first), 2 * (seed * rows + first) + which
                    )
                    + first
                    for first in range(0, rows, anew or rows)
                ]
            )
            for which, process in enumerate((left, right))
        ]
        times = (steps / RATE, (steps + 0.5) / RATE)
        return keyed((values[0], values[1]), times, (WINDOW_S, WINDOW_S))

    return make


def _trends(noise_r: Noise, noise_s: Noise) -> "Maker":
    return _moving(LinearTrend(1, -RATE, noise_r), LinearTrend(1, 0, noise_s))


def _drift(rows: int, seed: int) -> Streams:
    """Zipf, and other keys are hot every third window."""
    random = np.random.default_rng(seed)
    seconds, share = rows / RATE, zipf_shares()
    times = [_even_times(random, rows, seconds) for _ in range(2)]
    names = np.stack([random.permutation(KEYS) for _ in range(int(seconds // (3 * WINDOW_S)) + 1)])
    keys = [
        names[(time // (3 * WINDOW_S)).astype(np.int64), random.choice(KEYS, rows, p=share)]
        for time in times
    ]
    return keyed((keys[0], keys[1]), (times[0], times[1]), (WINDOW_S, WINDOW_S))


def _bursts(rows: int, seed: int) -> Streams:
    """Zipf; half of the rows come in a tenth of the time, in bursts of a fifth of a window."""
    random = np.random.default_rng(seed)
    seconds, share = rows / RATE, zipf_shares()
    times = []
    for _ in range(2):
        quiet = random.uniform(0, seconds, rows - rows // 2)
        which = random.integers(0, int(seconds // (2 * WINDOW_S)), rows // 2)
        burst = (which + 0.5) * 2 * WINDOW_S + random.uniform(0, WINDOW_S / 5, rows // 2)
        times.append(np.sort(np.concatenate([quiet, burst])))
    keys = [random.choice(KEYS, rows, p=share) for _ in range(2)]
    return keyed((keys[0], keys[1]), (times[0], times[1]), (WINDOW_S, WINDOW_S))


def _mixed(rows: int, seed: int) -> Streams:
    """Half of the left rows match late and once; the other half by key, Zipf."""
    random = np.random.default_rng(seed)
    half = rows // 2
    seconds = rows / RATE
    late = _even_times(random, half, seconds)
    late_key, late_right = _partners(random, late, half, lambda age: age**4)
    hot = _even_times(random, half, seconds)
    hot_right = _even_times(random, half, seconds)
    share = zipf_shares()
    left_key = np.concatenate([KEYS + np.arange(half), random.choice(KEYS, half, p=share)])
    right_key = np.concatenate([KEYS + late_key, random.choice(KEYS, half, p=share)])
    return keyed(
        (left_key, right_key),
        (np.concatenate([late, hot]), np.concatenate([late_right, hot_right])),
        (WINDOW_S, 0),
    )


Maker = Callable[[int, int], Streams]
"""Two streams from the rows of a side (about) and a seed."""

STREAMS: dict[str, Maker] = {
    "Zipf, direct": _by_frequency(lambda random: np.arange(KEYS)),
    "Zipf, inverse": _by_frequency(lambda random: np.arange(KEYS)[::-1]),
    "Zipf, uncorrelated": _by_frequency(lambda random: random.permutation(KEYS)),
    "INC": ages(lambda age: age**2),
    "DEC": ages(lambda age: (1 - age) ** 2),
    "BELL": ages(lambda age: np.exp(-(((age - 0.5) / 0.15) ** 2) / 2)),
    "TOWER": _trends(Noise.normal(RATE, bound=10 * RATE), Noise.normal(2 * RATE, bound=15 * RATE)),
    "FLOOR": _trends(Noise.uniform(10 * RATE), Noise.uniform(15 * RATE)),
    "WALK": _moving(RandomWalk(0, Noise.normal(1)), RandomWalk(0, Noise.normal(1)), anew=50 * RATE),
    "drift": _drift,
    "bursts": _bursts,
    "mixed": _mixed,
}
