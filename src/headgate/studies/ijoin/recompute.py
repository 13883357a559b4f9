"""Beyond the paper: priorities recomputed now and then against at every decision.

IJOIN recomputes all priorities whenever a twelfth of the stored rows has been replaced, so that
a decision costs the same under any budget. The paper's successive scheme is affordable up to some
thousand rows, and there the two can be compared.
"""

from collections.abc import Sequence
from typing import Any

import pandas as pd
from matplotlib.figure import Figure as Drawing

from headgate.policies import Ijoin
from headgate.report.plot_style import PERCENT, QUIET, STYLES
from headgate.studies.ijoin.scale import Many, made, streams_of
from headgate.studies.ijoin.streams import BY_ROW, BY_VALUE, PAPER
from headgate.studies.study import Claim, ClaimFinding, Figure, Row, Study, StudyCell

AS_FITS, SUCCESSIVE = "auto", "successive"
MEMORY = (200, 500, 1000, 2000)
STAYS, QUICK_STAYS = 30, 12
WINDOW_STAYS = 5
STREAMS: dict[str, dict[str, Any]] = {
    "topics of 1 to 2 stays": {"topic_stays": 1.0},
    "topics of 2 to 4 stays": {"topic_stays": 2.0},
    "topics of 10 to 20 stays": {"topic_stays": 10.0},
    "uniform": {"keys": 0.2},
    "Zipf": {"skew": 1.0},
}


def measure(cell: StudyCell) -> Sequence[Row]:
    """The importance that IJOIN makes."""
    memory = cell["memory"]
    many = Many(memory=memory, **STREAMS[cell["stream"]])
    stays = QUICK_STAYS if cell.quick else STAYS
    streams = streams_of(many, round(stays * many.stay_s), cell["by"], cell.seed)
    policy = Ijoin(recompute=cell["recompute"])
    return [{"importance": made(streams, policy, WINDOW_STAYS, memory, monitor=0)[0]}]


def shares(results: pd.DataFrame) -> "pd.Series[float]":
    """Importance with occasional recomputation relative to recomputation at every decision: by
    stream, kind of importance, and memory."""
    index = ["stream", "by", "memory"]
    found = results.pivot_table(
        index=index, columns="recompute", values="importance", aggfunc="mean"
    )
    return found[AS_FITS] / found[SUCCESSIVE]


def _within(results: pd.DataFrame) -> ClaimFinding:
    share = shares(results)
    worst: Any = share.idxmin()
    return ClaimFinding(
        bool(share.min() >= 0.98),
        f"{share.min():.3f} ({worst[0]}, importance {worst[1]}, {worst[2]} rows) to "
        f"{share.max():.3f}, {share.mean():.3f} on average",
    )


def draw(results: pd.DataFrame) -> Drawing:
    """A line a stream and kind of importance."""
    figure = Drawing(figsize=(7.6, 4.2), layout="constrained")
    axes = figure.subplots()
    found, memory = shares(results), list(results["memory"].unique())
    for stream, (colour, marker) in zip(STREAMS, STYLES, strict=False):
        for by, line in ((BY_VALUE, "-"), (BY_ROW, ":")):
            if by in set(results["by"]):
                axes.plot(
                    memory,
                    [found[(stream, by, rows)] for rows in memory],
                    color=colour,
                    marker=marker,
                    linestyle=line,
                    label=f"{stream}, {by}",
                )
    axes.axhline(0.98, color=QUIET, linewidth=0.9, linestyle="--")
    axes.set_xscale("log")
    axes.set_xticks(memory, [str(rows) for rows in memory])
    axes.minorticks_off()
    axes.yaxis.set_major_formatter(PERCENT)
    axes.set_xlabel("rows of memory")
    axes.set_ylabel("total importance / successive")
    axes.set_title("Priorities computed as fits", loc="left")
    figure.legend(loc="outside right upper")
    return figure


STUDY = Study(
    name="ijoin-recompute",
    title="Priorities computed as fits, and at every decision",
    paper=PAPER,
    place="beyond the paper",
    grid={
        "by": (BY_VALUE, BY_ROW),
        "stream": tuple(STREAMS),
        "memory": MEMORY,
        "recompute": (AS_FITS, SUCCESSIVE),
    },
    quick_grid={"by": (BY_VALUE,), "memory": MEMORY[:3]},
    measure=measure,
    seeds=(1, 2, 3),
    claims=(
        Claim(
            "within-2-percent",
            "Computed when a twelfth of the rows has been replaced, importance is within 2 % of "
            "computing at every decision, or more",
            _within,
        ),
    ),
    figures=(Figure(draw),),
)
