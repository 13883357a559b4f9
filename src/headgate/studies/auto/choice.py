"""Recall of policy="auto" on unknown streams, compared with every named policy."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from matplotlib.figure import Figure as Drawing

from headgate.report.plot_style import PERCENT, QUIET, STYLES
from headgate.spec import Budget
from headgate.studies.auto.streams import MEMORY, STREAMS
from headgate.studies.study import Claim, ClaimFinding, Figure, Row, Study, StudyCell
from headgate.trials.simulation import simulate
from headgate.trials.trace import Trace

AUTO, FIFO = "auto", "fifo"
SINGLE = (
    "random",
    FIFO,
    "until-expiry",
    "prob",
    "life",
    "age",
    "lru",
    "lfu",
    "join-to-live",
    "ijoin",
)
QUICK_SINGLE = ("random", FIFO, "prob", "age", "lru")
ROWS, RATE = 2_000_000, 1000
QUICK_ROWS, QUICK_RATE = 150_000, 150
WITHIN, QUICK_WITHIN = 0.03, 0.15
"""Twenty windows, and in the quick form ten, with memory for an eighth of what miniatures like."""


def measure(cell: StudyCell) -> Sequence[Row]:
    """Recall of every policy on one pair of streams."""
    rows, rate = (QUICK_ROWS, QUICK_RATE) if cell.quick else (ROWS, RATE)
    streams = STREAMS[cell["stream"]](rows, rate, cell.seed)
    trace = Trace.of_tables(streams.request(FIFO, Budget(rows=1)), *streams.tables)
    budget = Budget(rows=max(1, round(MEMORY * trace.needs.peak_rows)))
    found = []
    for policy in (AUTO, *(QUICK_SINGLE if cell.quick else SINGLE)):
        tried = simulate(trace, policy, budget)
        most = max(tried.followed, key=lambda name: tried.followed[name], default="")
        found.append(
            {
                "policy": policy,
                "budget": budget.rows,
                "recall": tried.recall.value,
                "followed": most if policy == AUTO else "",
                "within": QUICK_WITHIN if cell.quick else WITHIN,
            }
        )
    return found


def relative(results: pd.DataFrame) -> pd.DataFrame:
    """Recall by stream and policy, relative to the best named policy."""
    recall = results.pivot_table(index="stream", columns="policy", values="recall", sort=False)
    best = recall.drop(columns=AUTO).max(axis=1)
    return recall.div(best, axis=0)


def _near_best(results: pd.DataFrame) -> ClaimFinding:
    auto = relative(results)[AUTO]
    least = 1 - results["within"].iloc[0]
    short = auto[auto < least]
    told = ", ".join(f"{stream} {share:.3f}" for stream, share in auto.items())
    return ClaimFinding(short.empty, f"{told}; mean {auto.mean():.3f}")


def _near_on_average(results: pd.DataFrame) -> ClaimFinding:
    auto = relative(results)[AUTO]
    least = 1 - results["within"].iloc[0]
    return ClaimFinding(bool(auto.mean() >= least), f"{auto.mean():.3f}; {auto.min():.3f} at least")


def _not_behind_fifo(results: pd.DataFrame) -> ClaimFinding:
    shares = relative(results)
    least = 1 - results["within"].iloc[0]
    ratio = shares[AUTO] / shares[FIFO]
    leads = shares[FIFO] >= 1.0
    ok = np.where(leads, ratio >= least, ratio >= 1.0)
    told = ", ".join(f"{stream} {share:.2f}" for stream, share in ratio.items())
    return ClaimFinding(bool(ok.all()), f"auto over FIFO: {told}")


def draw(results: pd.DataFrame) -> Drawing:
    """One row per stream, one mark per policy."""
    shares = relative(results).iloc[::-1]
    figure = Drawing(figsize=(7.4, 4.6), layout="constrained")
    axes = figure.subplots()
    place = np.arange(len(shares))
    axes.axvspan(1 - WITHIN, 1, color=QUIET, alpha=0.15, linewidth=0)
    for policy, (colour, marker) in zip(shares.columns.drop(AUTO), STYLES, strict=False):
        axes.plot(
            shares[policy], place, linestyle="", color=colour, marker=marker, label=policy.upper()
        )
    axes.plot(
        shares[AUTO],
        place,
        linestyle="",
        color="black",
        marker="o",
        markersize=11,
        markerfacecolor="none",
        label="auto",
    )
    axes.set_yticks(place, list(shares.index))
    axes.set_xlabel("recall, as a part of the best policy's; the band is 3 % wide")
    axes.xaxis.set_major_formatter(PERCENT)
    axes.set_xlim(0, 1.03)
    axes.grid(axis="y", linewidth=0.4)
    axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5))
    axes.set_title(
        "auto and the policies it may have been, memory for 10 % of the windows", loc="left"
    )
    return figure


STUDY = Study(
    name="auto-choice",
    title='policy="auto" on twelve pairs of streams that want different policies',
    paper="Headgate",
    place="online auto",
    grid={"stream": tuple(STREAMS)},
    quick_grid={"stream": ("Zipf, uncorrelated", "DEC")},
    measure=measure,
    seeds=(1,),
    claims=(
        Claim(
            "near-the-best",
            "auto is within 3 % of the best policy that has a name, on every pair of streams "
            "(15 % in the quick form, whose streams are short)",
            _near_best,
            departs="8 of 12 are, at 0.980 to 1.000; DEC, WALK, drift and inverse Zipf are at 0.93 "
            "to 0.97. Where recall is in proportion to memory, the room to learn in (1.8 % once "
            "settled, 3.8 % where keys are counted) and the first 2 to 9 % of the arrivals, "
            "before anything can be told, cost more than 3 %.",
        ),
        Claim(
            "near-on-average",
            "auto is within 3 % of the best policy that has a name on average over the streams "
            "(15 % in the quick form)",
            _near_on_average,
        ),
        Claim(
            "not-behind-fifo",
            "auto is never behind FIFO; where FIFO is the best of all, within the same 3 %",
            _not_behind_fifo,
            departs="0.96 on DEC, where FIFO is the best, and 0.99 on FLOOR, where LRU is, by "
            "0.7 %: FIFO has all the memory and nothing to learn.",
        ),
    ),
    figures=(Figure(draw),),
)
