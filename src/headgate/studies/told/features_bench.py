"""Benchmark of rows kept by what their columns tell: recall beside other policies, and cost."""

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from rich.console import Console
from rich.table import Table

from headgate.api.window_join import WindowJoin
from headgate.calibration.learned_time import GAP_US, LearnedTime, least, time_learned
from headgate.calibration.part_times import PARTS
from headgate.kernel.rows import Rows
from headgate.policies import Features
from headgate.policies.offline import Ceiling, Events
from headgate.spec import Budget, Side
from headgate.studies.streams import START_US
from headgate.studies.told.told_streams import GENERATED, ToldStream, flights
from headgate.trials.trace import Trace

ROWS = 60_000
SEEDS = (21, 22, 23)
"""Of the generated streams; 1 to 3 were used to tune."""
WITHOUT = ("prob", "age", "lru", "density", "auto")
STORED, ARRIVALS = 100_000, 1_000_000
CEILING = "ceiling"


@dataclass(frozen=True)
class ToldRecall:
    """Mean recall over the seeds, by policy, and of the most that any could make."""

    stream: str
    memory: float
    rows: int
    recall: dict[str, float] = field(default_factory=dict)
    used: float = 0.0
    """The share of the arrivals that came while rows were kept by their columns."""


def measure_recall(
    rows: int = ROWS, seeds: tuple[int, ...] = SEEDS, real: bool = True
) -> Iterator[ToldRecall]:
    """Every policy on every stream, for several shares of the memory that all rows take."""
    for name, make in GENERATED.items():
        yield from _recalls(name, [make(rows, seed) for seed in seeds])
    if real:
        yield from _recalls("departures", [flights()])


def _recalls(name: str, streams: list[ToldStream]) -> Iterator[ToldRecall]:
    traces = [_trace(stream) for stream in streams]
    for share in streams[0].shares:
        found: dict[str, list[float]] = {}
        used = []
        for stream, trace in zip(streams, traces, strict=True):
            rows = max(1, round(share * trace.needs.peak_rows))
            every = trace.met.total
            told = _join(stream, rows, Features.name).run(stream.left, stream.right)
            found.setdefault(Features.name, []).append(told.stats.pairs / every)
            followed = told.followed
            used.append(followed.get(Features.name.upper(), 0) / max(sum(followed.values()), 1))
            for policy in WITHOUT:
                made = _join(stream, rows, policy).run(stream.left, stream.right)
                found.setdefault(policy, []).append(made.stats.pairs / every)
            left, right = (Events(side.time, side.code) for side in trace.rows)
            most = Ceiling.of(left, right, trace.windows, rows).value
            found.setdefault(CEILING, []).append(min(most, every) / every)
        means = {policy: float(np.mean(recalls)) for policy, recalls in found.items()}
        yield ToldRecall(name, share, rows, means, float(np.mean(used)))


def _join(stream: ToldStream, rows: int, policy: str) -> WindowJoin:
    left, right = (Side("at", window) for window in stream.windows)
    features = stream.features if policy == Features.name else ()
    return WindowJoin(
        on="key", left=left, right=right, budget=Budget(rows=rows), policy=policy, features=features
    )


def _trace(stream: ToldStream) -> Trace:
    return Trace.of_tables(_join(stream, 1, "fifo"), stream.left, stream.right)


def measure_time(rounds: int, budget: int = STORED, rows: int = ARRIVALS) -> list[LearnedTime]:
    """Time learned PROB and FEATURES in turn on the same rows; the least of some rounds."""
    sides = (_side(1, rows // 2, budget), _side(2, rows // 2, budget))
    traits = {"prob": ((), ()), Features.name: ((False, True), (False, True))}
    best: dict[str, LearnedTime] = {}
    for _ in range(rounds):
        for policy, are_numbers in traits.items():
            one = time_learned(policy, sides, budget, 8 * budget, are_numbers)
            best[policy] = least(best.get(policy), one)
    return list(best.values())


def _side(seed: int, rows: int, budget: int) -> Rows:
    """A side's rows, one millisecond apart; those of two of five classes never match."""
    rng = np.random.default_rng(seed)
    kind = rng.integers(0, 5, rows)
    code = rng.integers(0, 2 * budget, rows)
    code = np.where(kind > 2, code % (budget // 2) + 2 * budget * seed, code)
    time_us = START_US + np.arange(rows) * GAP_US + rng.integers(0, GAP_US, rows)
    size, weight = np.full(rows, 100, np.int64), np.zeros(rows)
    made = Rows.of_arrivals(time_us, code.astype(np.int32), size, weight)
    return made._replace(traits=np.stack([kind, rng.random(rows)], axis=1).astype(np.float32))


def show_features(console: Console, rounds: int) -> None:
    """Print recall and cost."""
    names = (Features.name, *WITHOUT, CEILING)
    table = Table(title=f"Recall by what columns tell, mean of seeds {', '.join(map(str, SEEDS))}")
    table.add_column("stream")
    for heading in ("memory", "rows", *(name.upper() for name in names), "used"):
        table.add_column(heading, justify="right")
    for one in measure_recall():
        recalls = (f"{one.recall[name]:.3f}" for name in names)
        table.add_row(one.stream, f"{one.memory:.0%}", f"{one.rows:,}", *recalls, f"{one.used:.0%}")
    console.print(table)
    times = Table(title=f"Columns beside PROB, {STORED:,} stored rows, CPU s, {ARRIVALS:,} rows")
    for heading in ("policy", *PARTS, "in all", "of PROB's", "pairs"):
        times.add_column(heading, justify="left" if heading == "policy" else "right")
    measured = measure_time(rounds)
    for told in measured:
        times.add_row(
            told.policy.upper(),
            *(f"{told.seconds[part]:.2f}" for part in PARTS),
            f"{told.total:.2f}",
            f"{told.total / measured[0].total:.2f}",
            f"{told.pairs:,}",
        )
    console.print(times)
