"""Concept drift: how long a learned model takes to adapt when streams change half-way."""

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
import pandas as pd
from matplotlib.figure import Figure as Drawing

from headgate.engine.outcome import Outcome
from headgate.report.plot_style import PERCENT, QUIET, STYLES
from headgate.spec import Budget
from headgate.spec.budget import AMPLE
from headgate.studies.streams import Streams, aging, recall_by_part, zipf
from headgate.studies.study import Claim, ClaimFinding, Figure, Row, Study, StudyCell

TURN, HOT = "age curve turns", "hot keys change"
MODEL = {TURN: "AGE", HOT: "PROB"}
POLICIES = {TURN: ("AGE", "UNTIL-EXPIRY", "FIFO"), HOT: ("PROB", "LRU", "RANDOM")}
ROWS, QUICK_ROWS = 160_000, 120_000
WINDOWS = 32
CHANGE = WINDOWS // 2
SETTLED = 0.9
"""Of the recall in the last windows."""


@lru_cache(maxsize=2)
def streams_of(case: str, seed: int, rows: int) -> tuple[Streams, Outcome, int, Budget]:
    """The streams, their exact join, how long they last, and the budget: a tenth of the rows."""
    if case == TURN:
        streams, seconds = aging(rows, 640, 20, ["rising", "falling"], seed), 640
    else:
        streams, seconds = zipf(rows, 320, seed, parts=2), 320
    exact = streams.join("fifo", AMPLE)
    return streams, exact, seconds, Budget(rows=round(0.1 * exact.stats.peak_rows))


def measure(cell: StudyCell) -> Sequence[Row]:
    """Recall of three policies, window by window."""
    rows = QUICK_ROWS if cell.quick else ROWS
    streams, exact, seconds, budget = streams_of(cell["case"], cell.seed, rows)
    found: list[Row] = []
    for policy in POLICIES[cell["case"]]:
        outcome = streams.join(policy.lower(), budget)
        recalls = recall_by_part(streams, outcome, exact, seconds, WINDOWS)
        found += [
            {"policy": policy, "window": window + 1, "recall": float(recall)}
            for window, recall in enumerate(recalls)
        ]
    return found


def windows_to_settle(recall: Sequence[float], change: int = CHANGE) -> int:
    """Windows from the change until recall stays near its final level.

    Examples
    --------
    >>> windows_to_settle([0.5, 0.5, 0.1, 0.3, 0.5, 0.5], change=2)
    2
    """
    after = np.asarray(recall[change:])
    level = SETTLED * after[len(after) // 2 :].mean()
    low = np.flatnonzero(after < level)
    return int(low[-1]) + 1 if len(low) else 0


def _recall(results: pd.DataFrame, case: str, policy: str) -> "pd.Series[float]":
    own = results[(results["case"] == case) & (results["policy"] == policy)]
    return own.groupby("window")["recall"].mean()


def _follows(results: pd.DataFrame, case: str, most: int) -> ClaimFinding:
    recall = _recall(results, case, MODEL[case])
    took = windows_to_settle(recall.tolist())
    before, first = recall.loc[CHANGE - 3 : CHANGE].mean(), recall.loc[CHANGE + 1]
    last = recall.loc[WINDOWS - 3 :].mean()
    return ClaimFinding(
        took <= most and bool(last > first),
        f"{took} windows; recall {before:.3f} before the change, {first:.3f} in the window after "
        f"it, {last:.3f} at the end",
    )


def _turn(results: pd.DataFrame) -> ClaimFinding:
    return _follows(results, TURN, most=6)


def _hot(results: pd.DataFrame) -> ClaimFinding:
    return _follows(results, HOT, most=4)


def draw(results: pd.DataFrame) -> Drawing:
    """A panel a change."""
    figure = Drawing(figsize=(9.4, 3.6), layout="constrained")
    panels = figure.subplots(1, 2)
    for axes, case in zip(panels, POLICIES, strict=True):
        for policy, (colour, marker) in zip(POLICIES[case], STYLES, strict=False):
            recall = _recall(results, case, policy)
            label = f"{policy}, learned" if policy == MODEL[case] else policy
            axes.plot(recall.index, recall, color=colour, marker=marker, markersize=4, label=label)
        axes.axvline(CHANGE + 0.5, color=QUIET, linewidth=0.9, linestyle=":")
        axes.set_title(f"{case.capitalize()}, 10 % memory", loc="left")
        axes.set_xlabel("windows since the start")
        axes.yaxis.set_major_formatter(PERCENT)
        axes.set_ylim(bottom=0)
        axes.legend()
    panels[0].set_ylabel("recall in the window")
    return figure


STUDY = Study(
    name="learned-drift",
    title="Models follow a stream that changes half-way",
    paper="Headgate",
    place="learning",
    grid={"case": (TURN, HOT)},
    measure=measure,
    seeds=(1, 2, 3),
    claims=(
        Claim(
            "age-curve-turns",
            "Learned AGE is within 10 % of its new level six windows after the age curve turned "
            "from INC to DEC",
            _turn,
        ),
        Claim(
            "hot-keys-change",
            "Learned PROB is within 10 % of its new level four windows after the hot keys changed",
            _hot,
        ),
    ),
    figures=(Figure(draw),),
)
