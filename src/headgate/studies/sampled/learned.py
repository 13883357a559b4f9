"""Gain of `Sample("auto")` from learning keys, against equal chances and a given model."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from headgate.api import estimate
from headgate.spec import Budget, Sample
from headgate.spec.budget import AMPLE
from headgate.studies.streams import Streams, zipf
from headgate.studies.study import Claim, ClaimFinding, Row, Study, StudyCell

EQ, TOLD, LEARNED = "EQ-CLUSTER", "PPS-CLUSTER, told", "auto, learned"
RUNS, RUNS_A_CELL = 200, 10
BUDGET = Budget(rows=150)
SECONDS, ROWS = 120, 12_000
LOW, HIGH = 0.92, 0.98


@lru_cache(maxsize=1)
def streams_of() -> tuple[Streams, float]:
    """Zipf keys with a value on the left, and the sum of it over the exact result."""
    plain = zipf(ROWS, SECONDS, seed=1, keys=1000)
    value = np.random.default_rng(5).normal(100, 100, ROWS)
    left = plain.left.append_column("x", pa.array(value))
    streams = Streams(left, plain.right, plain.windows)
    return streams, float(streams.join("fifo", AMPLE).pairs.column("x").to_numpy().sum())


def measure(cell: StudyCell) -> Sequence[Row]:
    """Estimates of a few samples, next to the truth."""
    streams, truth = streams_of()
    models: dict[str, Any] = {}
    if cell["scheme"] == TOLD:
        rate = ROWS / SECONDS
        models = {"frequencies": streams.frequencies(), "rates": (rate, rate)}
    goal = Sample("auto" if cell["scheme"] == LEARNED else "cluster")
    rows = []
    for number in range(RUNS_A_CELL):
        seed = 1_000 * cell.seed + RUNS_A_CELL * cell["block"] + number
        sample = streams.join("auto", BUDGET, goal=goal, seed=seed, **models).pairs
        found = estimate.sum(sample, "x")
        rows.append(
            {
                "run": seed,
                "off": found.estimate / truth - 1,
                "covers": found.low <= truth <= found.high,
                "rows": found.rows,
            }
        )
    return rows


def _unbiased(results: pd.DataFrame) -> ClaimFinding:
    off = results.groupby("scheme")["off"].agg(["mean", "sem"])
    far = (off["mean"] / off["sem"]).abs()
    shown = ", ".join(f"{scheme}: {value:.1f}" for scheme, value in far.items())
    return ClaimFinding(bool((far <= 3).all()), f"standard errors off: {shown}")


def _gains(results: pd.DataFrame) -> ClaimFinding:
    spread = results.groupby("scheme")["off"].std()
    shown = ", ".join(f"{scheme} {value:.2%}" for scheme, value in spread.items())
    return ClaimFinding(bool(spread[LEARNED] <= 0.8 * spread[EQ]), f"standard deviation: {shown}")


def _honest(results: pd.DataFrame) -> ClaimFinding:
    covers = results.groupby("scheme")["covers"].mean()
    slack = 0.0 if len(results) >= 3 * RUNS else 0.06
    shown = ", ".join(f"{scheme} {value:.1%}" for scheme, value in covers.items())
    return ClaimFinding(bool(covers.between(LOW - slack, HIGH + slack).all()), shown)


STUDY = Study(
    name="sampled-learned",
    title="A sample that learns how many matches rows make",
    paper="Headgate",
    place="samples",
    grid={"scheme": (EQ, TOLD, LEARNED), "block": tuple(range(RUNS // RUNS_A_CELL))},
    quick_grid={"block": (0, 1, 2, 3)},
    measure=measure,
    seeds=(1,),
    claims=(
        Claim(
            "unbiased",
            "A sum is right on average, whatever is learned on the way (within 3 standard errors)",
            _unbiased,
        ),
        Claim("gains", "Its error is at most 0.8 of EQ-CLUSTER's", _gains),
        Claim(
            "honest", f"95 % intervals cover the truth in {LOW:.0%} to {HIGH:.0%} of runs", _honest
        ),
    ),
)
