"""Measured output of joins with limited CPU time or memory, under an allocation.

Windows are row-count windows, as in the paper. Rows that may not probe are chosen at random, and
where memory holds fewer rows than the window, a random part is kept.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Drawing
from matplotlib.ticker import StrMethodFormatter

from headgate.kernel.rows import Rows
from headgate.kernel.step import Step
from headgate.kernel.step_input import StepInput
from headgate.kernel.terms import Terms
from headgate.models.cost import Demand, JoinAllocation
from headgate.policies import Random
from headgate.report.plot_style import QUIET, STYLES
from headgate.spec import RowWindow
from headgate.spec.quantity import SECOND_US
from headgate.studies.study import ClaimFinding, Row

PAPER = "Kang, Naughton, Viglas: Evaluating Window Joins over Unbounded Streams, ICDE 2003"
BINS = 40
"""Times at which output is sampled."""


@dataclass(frozen=True)
class Case:
    """Two streams and a join that exceeds its resources.

    Parameters
    ----------
    demand
        Rates, windows and selectivity.
    keys
        Different keys in A and in B, those of the smaller among those of the larger: two rows
        match with a chance of one over the larger number.
    lasts_s
        Seconds of stream that are measured.
    fills_s
        Seconds before, in which windows fill.
    """

    demand: Demand
    keys: tuple[int, int]
    lasts_s: float
    fills_s: float


def streams_of(case: Case, seed: int) -> tuple[Rows, Rows]:
    """Poisson arrivals at the case's rates, with uniform keys."""
    draw = np.random.default_rng(seed)
    sides = []
    for rate, keys in zip(case.demand.rates, case.keys, strict=True):
        count = draw.poisson(rate * (case.fills_s + case.lasts_s))
        until = round((case.fills_s + case.lasts_s) * SECOND_US)
        time = np.sort(draw.integers(0, until, count))
        code = draw.integers(0, keys, count).astype(np.int32)
        sides.append(Rows.of_arrivals(time, code, np.zeros(count, np.int64), np.zeros(count)))
    return sides[0], sides[1]


def measure_allocation(case: Case, given: JoinAllocation, seed: int) -> list[Row]:
    """Run the join under an allocation: pairs made by each moment, and pairs expected."""
    sides = streams_of(case, seed)
    arriving = [
        side._replace(
            effort=np.stack([np.full(len(side.time), probing), np.full(len(side.time), 1.0)])
        )
        for side, probing in zip(sides, shares_probing(case.demand, given), strict=True)
    ]
    asked = case.demand.windows
    terms = Terms(
        (RowWindow(round(asked[0])), RowWindow(round(asked[1]))),
        Random(seed),
        most_rows=(round(given.windows[0]), round(given.windows[1])),
        pooled=False,
        seed=seed,
    )
    step = Step(
        StepInput(terms, (Rows.empty(), Rows.empty()), (arriving[0], arriving[1]), max(case.keys))
    )
    # The later row of a pair made it.
    made = [
        np.maximum(sides[0].time[block.left], sides[1].time[block.right]) for block in step.pairs()
    ]
    moments = np.linspace(0.0, case.lasts_s, BINS + 1)[1:]
    at = np.sort(np.concatenate([np.empty(0), *made])) / SECOND_US - case.fills_s
    by_then = np.searchsorted(at, moments, "right") - np.searchsorted(at, 0.0)
    return [
        {"second": moment, "pairs": int(count), "estimated": given.output * moment}
        for moment, count in zip(moments.tolist(), by_then, strict=True)
    ]


def shares_probing(demand: Demand, given: JoinAllocation) -> tuple[float, float]:
    """The share of each side's rows that probe under an allocation."""
    a, b = (
        served / rate if rate else 1.0
        for served, rate in zip(given.rates, demand.rates, strict=True)
    )
    return a, b


def at_the_end(results: pd.DataFrame) -> pd.DataFrame:
    """By strategy: total pairs, measured and estimated, averaged over seeds."""
    last = results[results["second"] == results["second"].max()]
    ends: pd.DataFrame = last.groupby("strategy", sort=False)[["pairs", "estimated"]].mean()
    return ends


def near_the_estimate(results: pd.DataFrame, within: float) -> ClaimFinding:
    """Whether every strategy's output matches its estimate."""
    ends = at_the_end(results)
    some = ends[ends["estimated"] > 0]
    ratio = some["pairs"] / some["estimated"]
    worst = str((ratio - 1).abs().idxmax())
    nothing = ends[ends["estimated"] == 0]["pairs"]
    return ClaimFinding(
        bool(abs(ratio[worst] - 1) <= within and not nothing.any()),
        f"farthest {ratio[worst]:.3f} of it, under {worst}"
        + (f"; none expected and {nothing.max():.0f} made" if len(nothing) else ""),
    )


def in_order(results: pd.DataFrame, order: Sequence[str]) -> ClaimFinding:
    """Whether measured output falls in this order of strategies, at every moment and seed."""
    table = results.pivot_table(index=["seed", "second"], columns="strategy", values="pairs")
    later = table[table.index.get_level_values("second") >= results["second"].max() / 4]
    ahead = all((later[one] > later[other]).all() for one, other in pairwise(order))
    ends = at_the_end(results)["pairs"]
    return ClaimFinding(bool(ahead), ", ".join(f"{name} {ends[name]:,.0f}" for name in order))


def draw_output(results: pd.DataFrame, title: str) -> Drawing:
    """Output over time, one line per strategy; estimates are thin and dashed."""
    figure = Drawing(figsize=(7.2, 4.2), layout="constrained")
    axes = figure.subplots()
    mean = results.groupby(["strategy", "second"], sort=False)[["pairs", "estimated"]].mean()
    strategies = results["strategy"].unique()
    # The best first, as the lines come from the top.
    ranked = sorted(strategies, key=lambda name: -float(mean.loc[name, "estimated"].iloc[-1]))
    for place, name in enumerate(ranked):
        colour, marker = STYLES[list(strategies).index(name) % len(STYLES)]
        own = mean.loc[name]
        axes.plot(own.index, own["estimated"], color=colour, linewidth=1.0, linestyle=(0, (4, 2)))
        axes.plot(
            own.index,
            own["pairs"],
            color=colour,
            marker=marker,
            markersize=4.5 + 3 * (place % 2),
            markerfacecolor="none" if place % 2 else colour,
            markevery=4,
            linewidth=1.4,
            label=name,
        )
    _finish(axes, title)
    return figure


def _finish(axes: Axes, title: str) -> None:
    axes.set_title(title, loc="left")
    axes.set_xlabel("seconds of stream")
    axes.set_ylabel("output rows")
    axes.set_xlim(left=0)
    axes.set_ylim(bottom=0)
    axes.yaxis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))
    axes.xaxis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))
    axes.legend(loc="upper left")
    axes.text(0.99, 0.02, "dashed: estimated", transform=axes.transAxes, ha="right", color=QUIET)
