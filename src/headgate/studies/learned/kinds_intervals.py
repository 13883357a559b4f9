"""Whether the interval of the live recall covers the truth in outer, semi and anti joins, too."""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from headgate.api.window_join import WindowJoin
from headgate.spec import Budget, Side
from headgate.studies.learned.intervals import (
    claims_of,
    panels_of_runs,
    truth_and_interval,
)
from headgate.studies.study import Cell, Figure, Row, Study

KINDS = ("left", "right", "semi", "anti")
STREAMS = ("even keys", "frequent keys")
RUNS = 200
"""Seeded runs of each kind of join, half on each stream."""
SEEDS_A_CELL = 10
ROWS, SECONDS, WAIT_S = 6_000, 60, 5


def sides(stream: str, seed: int) -> tuple[pa.Table, pa.Table]:
    """Two streams in which about half of the rows have a partner; one key in fifty is null."""
    rng = np.random.default_rng(seed)
    made = []
    for _ in range(2):
        keys = rng.integers(0, 900, ROWS)
        if stream == "frequent keys":
            # A quarter of the rows share few keys, and make most of the pairs.
            keys = np.where(rng.random(ROWS) < 0.75, keys, rng.integers(1_000, 1_040, ROWS))
        time = np.sort(rng.integers(0, SECONDS * 1_000_000, ROWS))
        made.append(
            pa.table(
                {
                    "key": pa.array(keys, mask=rng.random(ROWS) < 0.02),
                    "time": pa.array(time).cast(pa.timestamp("us", "UTC")),
                }
            )
        )
    return made[0], made[1]


def measure(cell: Cell) -> Sequence[Row]:
    """Ten runs: the truth, and the interval given for it."""
    rows, how = [], cell["how"]
    waits, others = (Side("time", f"{seconds} seconds") for seconds in (WAIT_S, 0))
    for number in range(SEEDS_A_CELL):
        seed = SEEDS_A_CELL * cell["block"] + number + 1_000 * cell.seed
        join = WindowJoin(
            how=how,
            on="key",
            left=others if how == "right" else waits,
            right=waits if how == "right" else others,
            budget=Budget(rows=200, monitor=0.3),
            policy="random",
            seed=seed,
        )
        outcome = join.run(*sides(cell["stream"], seed))
        rows.append(truth_and_interval(seed, outcome))
    return rows


STUDY = Study(
    name="kinds-intervals",
    title="The interval of the live recall of outer, semi and anti joins against the truth",
    paper="Headgate",
    place="live recall",
    grid={
        "how": KINDS,
        "stream": STREAMS,
        "block": tuple(range(RUNS // len(STREAMS) // SEEDS_A_CELL)),
    },
    quick_grid={"block": (0,)},
    measure=measure,
    seeds=(1,),
    claims=claims_of("how", "kind of join"),
    figures=(Figure(lambda results: panels_of_runs(results, "how", KINDS)),),
)
