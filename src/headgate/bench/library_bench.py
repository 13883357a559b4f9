"""The kernel in the library of machine code, in turns with what Numba makes of its source."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np

from headgate.bench.kernel_bench import GAP_US, policies, side_of
from headgate.bench.ratio_spread import RatioSpread
from headgate.compiling import Compiled
from headgate.engine.replay import Replay
from headgate.kernel.rows import Rows
from headgate.kernel.terms import Terms
from headgate.policies import Policy
from headgate.spec import TimeWindow
from headgate.spec.budget import UNLIMITED

ROWS = 400_000
BUDGET = 10_000
TURNS = 5
"""Turns a round; the least of a round counts, since other processes only add to it."""


@dataclass(frozen=True)
class Forms:
    """Processor seconds of both forms, and how many times as long the library takes."""

    policy: str
    library: RatioSpread
    jit: RatioSpread
    ratio: RatioSpread


def measure_library(rounds: int) -> Iterator[Forms]:
    """Run a policy of each kind of score with memory full, in both forms, in turns."""
    rng = np.random.default_rng(1)
    sides = (side_of(rng, ROWS // 2, 2 * BUDGET), side_of(rng, ROWS // 2, 2 * BUDGET))
    for policy in policies():
        if policy.kind.reads_importance:
            continue
        with _left_aside():
            _seconds(policy, sides)  # compiles, or reads what was compiled before
        library, jit = [], []
        for _ in range(rounds):
            turns = []
            for _ in range(TURNS):
                first = _seconds(policy, sides)
                with _left_aside():
                    turns.append((first, _seconds(policy, sides)))
            library.append(min(first for first, _ in turns))
            jit.append(min(second for _, second in turns))
        ratio = RatioSpread.of([a / b for a, b in zip(library, jit, strict=True)])
        yield Forms(policy.label, RatioSpread.of(library), RatioSpread.of(jit), ratio)


@contextmanager
def _left_aside() -> Iterator[None]:
    """Compiled functions called here are not those of the library."""
    usual = Compiled.__dict__["_entries"]
    Compiled._entries = property(lambda _: ())  # type: ignore[assignment,method-assign]
    try:
        yield
    finally:
        Compiled._entries = usual  # type: ignore[method-assign]


def _seconds(policy: Policy, sides: tuple[Rows, Rows]) -> float:
    window = TimeWindow(BUDGET * GAP_US)
    terms = Terms((window, window), policy, (BUDGET, UNLIMITED))
    began = time.process_time()
    for _ in Replay(terms, sides[0], sides[1], 2 * BUDGET).pairs():
        pass
    return time.process_time() - began
