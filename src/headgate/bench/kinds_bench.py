"""What the filter of given-up keys saves an outer join, and early release a semi join."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product

import numpy as np

from headgate.engine.limits import FILTERED, SLOTS_A_ROW
from headgate.engine.replay import Replay
from headgate.kernel.rows import Rows
from headgate.kernel.terms import Terms
from headgate.policies import Fifo, Policy, Random
from headgate.spec import How, TimeWindow
from headgate.spec.budget import UNLIMITED

SECOND_US = 1_000_000
START_US = 1_767_225_600_000_000
ROWS = 200_000
"""Rows of each side."""
ROWS_A_SECOND = 500
WINDOW = TimeWindow(60 * SECOND_US)
POLICIES: tuple[Policy, ...] = (Random(), Fifo())
MEMORY = 0.1
"""Share of what the exact join stores."""
MEMORIES = (0.1, 0.5, 0.9, 0.98)
"""The same, to see what a filter is worth under more and under less pressure."""


@dataclass(frozen=True)
class Sides:
    """Two sides of a stream, with the number of different keys."""

    name: str
    left: Rows
    right: Rows
    keys: int

    def replay(self, terms: Terms) -> Replay:
        """A run of the whole stream."""
        return Replay(terms, self.left, self.right, self.keys)


@dataclass(frozen=True)
class FilterGain:
    """Left rows of a left join without a partner, under filters of several sizes."""

    stream: str
    policy: str
    memory: int
    truly_unmatched: int
    undecided: dict[str, int]
    certain: dict[str, int]


@dataclass(frozen=True)
class ReleaseGain:
    """Recall of a semi join with left rows let go at their first match, and without."""

    stream: str
    policy: str
    memory: int
    without: float
    released: float


def _rows(code: np.ndarray, time: np.ndarray) -> Rows:
    order = np.argsort(time, kind="stable")
    size = np.full(len(time), 100, np.int64)
    return Rows.of_arrivals(time[order], code[order].astype(np.int32), size, np.zeros(len(time)))


def streams(rows: int, seed: int = 1) -> tuple[Sides, ...]:
    """Even keys, skewed keys, and rows that are answered a few seconds after they came."""
    rng = np.random.default_rng(seed)
    length = rows * SECOND_US // ROWS_A_SECOND
    keys = 60 * ROWS_A_SECOND
    weight = 1.0 / np.arange(1, keys + 1)

    def times() -> np.ndarray:
        return START_US + np.sort(rng.integers(0, length, rows))

    even = [_rows(rng.integers(0, keys, rows), times()) for _ in range(2)]
    skewed = [_rows(rng.choice(keys, rows, p=weight / weight.sum()), times()) for _ in range(2)]
    asked = times()
    answered = rng.random(rows) < 0.7
    after = (rng.exponential(5.0, rows) * SECOND_US).astype(np.int64)
    number = np.arange(rows)
    answers = _rows(number[answered], (asked + after)[answered])
    return (
        Sides("even keys", even[0], even[1], keys),
        Sides("skewed keys (Zipf 1)", skewed[0], skewed[1], keys),
        Sides("answers within seconds", _rows(number, asked), answers, rows),
    )


def measure_filter(rows: int = ROWS) -> Iterator[FilterGain]:
    """A left join within several shares of its memory, by size of the filter."""
    for sides in streams(rows)[:2]:
        exact = Terms((WINDOW, WINDOW), Fifo(), how=How.LEFT)
        whole = sides.replay(exact).total()
        for share, policy in product(MEMORIES, POLICIES):
            memory = int(share * whole.peak_rows)
            planned = int(memory * FILTERED) * SLOTS_A_ROW
            undecided, certain = {}, {}
            for name, slots in (("none", 1), ("2 %", planned), ("every key", 1 << 22)):
                kept = memory - (planned // SLOTS_A_ROW if slots == planned else 0)
                terms = replace(
                    exact, policy=policy, most_rows=(kept, UNLIMITED), filter_slots=slots
                )
                found = sides.replay(terms).total()
                undecided[name], certain[name] = found.undecided, found.unmatched
            yield FilterGain(sides.name, policy.label, memory, whole.unmatched, undecided, certain)


def measure_release(rows: int = ROWS) -> Iterator[ReleaseGain]:
    """A semi join within a tenth of the inner join's memory, next to the left rows that the inner
    join finds a partner for."""
    for sides in streams(rows):
        exact = Terms((WINDOW, WINDOW), Fifo(), how=How.SEMI)
        every = sides.replay(exact).total().pairs
        stored = sides.replay(replace(exact, how=How.INNER)).total().peak_rows
        memory = int(MEMORY * stored)
        for policy in POLICIES:
            terms = replace(exact, policy=policy, most_rows=(memory, UNLIMITED))
            released = sides.replay(terms).total().pairs
            met = np.zeros(len(sides.left.time), np.bool_)
            for block in sides.replay(replace(terms, how=How.INNER)).pairs():
                met[block.left] = True
            without = int(np.count_nonzero(met))
            yield ReleaseGain(sides.name, policy.label, memory, without / every, released / every)
