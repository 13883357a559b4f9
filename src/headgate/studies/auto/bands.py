"""Recall of policy="auto" in joins on a band alone, compared with policies that need no key."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from matplotlib.figure import Figure as Drawing

from headgate.report.plot_style import PERCENT, QUIET, STYLES
from headgate.spec import Budget
from headgate.studies.auto.band_streams import STREAMS, band_streams
from headgate.studies.study import Claim, ClaimFinding, Figure, Row, Study, StudyCell
from headgate.trials.simulation import simulate
from headgate.trials.trace import Trace

AUTO, FIFO, RANDOM, AGE = "auto", "fifo", "random", "age"
SINGLE = (RANDOM, FIFO, "until-expiry", AGE, "density", "lru", "lfu", "size", "ijoin")
ROWS, RATE = 100_000, 100
QUICK_ROWS, QUICK_RATE = 30_000, 40
MEMORY = (0.1, 0.2, 0.5)
WITHIN, QUICK_WITHIN = 0.03, 0.15
POINT = ["stream", "memory"]


def measure(cell: StudyCell) -> Sequence[Row]:
    """Recall of every policy on one pair of streams with some memory."""
    rows, rate = (QUICK_ROWS, QUICK_RATE) if cell.quick else (ROWS, RATE)
    streams = band_streams(cell["stream"], rows, rate, cell.seed)
    trace = Trace.of_tables(streams.request(FIFO, Budget(rows=1)), *streams.tables)
    budget = Budget(rows=max(1, round(cell["memory"] * trace.needs.peak_rows)))
    return [
        {
            "policy": policy,
            "recall": simulate(trace, policy, budget).recall.value,
            "within": QUICK_WITHIN if cell.quick else WITHIN,
        }
        for policy in (AUTO, *SINGLE)
    ]


def relative(results: pd.DataFrame) -> pd.DataFrame:
    """Mean recall by point and policy, relative to the best named policy."""
    recall = results.pivot_table(index=POINT, columns="policy", values="recall", sort=False)
    return recall.div(recall.drop(columns=AUTO).max(axis=1), axis=0)


def _told(ratios: "pd.Series[float]") -> str:
    """The least of some ratios, and where it is."""
    at = int(ratios.argmin())
    stream, memory = ratios.index[at]
    return f"{ratios.iloc[at]:.3f} at least ({stream}, {memory:.0%})"


def _near_best(results: pd.DataFrame) -> ClaimFinding:
    auto = relative(results)[AUTO]
    least = 1 - results["within"].iloc[0]
    near = (auto >= 0.98).sum()
    told = f"{_told(auto)}, {auto.mean():.3f} on average; 0.98 at {near} of {len(auto)} points"
    return ClaimFinding(bool((auto >= least).all()), told)


def _not_behind(results: pd.DataFrame) -> ClaimFinding:
    shares = relative(results)
    ratio = shares[AUTO] / shares[[FIFO, RANDOM]].max(axis=1)
    least = 1 - results["within"].iloc[0]
    return ClaimFinding(bool((ratio >= least).all()), f"auto over the better: {_told(ratio)}")


def _ahead_of_age(results: pd.DataFrame) -> ClaimFinding:
    shares = relative(results)
    ratio = shares[AUTO] / shares[AGE]
    doubled = int((ratio > 2).sum())
    told = f"auto over AGE: {_told(ratio)}; more than twice as much at {doubled} of {len(ratio)}"
    return ClaimFinding(bool(ratio.min() >= 1 - results["within"].iloc[0] and doubled), told)


def draw(results: pd.DataFrame) -> Drawing:
    """One row a stream and memory, one mark a policy."""
    shares = relative(results).iloc[::-1]
    figure = Drawing(figsize=(7.8, 7.6), layout="constrained")
    axes = figure.subplots()
    place = np.arange(len(shares))
    for policy, (colour, marker) in zip(shares.columns.drop(AUTO), STYLES, strict=False):
        axes.plot(shares[policy], place, marker, color=colour, label=policy.upper())
    axes.plot(
        shares[AUTO], place, "o", color="black", markersize=11, markerfacecolor="none", label="auto"
    )
    axes.set_yticks(place, [f"{stream}, {memory:.0%}" for stream, memory in shares.index])
    axes.set_xlabel("recall, as a part of the best policy's")
    axes.xaxis.set_major_formatter(PERCENT)
    axes.set_xlim(0, 1.03)
    axes.grid(axis="y", linewidth=0.4, color=QUIET)
    axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5))
    axes.set_title("auto in joins on a band, and the policies it may have been", loc="left")
    return figure


STUDY = Study(
    name="auto-bands",
    title='policy="auto" in joins on a band alone, on ten pairs of streams',
    paper="Headgate",
    place="online auto",
    grid={"stream": tuple(STREAMS), "memory": MEMORY},
    quick_grid={"stream": ("gathered values", "bursts"), "memory": (0.2,)},
    measure=measure,
    seeds=(11, 12, 13),
    claims=(
        Claim(
            "near-the-best",
            "auto is within 3 % of the best policy that has a name, at every point "
            "(15 % in the quick form, whose streams are short)",
            _near_best,
        ),
        Claim(
            "not-behind-simple-ones",
            "auto is nowhere behind FIFO or RANDOM by more than that",
            _not_behind,
        ),
        Claim(
            "ahead-of-age",
            "auto is nowhere behind AGE by more than that, and somewhere has twice as much",
            _ahead_of_age,
        ),
    ),
    figures=(Figure(draw),),
)
