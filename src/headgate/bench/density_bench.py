"""Benchmark of match density beside PROB: processor time of joins that learn, by part."""

from collections.abc import Iterator

import numpy as np
from rich.console import Console
from rich.table import Table

from headgate.bench.kernel_bench import START_US
from headgate.calibration.learned_time import GAP_US, LearnedTime, least, time_learned
from headgate.calibration.part_times import PARTS
from headgate.kernel.rows import Rows

BUDGET = 100_000
ROWS = 1_000_000
STREAMS = {"uniform keys": 0.0, "Zipf 0.4": 0.4, "Zipf 0.6": 0.6}
POLICIES = ("prob", "density")


def measure_density(
    rounds: int, budget: int = BUDGET, rows: int = ROWS
) -> Iterator[tuple[str, LearnedTime]]:
    """Time learned PROB and DENSITY in turn on each stream; the least of some rounds."""
    for name, skew in STREAMS.items():
        sides = (_side(1, rows // 2, budget, skew), _side(2, rows // 2, budget, skew))
        best: dict[str, LearnedTime] = {}
        for _ in range(rounds):
            for policy in POLICIES:
                one = time_learned(policy, sides, budget, 2 * budget)
                best[policy] = least(best.get(policy), one)
        yield from ((name, one) for one in best.values())


def show_density(console: Console, rounds: int) -> None:
    """Print the table."""
    table = Table(title=f"Match density beside PROB, {BUDGET:,} stored rows, CPU s, {ROWS:,} rows")
    for heading in ("stream", "policy", *PARTS, "in all", "of PROB's", "kernel's", "pairs"):
        table.add_column(heading, justify="left" if heading in ("stream", "policy") else "right")
    beside: LearnedTime | None = None
    for stream, one in measure_density(rounds):
        if one.policy == POLICIES[0]:
            beside = one
        assert beside is not None
        table.add_row(
            stream,
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
