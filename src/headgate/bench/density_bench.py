"""Benchmark of match density beside PROB: processor time of joins that learn, by part."""

import time
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from rich.console import Console
from rich.table import Table

from headgate.bench.kernel_bench import GAP_US, START_US
from headgate.calibration.part_times import PARTS, PartTimes
from headgate.engine.limits import room_for, terms_for
from headgate.engine.replay import Replay
from headgate.kernel.rows import Rows
from headgate.learning.learner import Learner, new_monitor
from headgate.policies import Learned
from headgate.spec import Budget, TimeWindow
from headgate.spec.budget import MONITOR

BUDGET = 100_000
ROWS = 1_000_000
STREAMS = {"uniform keys": 0.0, "Zipf 0.4": 0.4, "Zipf 0.6": 0.6}
POLICIES = ("prob", "density")


@dataclass(frozen=True)
class PolicyTime:
    """Processor seconds of a join, by part, and the pairs that it made."""

    stream: str
    policy: str
    seconds: dict[str, float]
    pairs: int

    @property
    def total(self) -> float:
        """Of all parts."""
        return sum(self.seconds.values())


def measure_density(rounds: int, budget: int = BUDGET, rows: int = ROWS) -> Iterator[PolicyTime]:
    """Time learned PROB and DENSITY in turn on the same rows; the least of some rounds, by part."""
    for name, skew in STREAMS.items():
        sides = (_side(1, rows // 2, budget, skew), _side(2, rows // 2, budget, skew))
        best: dict[str, PolicyTime] = {}
        for _ in range(rounds):
            for policy in POLICIES:
                one = _timed(name, policy, sides, budget)
                if policy not in best or one.total < best[policy].total:
                    best[policy] = one
        yield from best.values()


def show_density(console: Console, rounds: int) -> None:
    """Print the table."""
    table = Table(title=f"Match density beside PROB, {BUDGET:,} stored rows, CPU s, {ROWS:,} rows")
    for heading in ("stream", "policy", *PARTS, "in all", "of PROB's", "kernel's", "pairs"):
        table.add_column(heading, justify="left" if heading in ("stream", "policy") else "right")
    beside: PolicyTime | None = None
    for one in measure_density(rounds):
        if one.policy == POLICIES[0]:
            beside = one
        assert beside is not None
        table.add_row(
            one.stream,
            one.policy.upper(),
            *(f"{one.seconds[part]:.2f}" for part in PARTS),
            f"{one.total:.2f}",
            f"{one.total / beside.total:.2f}",
            f"{one.seconds['kernel'] / beside.seconds['kernel']:.2f}",
            f"{one.pairs:,}",
        )
    console.print(table)


def _side(seed: int, rows: int, budget: int, skew: float) -> Rows:
    """A side's rows, one millisecond apart: twice as many keys as rows fit, by Zipf's law."""
    rng = np.random.default_rng(seed)
    keys = 2 * budget
    chance = np.arange(1, keys + 1) ** -skew
    code = np.searchsorted(np.cumsum(chance / chance.sum()), rng.random(rows)).clip(0, keys - 1)
    time_us = START_US + np.arange(rows) * GAP_US + rng.integers(0, GAP_US, rows)
    size, weight = np.full(rows, 100, np.int64), np.zeros(rows)
    return Rows.of_arrivals(time_us, code.astype(np.int32), size, weight)


def _timed(stream: str, name: str, sides: tuple[Rows, Rows], rows: int) -> PolicyTime:
    window = TimeWindow(rows * GAP_US)  # both windows together hold twice as many rows as fit
    budget, policy = Budget(rows=rows), Learned(name)
    room = room_for(budget, policy, 1, MONITOR)
    replay = Replay(
        terms_for(budget, (window, window), policy, monitor=MONITOR),
        *sides,
        2 * rows,
        learner=Learner(new_monitor((window, window), room)),
    )
    pairs = 0
    with PartTimes() as parts:
        began = time.process_time()
        for block in replay.pairs():
            pairs += len(block.left)
        total = time.process_time() - began
    spent = dict(parts.seconds)
    spent["rest"] = total - sum(spent.values())
    return PolicyTime(stream, name, spent, pairs)
