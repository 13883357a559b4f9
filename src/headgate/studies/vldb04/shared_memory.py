"""Several joins in one memory: the shares given by ALLOC and PROP, and the recall reached.

Every join has streams of its own, all with the rates and the window of the paper's experiments.
Recall is measured by running each join within its allocated rows, and also computed by the closed
form that the allocation used.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Drawing

from headgate.models import AgeCurve, AgeCurves, Frequencies
from headgate.planner.budget_allocation import alloc, in_whole, prop
from headgate.planner.quality_curve import QualityCurve
from headgate.policies import Age, Policy, Prob
from headgate.report.plot_style import PERCENT, PERCENT_OF_100, QUIET, STYLES
from headgate.spec.quantity import SECOND_US
from headgate.studies.study import ClaimFinding, Row
from headgate.studies.trial import ProbeTrial
from headgate.studies.vldb04.age_streams import (
    BUCKETS,
    FULL_WINDOW_ROWS,
    R2,
    REAL_RATE,
    W1_S,
    age_streams,
    matches_of,
)
from headgate.studies.vldb04.frequency_streams import (
    DIRECT,
    INVERSE,
    frequencies_of,
    frequency_streams,
)
from headgate.studies.vldb04.strategies import age_curve

ALLOC, PROP = "ALLOC", "PROP"
SCHEMES = {ALLOC: alloc, PROP: prop}
INC, DEC = "INC", "DEC"
HARD = {DIRECT: True, INVERSE: False, INC: True, DEC: False}
"""Which streams the paper calls hard, at the skews and exponents it draws."""
RESULTS, QUICK_RESULTS = 2.5e6, 4e5
"""Of a keyed join's streams. Where values that match often are rare on the stored side, streams
must be long for them to come at all; where they are common, results are many."""
SHORTEST_S, LONGEST_S = 4_000.0, 600_000.0
AGED_S, QUICK_AGED_S = 40_000.0, 12_000.0
SOME_ROWS = 10
"""From so many rows on, averages tell what a memory holds."""
K = np.arange(1, BUCKETS + 1)


@dataclass(frozen=True)
class Contender:
    """A join that shares its memory with others.

    Parameters
    ----------
    kind
        DC or IC (frequency model, PROB), INC or DEC (age model, AGE).
    exponent
        The Zipf exponent Z, or the exponent p of the age curve.
    number
        Tells joins of one kind apart: each has streams of its own.
    """

    kind: str
    exponent: float
    number: int = 1

    @property
    def name(self) -> str:
        """What it is called in results."""
        return f"{self.kind} {self.number}"

    @property
    def model(self) -> Frequencies | AgeCurve:
        """How its streams behave."""
        if self.kind in (DIRECT, INVERSE):
            return frequencies_of(self.kind, self.exponent, seed=0)
        shape = K if self.kind == INC else BUCKETS - K
        matches = matches_of(shape.astype(np.float64) ** self.exponent)
        return age_curve(W1_S / BUCKETS, matches.tolist())

    @property
    def policy(self) -> Policy:
        """The policy it evicts by."""
        model = self.model
        if isinstance(model, Frequencies):
            return Prob(model)
        return Age(AgeCurves(model, AgeCurve(1, [0])))  # type: ignore[arg-type]

    @property
    def curve(self) -> QualityCurve:
        """Recall against stored rows, by the formula of sections 3.2.2 and 3.3."""
        model = self.model
        if isinstance(model, Frequencies):
            return QualityCurve.of_output(model.output(0, (REAL_RATE, 0.8 * R2), W1_S))
        return QualityCurve.of_output(model.output(REAL_RATE / SECOND_US))

    def trial(self, seed: int, quick: bool) -> ProbeTrial:
        """Its streams."""
        return _trial(self, seed, quick)


@lru_cache(maxsize=3)
def _trial(join: Contender, seed: int, quick: bool) -> ProbeTrial:
    own_seed = 100 * seed + join.number
    model = join.model
    if isinstance(model, Frequencies):
        results_s = model.output(0, (REAL_RATE, 0.8 * R2), W1_S).most
        lasts_s = (QUICK_RESULTS if quick else RESULTS) / results_s
        return frequency_streams(model, float(np.clip(lasts_s, SHORTEST_S, LONGEST_S)), own_seed)
    return age_streams(model.matches, QUICK_AGED_S if quick else AGED_S, own_seed)


def shared(
    joins: Sequence[Contender], percent: float, scheme: str, seed: int, quick: bool
) -> list[Row]:
    """A row a join: what it got of so many percent of all windows, and its recall."""
    total = round(percent / 100 * FULL_WINDOW_ROWS * len(joins))
    curves = {join.name: join.curve for join in joins}
    given = in_whole(curves, SCHEMES[scheme](curves, total), total)
    rows: list[Row] = []
    for join in joins:
        stored = int(given.memory[join.name])
        trial = join.trial(seed, quick)
        rows.append(
            {
                "join": join.name,
                "hard": HARD[join.kind],
                "rows": stored,
                "given": 100 * stored / (FULL_WINDOW_ROWS * len(joins)),
                "recall": trial.recall(join.policy, stored) if stored else 0.0,
                "expected": join.curve.at(stored),
            }
        )
    return rows


def least_recall(results: pd.DataFrame, axis: str, column: str = "recall") -> pd.DataFrame:
    """The minimum over joins, with a column a scheme; the mean over seeds."""
    least = results.groupby([axis, "scheme", "seed"], sort=False)[column].min()
    table: pd.DataFrame = least.groupby([axis, "scheme"], sort=False).mean().unstack("scheme")
    return table.loc[results[axis].unique()]


def memory_given(results: pd.DataFrame, axis: str, scheme: str) -> pd.DataFrame:
    """Percent of all memory needed that each join got, with a column a join."""
    mine = results[results["scheme"] == scheme]
    return mine.pivot_table(index=axis, columns="join", values="given", sort=False)


def follows_closed_form(results: pd.DataFrame, within: float, few: bool = False) -> ClaimFinding:
    """Whether measured recall is what the formula says, on average over seeds.

    Of joins with `SOME_ROWS` or more; or, where asked for, of those with ``few``.
    """
    axes = [name for name in results.columns if name in ("z", "p", "joins", "scheme", "join")]
    mean = results.groupby(axes)[["recall", "expected", "rows"]].mean()
    mean = mean[(mean["rows"] < SOME_ROWS) == few]
    if mean.empty:
        return ClaimFinding(True, "no such join")
    gap = (mean["recall"] - mean["expected"]).abs()
    place: Any = gap.idxmax()
    return ClaimFinding(
        bool(gap.max() <= within),
        f"largest difference {gap.max():.4f}, with {', '.join(map(str, place))}; "
        f"mean {gap.mean():.4f} over {len(gap)}",
    )


def never_behind(results: pd.DataFrame, axis: str, slack: float) -> ClaimFinding:
    """Whether ALLOC's minimum recall is at least PROP's everywhere."""
    table = least_recall(results, axis)
    lead = table[ALLOC] - table[PROP]
    return ClaimFinding(
        bool(lead.min() >= -slack),
        f"leads by {lead.min():+.3f} at {lead.idxmin()} to {lead.max():+.3f} at {lead.idxmax()}",
    )


def comes_out_alike(results: pd.DataFrame, axis: str, within: float) -> ClaimFinding:
    """Whether ALLOC gives all joins the same recall (Theorem 5.1)."""
    mine = results[results["scheme"] == ALLOC]
    table = mine.pivot_table(index=axis, columns="join", values="recall", sort=False)
    spread = table.max(axis=1) - table.min(axis=1)
    return ClaimFinding(
        bool(spread.max() <= within), f"largest spread {spread.max():.4f}, at {spread.idxmax()}"
    )


def draw_sharing(
    results: pd.DataFrame, axis: str, label: str, colours: dict[str, str], percent: float
) -> Drawing:
    """Minimum recall against a parameter; dashed, on a second axis, each join's memory."""
    figure = Drawing(figsize=(6.6, 4.3), layout="constrained")
    axes = figure.subplots()
    measured, told = least_recall(results, axis), least_recall(results, axis, "expected")
    for scheme, (colour, marker) in zip((ALLOC, PROP), STYLES, strict=False):
        axes.plot(
            measured.index,
            measured[scheme],
            color=colour,
            marker=marker,
            markersize=6,
            linewidth=2,
            label=f"{scheme}, minimum recall",
            zorder=4,
        )
        axes.plot(told.index, told[scheme], color="black", linewidth=0.9, linestyle=":", zorder=5)
    axes.plot([], [], color="black", linewidth=0.9, linestyle=":", label="closed form")
    axes.set_ylim(0, 1)
    axes.set_xlabel(label)
    axes.set_ylabel("minimum recall")
    axes.yaxis.set_major_formatter(PERCENT)
    beside = _beside(axes)
    given = memory_given(results, axis, ALLOC)
    for join, colour in colours.items():
        beside.plot(
            given.index,
            given[join],
            color=colour,
            linestyle=(0, (5, 2.5)),
            linewidth=1.5,
            label=f"memory ALLOC gives {join.split()[0]}",
        )
    beside.axhline(percent / 2, color=QUIET, linewidth=0.8, linestyle=(0, (1, 3)))
    beside.text(
        float(given.index[-1]),
        percent / 2,
        "PROP gives each",
        color=QUIET,
        ha="right",
        va="bottom",
        fontsize=8,
    )
    beside.set_ylim(0, percent * 1.25)
    handles = [*axes.get_legend_handles_labels()[0], *beside.get_legend_handles_labels()[0]]
    axes.legend(handles=handles, loc="upper center", ncols=2, bbox_to_anchor=(0.5, 1.2))
    return figure


def _beside(axes: Axes) -> Axes:
    """A second axis to the right, for memory."""
    beside = axes.twinx()
    beside.spines["right"].set_visible(True)
    beside.grid(visible=False)
    beside.set_ylabel("allocated memory (% of all windows)")
    beside.yaxis.set_major_formatter(PERCENT_OF_100)
    return beside
