"""Shared by the studies of schemes: tables and comparisons for claims, panels for figures."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Drawing

from headgate.report.plot_style import PERCENT, STYLES
from headgate.studies.ijoin.plans import RAND
from headgate.studies.ijoin.schemes import EXACT, FIFO, GREEDY, IJOIN, SHEDDING, SIZE
from headgate.studies.study import Claim, ClaimFinding

RUN = ["seed", "run"]
ORDER = (IJOIN, GREEDY, FIFO, RAND, SIZE, EXACT)
LINES: dict[str, dict[str, Any]] = {
    name: {"color": colour, "marker": marker, "markersize": 4.5, "linewidth": 1.5}
    for name, (colour, marker) in zip(ORDER, STYLES, strict=False)
}
LINES[GREEDY] |= {"markersize": 7, "markerfacecolor": "none", "zorder": 4}
PANELS = {"importance": "total importance", "pairs": "output size (rows)", "fairness": "fairness"}
"""What is drawn of every scheme, as the paper draws it."""


def chosen(results: pd.DataFrame, **fixed: object) -> pd.DataFrame:
    """The rows where columns have these values."""
    for column, value in fixed.items():
        results = results[results[column] == value]
    return results


def table(results: pd.DataFrame, index: str, value: str, **fixed: object) -> pd.DataFrame:
    """A column a scheme, the mean over runs.

    Examples
    --------
    >>> rows = pd.DataFrame({"scheme": ["A", "A"], "memory": [5, 5], "pairs": [2, 4]})
    >>> table(rows, "memory", "pairs")["A"].to_dict()
    {5: 3.0}
    """
    own = chosen(results, **fixed)
    return own.pivot_table(index=index, columns="scheme", values=value, aggfunc="mean")


class Lead(NamedTuple):
    """How much more one scheme makes than another on the same streams."""

    by: float
    """The mean difference, as a share of what the other makes."""
    error: float
    """Its standard error."""

    @property
    def is_sure(self) -> bool:
        """Whether it is above nothing by two standard errors."""
        return self.by > 2 * self.error

    def __str__(self) -> str:
        return f"{self.by:+.1%} ± {self.error:.1%}"


def lead(one: pd.DataFrame, other: pd.DataFrame, value: str = "importance") -> Lead:
    """One scheme's lead over another, run by run.

    Examples
    --------
    >>> runs = pd.DataFrame({"seed": [1, 1], "run": [0, 1], "importance": [11.0, 33.0]})
    >>> str(lead(runs, runs.assign(importance=[10.0, 30.0])))
    '+10.0% ± 5.0%'
    """
    ours, theirs = (runs.set_index(RUN)[value].sort_index() for runs in (one, other))
    difference = ours - theirs
    return Lead(
        float(difference.mean() / theirs.mean()),
        float(difference.std() / theirs.mean()) / len(difference) ** 0.5
        if len(difference) > 1
        else 0.0,
    )


def leads(
    results: pd.DataFrame,
    index: str,
    name: str,
    rivals: Sequence[str] = SHEDDING,
    value: str = "importance",
) -> dict[Any, tuple[str, Lead]]:
    """At every place of an axis, the best rival by its mean, and the lead over it."""
    found: dict[Any, tuple[str, Lead]] = {}
    for place, own in results.groupby(index):
        means = own.groupby("scheme")[value].mean().reindex(list(rivals))
        best = str(means.idxmax())
        ours, theirs = chosen(own, scheme=name), chosen(own, scheme=best)
        found[place] = best, lead(ours, theirs, value)
    return found


def is_first(
    results: pd.DataFrame,
    index: str,
    name: str = IJOIN,
    rivals: Sequence[str] = SHEDDING,
    value: str = "importance",
) -> ClaimFinding:
    """Whether a scheme is surely ahead of all rivals at every place of an axis."""
    found = leads(results, index, name, rivals, value)
    shown = "; ".join(f"{index} {place}: {by} over {best}" for place, (best, by) in found.items())
    return ClaimFinding(all(by.is_sure for _, by in found.values()), shown)


def listed(values: "pd.Series[float]", form: str = "{:.0%}") -> str:
    """Values with their places."""
    shown = (f"{form.format(value)} ({place})" for place, value in values.items())
    return ", ".join(shown)


def ranges_of(found: pd.DataFrame) -> str:
    """For each scheme, the least and the greatest."""
    return ", ".join(f"{name} {found[name].min():.0%}–{found[name].max():.0%}" for name in found)


def draw_panels(
    results: pd.DataFrame,
    index: str,
    cases: Sequence[str],
    label: str,
    title: str,
    styles: Mapping[str, Mapping[str, Any]] = LINES,
) -> Drawing:
    """A row of panels a case: importance, output size and fairness of every scheme."""
    figure = Drawing(figsize=(10.4, 3.3 * len(cases) + 0.4), layout="constrained")
    panels = figure.subplots(len(cases), len(PANELS), squeeze=False)
    for row, case in zip(panels, cases, strict=True):
        for axes, (value, name) in zip(row, PANELS.items(), strict=True):
            means = table(results, index, value, case=case)
            # With enough memory no row is evicted, and fairness is meaningless.
            draw_lines(axes, means.drop(columns=EXACT) if value == "fairness" else means, styles)
            axes.set_ylabel(name)
            axes.set_xlabel(label)
            if value == "fairness":
                axes.yaxis.set_major_formatter(PERCENT)
        row[0].set_title(f"{title}: {case}", loc="left")
    handles, labels = panels[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=len(labels))
    return figure


def draw_lines(axes: Axes, means: pd.DataFrame, styles: Mapping[str, Mapping[str, Any]]) -> None:
    """A line a scheme."""
    for name, style in styles.items():
        if name in means:
            axes.plot(means.index, means[name], label=name, **style)
    axes.set_xticks(np.asarray(means.index))
    axes.set_ylim(bottom=0)


def in_case(
    case: str, check: Callable[[pd.DataFrame], ClaimFinding]
) -> Callable[[pd.DataFrame], ClaimFinding]:
    """A check on the results of one case alone."""

    def of_case(results: pd.DataFrame) -> ClaimFinding:
        return check(chosen(results, case=case))

    return of_case


def ijoin_is_fair(case: str, axis: str) -> Claim:
    """The paper's claim of IJOIN's fairness, wherever it stands on the axis."""

    def judge(results: pd.DataFrame) -> ClaimFinding:
        found = table(results, axis, "fairness")[IJOIN]
        return ClaimFinding(bool(found.between(0.795, 0.875).all()), listed(found))

    what = "Hot topics: IJOIN is between 80 % and 85 % fair (within 2 points)"
    return Claim("ijoin-fair", what, in_case(case, judge))
