"""Recall of rows ranked by what they bring for each byte, beside rows ranked by what they bring."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from rich.console import Console
from rich.table import Table

from headgate.bench.kernel_bench import GAP_US, START_US
from headgate.engine.limits import room_for, terms_for
from headgate.engine.replay import Replay
from headgate.kernel.rows import Rows
from headgate.kernel.terms import Terms
from headgate.learning.learner import Learner, new_monitor
from headgate.policies import Fifo, make_policy
from headgate.spec import Budget, TimeWindow
from headgate.spec.budget import MONITOR

ROWS, HELD, KEYS, SKEW = 60_000, 6_000, 2_000, 0.8
"""Rows of a side, rows of a side in a window, keys, and how unequal these are."""
SMALLEST, LARGEST = 100, 1_000
SHARES = (0.05, 0.1, 0.2, 0.5)
POLICIES = ("prob", "life", "age", "auto", "random")
SEEDS = (11, 12, 13)
"""Of the streams; nothing was tuned on them."""


@dataclass(frozen=True)
class ByteRecall:
    """Mean recall over the seeds, for the same memory."""

    policy: str
    memory: float
    plain: float
    per_byte: float


def measure_bytes(
    seeds: tuple[int, ...] = SEEDS, shares: tuple[float, ...] = SHARES
) -> Iterator[ByteRecall]:
    """Run each policy on sizes that vary tenfold, with and without dividing by the size."""
    streams = [(_side(2 * seed), _side(2 * seed + 1)) for seed in seeds]
    window = TimeWindow(HELD * GAP_US)
    exact = [Replay(Terms((window, window), Fifo()), *sides, KEYS).total() for sides in streams]
    for policy in POLICIES:
        for share in shares:
            found = [
                [
                    _pairs(policy, sides, int(share * whole.peak_bytes), per_byte) / whole.pairs
                    for sides, whole in zip(streams, exact, strict=True)
                ]
                for per_byte in (False, True)
            ]
            yield ByteRecall(policy, share, float(np.mean(found[0])), float(np.mean(found[1])))


def show_bytes(console: Console) -> None:
    """Print the table."""
    table = Table(title=f"Recall within bytes, rows of {SMALLEST} to {LARGEST:,} bytes")
    for heading in ("policy", "memory", "by worth", "by worth per byte", "ratio"):
        table.add_column(heading, justify="left" if heading == "policy" else "right")
    for one in measure_bytes():
        table.add_row(
            one.policy.upper(),
            f"{one.memory:.0%}",
            f"{one.plain:.3f}",
            f"{one.per_byte:.3f}",
            f"{one.per_byte / one.plain:.3f}",
        )
    console.print(table)


def _side(seed: int) -> Rows:
    """Rows of keys by Zipf's law, whose sizes have nothing to do with their keys."""
    rng = np.random.default_rng(seed)
    chance = np.arange(1, KEYS + 1) ** -SKEW
    code = np.searchsorted(np.cumsum(chance / chance.sum()), rng.random(ROWS)).clip(0, KEYS - 1)
    size = np.exp(rng.uniform(np.log(SMALLEST), np.log(LARGEST), ROWS)).astype(np.int64)
    time_us = START_US + np.arange(ROWS) * GAP_US + rng.integers(0, GAP_US, ROWS)
    return Rows.of_arrivals(time_us, code.astype(np.int32), size, np.zeros(ROWS))


def _pairs(name: str, sides: tuple[Rows, Rows], memory: int, per_byte: bool) -> int:
    """The pairs of a join that learns what it needs within so many bytes."""
    window = TimeWindow(HELD * GAP_US)
    windows, budget, policy = (window, window), Budget(memory=memory), make_policy(name)
    terms = terms_for(budget, windows, policy, monitor=MONITOR)
    room = room_for(budget, policy, 1, MONITOR, windows=windows)
    learner = Learner(new_monitor(windows, room)) if policy.learns else None
    terms = replace(terms, per_byte=per_byte)
    return int(Replay(terms, *sides, KEYS, learner=learner).total().pairs)
