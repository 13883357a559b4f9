"""Whether the interval of the live recall covers the truth in outer, semi and anti joins, too."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
import pyarrow as pa

from headgate.api.window_join import WindowJoin
from headgate.spec import Budget, Side
from headgate.studies.learned.intervals import (
    Wanted,
    claims_of,
    panels_of_runs,
    truth_and_interval,
)
from headgate.studies.study import Figure, Row, Study, StudyCell

ONE_WAITS = ("left", "right", "semi", "anti")
"""Kinds of join in which no row that counts can have met one that came before it."""
BOTH_WAIT = tuple(f"{how}, both wait" for how in ("left", "right", "full", "semi", "anti"))
ALL = (*ONE_WAITS, "full", *BOTH_WAIT)
STREAMS = ("even keys", "frequent keys")
RUNS = 1_000
"""Seeded runs of each kind of join, half on each stream: by chance alone, the share that covers is
within 1.4 points of what it is in the long run in 95 of 100 studies."""
SEEDS_A_CELL = 10
ROWS, SECONDS, WAIT_S = 6_000, 60, 5
WANTED = Wanted(0.93, 0.97, RUNS)


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


def join_of(name: str, seed: int) -> WindowJoin:
    """The join: rows that count wait, and those of the other side do, or do not."""
    how, _, both = name.partition(", ")
    waits, others = f"{WAIT_S} seconds", f"{WAIT_S if both else 0} seconds"
    return WindowJoin(
        how=how,
        on="key",
        left=Side("time", others if how == "right" else waits),
        right=Side("time", waits if how == "right" else others),
        # About a fifth of the rows that wait.
        budget=Budget(rows=400 if both or how == "full" else 200, monitor=0.3),
        policy="random",
        seed=seed,
    )


def measure(cell: StudyCell) -> Sequence[Row]:
    """Ten runs: the truth, and the interval given for it."""
    rows = []
    for number in range(SEEDS_A_CELL):
        seed = SEEDS_A_CELL * cell["block"] + number + 1_000 * cell.seed
        outcome = join_of(cell["join"], seed).run(*sides(cell["stream"], seed))
        rows.append(truth_and_interval(seed, outcome))
    return rows


STUDY = Study(
    name="kinds-intervals",
    title="The interval of the live recall of outer, semi and anti joins against the truth",
    paper="Headgate",
    place="live recall",
    grid={
        "join": ALL,
        "stream": STREAMS,
        "block": tuple(range(RUNS // len(STREAMS) // SEEDS_A_CELL)),
    },
    quick_grid={"join": ("left", "full, both wait", "semi, both wait"), "block": (0,)},
    measure=measure,
    seeds=(1,),
    claims=claims_of("join", "kind of join", WANTED),
    figures=(
        Figure(lambda results: panels_of_runs(results, "join", _shown(results, ALL[:5]))),
        Figure(lambda results: panels_of_runs(results, "join", _shown(results, BOTH_WAIT)), "both"),
    ),
)


def _shown(results: pd.DataFrame, names: Sequence[str]) -> list[str]:
    """The joins of these names that were measured."""
    return [name for name in names if name in set(results["join"])]
