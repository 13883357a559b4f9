"""Whether the interval of the live recall covers the truth under every way of learning."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import pandas as pd
import pyarrow as pa
from matplotlib.figure import Figure as Drawing

from headgate.api.window_join import WindowJoin
from headgate.spec import Budget, Side
from headgate.studies.auto.band_streams import STREAMS as BANDS
from headgate.studies.auto.band_streams import band_streams
from headgate.studies.auto.streams import STREAMS as KEYED
from headgate.studies.learned.intervals import (
    Wanted,
    claims_of,
    coverage,
    panels_of_runs,
    truth_and_interval,
)
from headgate.studies.study import Claim, ClaimFinding, Figure, Row, Study, StudyCell
from headgate.studies.told.told_streams import GENERATED
from headgate.trials.trace import Trace

ROWS, RATE = 6_000, 6
"""Ten windows of a hundred seconds."""
MEMORY = (0.05, 0.2, 0.5)
RUNS_A_CELL, BLOCKS = 10, 30
RUNS = BLOCKS * RUNS_A_CELL * len(MEMORY)
"""Of each policy, a third with each memory: by chance alone, the share of intervals that cover is
within 1.5 points of what it is in the long run in 95 of 100 studies; with each memory, within 2.5.
"""
WANTED = Wanted(0.93, 0.97, RUNS)
WANTED_WITH_EACH = Wanted(0.91, 0.99, RUNS // len(MEMORY))


class Drawn(NamedTuple):
    """Two streams, and how to join them with a policy, a budget and further arguments."""

    stream: str
    tables: tuple[pa.Table, pa.Table]
    request: Callable[..., WindowJoin]


def keyed(run: int, size: int) -> Drawn:
    """Streams of `auto-choice`, another in each run."""
    name = tuple(KEYED)[run % len(KEYED)]
    streams = KEYED[name](ROWS * size, RATE * size, run)
    return Drawn(name, streams.tables, streams.request)


def bands(run: int, size: int) -> Drawn:
    """Streams of `auto-bands`."""
    name = tuple(BANDS)[run % len(BANDS)]
    streams = band_streams(name, ROWS * size, RATE * size, run)
    return Drawn(name, streams.tables, streams.request)


def told(run: int, size: int) -> Drawn:
    """Streams on which columns tell which rows match, or when, or nothing."""
    name = tuple(GENERATED)[run % len(GENERATED)]
    streams = GENERATED[name](ROWS * size, run)
    left, right = (Side("at", window) for window in streams.windows)

    def request(policy: str, budget: Budget, **more: Any) -> WindowJoin:
        if policy in ("auto", "features"):
            more["features"] = streams.features
        return WindowJoin(on="key", left=left, right=right, policy=policy, budget=budget, **more)

    return Drawn(name, (streams.left, streams.right), request)


@dataclass(frozen=True)
class Tried:
    """A policy, the streams it is tried on, and what else the join is given."""

    policy: str
    draw: Callable[[int, int], Drawn]
    more: Mapping[str, Any] = field(default_factory=dict)
    monitor: float | None = None
    size: int = 1
    """How many times as many rows come, where the monitor has little room."""


POLICIES = {
    "auto": Tried("auto", keyed),
    "auto with prior": Tried("auto", keyed, {"prior": "prob"}),
    "DENSITY": Tried("density", keyed),
    "FEATURES": Tried("features", told),
    "auto in bands": Tried("auto", bands),
    "LFU in bands": Tried("lfu", bands, monitor=0.3, size=2),
}


def measure(cell: StudyCell) -> Sequence[Row]:
    """Ten runs: the truth, and the interval given for it."""
    tried, memory, rows = POLICIES[cell["policy"]], cell["memory"], []
    for number in range(RUNS_A_CELL):
        run = RUNS_A_CELL * (len(MEMORY) * cell["block"] + MEMORY.index(memory)) + number
        run += 10_000 * cell.seed
        drawn = tried.draw(run, tried.size)
        trace = Trace.of_tables(drawn.request("fifo", Budget(rows=1)), *drawn.tables)
        stored = max(1, round(memory * trace.needs.peak_rows))
        budget = Budget(rows=stored, monitor=tried.monitor)
        join = drawn.request(tried.policy, budget, seed=run, **tried.more)
        found = truth_and_interval(run, join.run(*drawn.tables))
        rows.append({"stream": drawn.stream, **found})
    return rows


def by_memory(results: pd.DataFrame) -> ClaimFinding:
    """Whether intervals cover the truth with much memory and with little."""
    points = [
        f"{policy} with {memory:.0%}"
        for policy, memory in zip(results["policy"], results["memory"], strict=True)
    ]
    return coverage(results.assign(point=points), "point", WANTED_WITH_EACH)


def panels_of(names: Sequence[str]) -> Callable[[pd.DataFrame], Drawing]:
    """A panel for each of some policies, of those that were measured."""

    def draw(results: pd.DataFrame) -> Drawing:
        measured = set(results["policy"])
        return panels_of_runs(results, "policy", [name for name in names if name in measured])

    return draw


STUDY = Study(
    name="policies-intervals",
    title="The interval of the live recall of policies that learn, against the truth",
    paper="Headgate",
    place="live recall",
    grid={"policy": tuple(POLICIES), "memory": MEMORY, "block": tuple(range(BLOCKS))},
    quick_grid={"policy": ("auto", "FEATURES", "LFU in bands"), "memory": (0.2,), "block": (0,)},
    measure=measure,
    seeds=(500,),
    claims=(
        *claims_of("policy", "policy", WANTED),
        Claim(
            "with-each-memory",
            f"It does in {WANTED_WITH_EACH.low:.0%} to {WANTED_WITH_EACH.high:.0%} of the "
            f"{WANTED_WITH_EACH.runs} runs with memory for 5, 20 or 50 % of the rows",
            by_memory,
        ),
    ),
    figures=(
        Figure(panels_of([name for name in POLICIES if POLICIES[name].draw is keyed])),
        Figure(panels_of([name for name in POLICIES if POLICIES[name].draw is not keyed]), "more"),
    ),
)
