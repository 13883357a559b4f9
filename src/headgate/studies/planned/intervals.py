"""Whether a plan's recall interval covers the join's actual recall as often as stated."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from matplotlib.figure import Figure as Drawing

from headgate.api.profiler import profile
from headgate.report.plot_style import PERCENT, STYLES
from headgate.spec import Budget
from headgate.studies.planned.streams import KINDS, pieces
from headgate.studies.recall import covered
from headgate.studies.study import Claim, ClaimFinding, Figure, Row, Study, StudyCell

SECONDS, QUICK_SECONDS = 180.0, 60.0
ROOMS = (0.05, 0.2, 0.5)
"""Parts of what the exact join holds."""
LEAST = 0.90
RUNS = 100


def measure(cell: StudyCell) -> Sequence[Row]:
    """Profile a piece, plan, and join the next piece as planned."""
    found = pieces(cell["stream"], QUICK_SECONDS if cell.quick else SECONDS, cell.seed)
    asked = found.first.request("auto", Budget(rows=1), seed=cell.seed)
    seen = profile(*found.first.tables, on="key", left=asked.left, right=asked.right)
    rows = []
    for room in ROOMS:
        budget = Budget(rows=max(round(room * seen.stored_rows.rows), 1))
        join = found.first.request("auto", budget, seed=cell.seed)
        plan = join.plan(seen)
        expect = plan.expect
        rows.append(
            {
                "room": room,
                "policy": plan.policy.label,
                "recall": plan.join.run(*found.second.tables).recall,
                "expected": expect.recall,
                "low": expect.low,
                "high": expect.high,
                "rejected": max(plan.rejected.values()),
                "rows": seen.trace.rows if seen.trace is not None else 0,
            }
        )
    return rows


def _coverage(results: pd.DataFrame) -> ClaimFinding:
    share, runs = float(covered(results).mean()), len(results)
    missed = results[~covered(results)].groupby("stream").size().to_dict()
    where = ", ".join(f"{name} {count}" for name, count in missed.items())
    # In a quick run a few runs more or less are chance.
    slack = 0.0 if runs >= RUNS else 0.1
    return ClaimFinding(
        share >= LEAST - slack,
        f"{share:.1%} of {runs} runs" + (f"; missed on {where}" if where else ""),
    )


def _narrow(results: pd.DataFrame) -> ClaimFinding:
    half = (results["high"] - results["low"]) / 2
    mean, median = float(half.mean()), float(half.median())
    far = float((results["expected"] - results["recall"]).abs().mean())
    most = 0.05 if len(results) >= RUNS else 0.1
    return ClaimFinding(
        mean <= most, f"± {mean:.3f} on average, ± {median:.3f} in the middle; off by {far:.3f}"
    )


def draw(results: pd.DataFrame) -> Drawing:
    """Draw actual against expected recall, with the intervals."""
    figure = Drawing(figsize=(6.4, 5.4), layout="constrained")
    axes = figure.subplots()
    held = covered(results).to_numpy()
    for which, colour, name in ((held, STYLES[0][0], "covered"), (~held, STYLES[1][0], "missed")):
        part = results[which]
        axes.errorbar(
            part["recall"],
            part["expected"],
            yerr=np.stack([part["expected"] - part["low"], part["high"] - part["expected"]]),
            fmt="o",
            markersize=3,
            linewidth=0.8,
            color=colour,
            label=f"{name}: {len(part)}",
        )
    axes.plot([0, 1], [0, 1], color="black", linewidth=0.8)
    axes.set_xlabel("recall of the join as planned, on the next piece")
    axes.set_ylabel("expected, with its 95 % interval")
    axes.xaxis.set_major_formatter(PERCENT)
    axes.yaxis.set_major_formatter(PERCENT)
    axes.legend(loc="upper left")
    return figure


STUDY = Study(
    name="planned-intervals",
    title="The recall that plans promise against the recall of the next piece of the stream",
    paper="Headgate",
    place="plans",
    grid={"stream": tuple(KINDS)},
    quick_grid={"stream": ("Zipf, direct", "bell", "trends")},
    measure=measure,
    seeds=(1, 2, 3),
    claims=(
        Claim(
            "coverage",
            f"The stated interval covers the measured recall in at least {LEAST:.0%} of 100 runs",
            _coverage,
        ),
        Claim("narrow", "It is no wider than ± 0.05 on average", _narrow),
    ),
    figures=(Figure(draw),),
)
