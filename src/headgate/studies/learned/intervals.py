"""Whether the interval of the live recall covers the truth as often as it says."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
from matplotlib.figure import Figure as Drawing

from headgate.engine.outcome import Outcome
from headgate.report.plot_style import PERCENT, STYLES
from headgate.spec import Budget
from headgate.studies.recall import covered
from headgate.studies.streams import aging, zipf
from headgate.studies.study import Claim, ClaimFinding, Figure, Row, Study, StudyCell

POLICIES = ("auto", "RANDOM", "LRU", "FIFO")
STREAMS = ("by age", "by key")
RUNS = 200
"""Seeded runs of each policy, half on each stream."""
SEEDS_A_CELL = 10
ENOUGH_RUNS = 10
"""Of a stream, to tell the error of their mean."""


class Wanted(NamedTuple):
    """How often intervals are to cover the truth, and in how many seeded runs."""

    low: float
    high: float
    runs: int


WANTED = Wanted(0.90, 0.99, RUNS)


def measure(cell: StudyCell) -> Sequence[Row]:
    """Ten runs: the truth, and the interval given for it."""
    rows = []
    for number in range(SEEDS_A_CELL):
        seed = SEEDS_A_CELL * cell["block"] + number + 1_000 * cell.seed
        if cell["stream"] == "by age":
            streams = aging(3_000, 60, window=6, shapes=["rising"], seed=seed)
        else:
            streams = zipf(6_000, 60, seed=seed, keys=300, window=2)
        outcome = streams.join(cell["policy"].lower(), Budget(rows=120, monitor=0.3), seed=seed)
        rows.append(truth_and_interval(seed, outcome))
    return rows


def truth_and_interval(seed: int, outcome: Outcome) -> Row:
    """Of a run: its recall, and the interval given for it."""
    estimate = outcome.estimated_recall
    if estimate is None:
        raise RuntimeError("a run without a monitor says nothing of recall")
    return {
        "run": seed,
        "recall": outcome.recall,
        "estimate": estimate.value,
        "low": estimate.low,
        "high": estimate.high,
    }


def coverage(results: pd.DataFrame, of: str, wanted: Wanted) -> ClaimFinding:
    """Whether each of some policies or kinds of join covers the truth as often as wanted."""
    shares = {str(name): float(covered(own).mean()) for name, own in results.groupby(of)}
    runs = int(results.groupby(of).size().min())
    shown = ", ".join(f"{name} {share:.1%}" for name, share in shares.items())
    # In a quick run a few runs more or less are chance.
    slack = 0.0 if runs >= wanted.runs else 0.05 + (wanted.low - WANTED.low)
    low, high = wanted.low - slack, min(wanted.high + slack, 1.0)
    holds = all(low <= share <= high for share in shares.values())
    return ClaimFinding(holds, f"{shown}, of {runs} runs each")


def unbiased(results: pd.DataFrame, of: str) -> ClaimFinding:
    """Whether the estimates of each policy or kind of join are right on average, on each stream;
    on all together where few runs of a stream say little of their spread."""
    wrong = results.assign(wrong=results["estimate"] - results["recall"])
    if wrong.groupby([of, "stream"]).size().min() < ENOUGH_RUNS:
        wrong = wrong.assign(stream="all streams")
    errors = wrong.groupby([of, "stream"])["wrong"].agg(["mean", "sem"]).reset_index()
    errors["far"] = (errors["mean"] / errors["sem"]).abs()
    worst = errors.iloc[int(errors["far"].to_numpy().argmax())]
    return ClaimFinding(
        bool(worst["far"] < 4),
        f"farthest {worst['mean']:+.4f}, {worst['far']:.1f} standard errors ({worst[of]}, "
        f"{worst['stream']})",
    )


def claims_of(of: str, called: str, wanted: Wanted = WANTED) -> tuple[Claim, ...]:
    """What is claimed of the runs of each policy or kind of join."""
    return (
        Claim(
            "coverage",
            f"The 95 % interval covers the truth in {wanted.low:.0%} to {wanted.high:.0%} of "
            f"{wanted.runs} seeded runs, for each {called}",
            lambda results: coverage(results, of, wanted),
        ),
        Claim(
            "unbiased",
            "The estimate is right on average (within 4 standard errors)",
            lambda results: unbiased(results, of),
        ),
    )


def panels_of_runs(results: pd.DataFrame, of: str, names: Sequence[str]) -> Drawing:
    """Every run's interval about its own recall, narrow ones first; a panel a name."""
    figure = Drawing(figsize=(9.4, 3.4), layout="constrained")
    panels = figure.subplots(1, len(names), sharey=True, squeeze=False)[0]
    for axes, name in zip(panels, names, strict=True):
        own = results[results[of] == name]
        own = own.iloc[np.argsort((own["high"] - own["low"]).to_numpy())]
        held, at = covered(own).to_numpy(), np.arange(len(own))
        for which, colour in ((held, STYLES[0][0]), (~held, STYLES[1][0])):
            part = own[which]
            axes.vlines(
                at[which],
                part["low"] - part["recall"],
                part["high"] - part["recall"],
                color=colour,
                linewidth=0.8,
            )
        axes.axhline(0, color="black", linewidth=0.8)
        axes.set_title(f"{name}: {held.mean():.1%} cover", loc="left")
        axes.set_xlabel("runs")
        axes.grid(axis="x", visible=False)
    panels[0].set_ylabel("95 % interval less the true recall")
    panels[0].yaxis.set_major_formatter(PERCENT)
    return figure


STUDY = Study(
    name="learned-intervals",
    title="The interval of the live recall against the truth",
    paper="Headgate",
    place="live recall",
    grid={
        "policy": POLICIES,
        "stream": STREAMS,
        "block": tuple(range(RUNS // len(STREAMS) // SEEDS_A_CELL)),
    },
    quick_grid={"block": (0, 1)},
    measure=measure,
    seeds=(1,),
    claims=claims_of("policy", "policy"),
    figures=(Figure(lambda results: panels_of_runs(results, "policy", POLICIES)),),
)
