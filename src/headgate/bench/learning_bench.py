"""Benchmark of learning: the engine with and without a monitor, in turn on the same rows."""

import time
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from headgate.bench.kernel_bench import GAP_US, LEVELS, side_of
from headgate.bench.ratio_spread import RatioSpread
from headgate.engine.limits import room_for, terms_for
from headgate.engine.replay import Replay
from headgate.kernel.rows import Rows
from headgate.learning.learner import Learner, new_monitor
from headgate.models import AgeCurves, Frequencies
from headgate.policies import Age, Learned, Policy, Prob, Random
from headgate.spec import Budget, TimeWindow
from headgate.spec.budget import MONITOR

BUDGET = 100_000
ROWS = 4_000_000


@dataclass(frozen=True)
class Cost:
    """Million arrivals per second without and with a monitor, and the overhead."""

    name: str
    without: RatioSpread
    learning: RatioSpread
    ratio: RatioSpread


def measure_learning(rounds: int) -> Iterator[Cost]:
    """Time a policy with a fixed model, with and without learning that model alongside.

    The join work is the same in both. Learned are recall, key counts for PROB, and age curves for
    AGE.
    """
    rng = np.random.default_rng(1)
    sides = (side_of(rng, ROWS // 2, 2 * BUDGET), side_of(rng, ROWS // 2, 2 * BUDGET))
    levels = dict(enumerate(np.linspace(0.0, 1.0, LEVELS).tolist()))
    rising = np.arange(120.0) ** 2
    curves = AgeCurves.of_buckets((BUDGET * GAP_US,) * 2, (rising, rising))
    for policy in (Random(), Prob(Frequencies.of_mappings(levels, levels)), Age(curves)):
        speeds = [
            (_speed(policy, sides, learns=False), _speed(policy, sides, learns=True))
            for _ in range(rounds)
        ]
        yield Cost(
            policy.label,
            RatioSpread.of([off for off, _ in speeds]),
            RatioSpread.of([on for _, on in speeds]),
            RatioSpread.of([off / on for off, on in speeds]),
        )


def _speed(policy: Policy, sides: tuple[Rows, Rows], learns: bool) -> float:
    windows = (TimeWindow(BUDGET * GAP_US), TimeWindow(BUDGET * GAP_US))
    budget = Budget(rows=BUDGET)
    room = room_for(budget, Learned(policy.name) if policy.model else policy, 1, MONITOR)
    replay = Replay(
        terms_for(budget, windows, policy),
        *sides,
        2 * BUDGET,
        learner=Learner(new_monitor(windows, room)) if learns else None,
    )
    started = time.perf_counter()
    for _ in replay.pairs():
        pass
    return ROWS / (time.perf_counter() - started) / 1e6
