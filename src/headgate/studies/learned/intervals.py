"""Whether the interval of the live recall covers the truth as often as it says."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from matplotlib.figure import Figure as Drawing

from headgate.report.plot_style import PERCENT, STYLES
from headgate.spec import Budget
from headgate.studies.recall import covered
from headgate.studies.streams import aging, zipf
from headgate.studies.study import Cell, Claim, Figure, Finding, Row, Study

POLICIES = ("auto", "RANDOM", "LRU", "FIFO")
STREAMS = ("by age", "by key")
RUNS = 200
"""Seeded runs of each policy, half on each stream."""
SEEDS_A_CELL = 10
LOW, HIGH = 0.90, 0.99


def measure(cell: Cell) -> Sequence[Row]:
    """Ten runs: the truth, and the interval given for it."""
    rows = []
    for number in range(SEEDS_A_CELL):
        seed = SEEDS_A_CELL * cell["block"] + number + 1_000 * cell.seed
        if cell["stream"] == "by age":
            streams = aging(3_000, 60, window=6, shapes=["rising"], seed=seed)
        else:
            streams = zipf(6_000, 60, seed=seed, keys=300, window=2)
        outcome = streams.join(cell["policy"].lower(), Budget(rows=120, monitor=0.3), seed=seed)
        estimate = outcome.estimated_recall
        if estimate is None:
            raise RuntimeError("a run without a monitor says nothing of recall")
        rows.append(
            {
                "run": seed,
                "recall": outcome.recall,
                "estimate": estimate.value,
                "low": estimate.low,
                "high": estimate.high,
            }
        )
    return rows


def _coverage(results: pd.DataFrame) -> Finding:
    shares = {str(name): float(covered(own).mean()) for name, own in results.groupby("policy")}
    runs = int(results.groupby("policy").size().min())
    shown = ", ".join(f"{name} {share:.1%}" for name, share in shares.items())
    # In a quick run a few runs more or less are chance.
    slack = 0.0 if runs >= RUNS else 0.05
    holds = all(LOW - slack <= share <= min(HIGH + slack, 1.0) for share in shares.values())
    return Finding(holds, f"{shown}, of {runs} runs each")


def _unbiased(results: pd.DataFrame) -> Finding:
    wrong = results.assign(wrong=results["estimate"] - results["recall"])
    errors = wrong.groupby(["policy", "stream"])["wrong"].agg(["mean", "sem"]).reset_index()
    errors["far"] = (errors["mean"] / errors["sem"]).abs()
    worst = errors.iloc[int(errors["far"].to_numpy().argmax())]
    return Finding(
        bool(worst["far"] < 4),
        f"farthest {worst['mean']:+.4f}, {worst['far']:.1f} standard errors ({worst['policy']} on "
        f"streams that match {worst['stream']})",
    )


def draw(results: pd.DataFrame) -> Drawing:
    """Every run's interval about its own recall, narrow ones first."""
    figure = Drawing(figsize=(9.4, 3.4), layout="constrained")
    panels = figure.subplots(1, len(POLICIES), sharey=True)
    for axes, policy in zip(panels, POLICIES, strict=True):
        own = results[results["policy"] == policy]
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
        axes.set_title(f"{policy}: {held.mean():.1%} cover", loc="left")
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
    claims=(
        Claim(
            "coverage",
            f"The 95 % interval covers the truth in {LOW:.0%} to {HIGH:.0%} of 200 seeded runs, "
            "for each policy",
            _coverage,
        ),
        Claim("unbiased", "The estimate is right on average (within 4 standard errors)", _unbiased),
    ),
    figures=(Figure(draw),),
)
