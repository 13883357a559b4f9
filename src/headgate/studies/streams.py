"""Synthetic streams of known behaviour: matches by age or by key, with drift."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from headgate.api.window_join import WindowJoin
from headgate.engine.outcome import Outcome
from headgate.models import Frequencies
from headgate.policies import Policy
from headgate.spec import Budget, Side
from headgate.spec.quantity import SECOND_US

START_US = 1_767_225_600_000_000
TIMES = ("lt", "rt")


@dataclass(frozen=True, eq=False)
class Streams:
    """Two streams and their windows, in seconds.

    Examples
    --------
    >>> streams = aging(rows=200, seconds=20, window=4, shapes=["falling"], seed=1)
    >>> streams.join("fifo", Budget(rows=1000)).recall
    1.0
    """

    left: pa.Table
    right: pa.Table
    windows: tuple[int, int]

    @property
    def tables(self) -> tuple[pa.Table, pa.Table]:
        """Both sides."""
        return self.left, self.right

    def join(self, policy: str | Policy, budget: Budget, **more: Any) -> Outcome:
        """Run the join."""
        return self.request(policy, budget, **more).run(*self.tables)

    def request(self, policy: str | Policy, budget: Budget, **more: Any) -> WindowJoin:
        """The join to be run."""
        return WindowJoin(
            on="key",
            left=Side(time=TIMES[0], window=f"{self.windows[0]} seconds"),
            right=Side(time=TIMES[1], window=f"{self.windows[1]} seconds"),
            budget=budget,
            policy=policy,
            **more,
        )

    def frequencies(self) -> Frequencies:
        """How often keys really occur."""
        return Frequencies.of_tables(*self.tables, left_on=["key"], right_on=["key"])


def aging(
    rows: int, seconds: int, window: int, shapes: list[str], seed: int, matches: int = 4
) -> Streams:
    """Left rows with keys of their own, and their matches at ages that rise or fall.

    The stream is cut into equal parts of time, one for each of ``shapes``: "rising" matches come
    at the end of the window, "falling" ones at its beginning.
    """
    random = np.random.default_rng(seed)
    left = np.sort(random.integers(0, seconds * SECOND_US, rows))
    key = np.repeat(np.arange(rows), matches)
    share = random.random(rows * matches) ** (1 / 3)
    rising = np.array([shape == "rising" for shape in shapes])
    part = (left[key] * len(shapes)) // (seconds * SECOND_US)
    age = np.where(rising[part], share, 1 - share) * window * SECOND_US
    return Streams(
        _table(np.arange(rows), left, TIMES[0]),
        _table(key, left[key] + age.astype(np.int64) + 1, TIMES[1]),
        (window, 0),
    )


def zipf(
    rows: int,
    seconds: int,
    seed: int,
    keys: int = 2000,
    exponent: float = 1.0,
    parts: int = 1,
    window: int = 10,
) -> Streams:
    """Both sides draw keys from one Zipf distribution; hot keys are others in each part of time."""
    random = np.random.default_rng(seed)
    share = np.arange(1, keys + 1) ** -exponent
    share /= share.sum()
    names = [random.permutation(keys) for _ in range(parts)]
    sides = []
    for name in TIMES:
        time = np.sort(random.integers(0, seconds * SECOND_US, rows))
        part = (time * parts) // (seconds * SECOND_US)
        drawn = random.choice(keys, rows, p=share)
        key = np.choose(part, [which[drawn] for which in names])
        sides.append(_table(key, time, name))
    return Streams(sides[0], sides[1], (window, window))


def keyed(
    keys: tuple[np.ndarray, np.ndarray],
    seconds: tuple[np.ndarray, np.ndarray],
    windows: tuple[int, int],
) -> Streams:
    """Streams of the given keys, at the given seconds from the start."""
    left, right = (
        _table(key, np.rint(at * SECOND_US).astype(np.int64), name)
        for key, at, name in zip(keys, seconds, TIMES, strict=True)
    )
    return Streams(left, right, windows)


def recall_by_part(
    streams: Streams, outcome: Outcome, exact: Outcome, seconds: int, parts: int
) -> np.ndarray:
    """Recall of the pairs whose later row falls in each of the parts of the time."""
    edges = START_US + np.arange(parts + 1) * seconds * SECOND_US // parts
    counts = []
    for pairs in (outcome.pairs, exact.pairs):
        later = np.maximum(*(pairs.column(name).cast(pa.int64()).to_numpy() for name in TIMES))
        counts.append(np.histogram(later, bins=edges)[0])
    result: np.ndarray = counts[0] / np.maximum(counts[1], 1)
    return result


def _table(key: np.ndarray, time: np.ndarray, name: str) -> pa.Table:
    order = np.argsort(time, kind="stable")
    return pa.table({"key": key[order], name: pa.array(START_US + time[order], pa.timestamp("us"))})
