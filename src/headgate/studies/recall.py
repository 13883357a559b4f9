"""Recall against memory: tables for checking claims, and shared figure axes."""

from collections.abc import Mapping

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import MultipleLocator

from headgate.report.plot_style import PERCENT, PERCENT_OF_100, QUIET, STYLES
from headgate.studies.study import ClaimFinding

Style = Mapping[str, object]


def covered(results: pd.DataFrame) -> "pd.Series[bool]":
    """Whether each run's interval covers its recall.

    Examples
    --------
    >>> covered(pd.DataFrame({"low": [0.1, 0.1], "recall": [0.2, 0.5], "high": [0.3, 0.3]})).mean()
    np.float64(0.5)
    """
    return (results["low"] <= results["recall"]) & (results["recall"] <= results["high"])


def by_policy(results: pd.DataFrame, **fixed: object) -> pd.DataFrame:
    """Mean recall over seeds: one row per memory size, one column per policy.

    Examples
    --------
    >>> results = pd.DataFrame({
    ...     "policy": ["AGE"] * 2, "memory": [10] * 2, "seed": [1, 2], "recall": [0.2, 0.4]})
    >>> by_policy(results)["AGE"].round(6).to_dict()
    {10: 0.3}
    """
    for column, value in fixed.items():
        results = results[results[column] == value]
    return results.pivot_table(index="memory", columns="policy", values="recall", aggfunc="mean")


def worst_gap(gaps: Mapping[str, "pd.Series[float]"], tolerance: float) -> ClaimFinding:
    """Whether differences stay within a tolerance in each of several tables."""
    where, memory, gap = max(
        ((name, each.abs().idxmax(), float(each.abs().max())) for name, each in gaps.items()),
        key=lambda found: found[2],
    )
    place = " with ".join(filter(None, (where, f"{memory:g} %")))
    return ClaimFinding(gap <= tolerance, f"largest difference {gap:.4f}, at {place}")


def least_lead(leads: Mapping[str, "pd.Series[float]"], by: float) -> ClaimFinding:
    """Whether one policy is ahead of another by enough in each of several tables."""
    where, memory, lead = min(
        ((name, each.idxmin(), float(each.min())) for name, each in leads.items()),
        key=lambda found: found[2],
    )
    place = " with ".join(filter(None, (where, f"{memory:g} %")))
    return ClaimFinding(lead > by, f"least lead {lead:.4f}, at {place}")


def line_styles(policies: tuple[str, ...], theory: str) -> dict[str, Style]:
    """A colour and marker a policy; the theory is a thin dashed line over the measured ones.

    The first policy has rings for markers and lies on top, so that lines that coincide with it
    are seen inside.
    """
    styles: dict[str, Style] = {
        policy: {"color": colour, "marker": marker, "markersize": 4.5, "linewidth": 1.6}
        for policy, (colour, marker) in zip(policies, STYLES, strict=False)
    }
    ring = {"markersize": 8, "markerfacecolor": "none", "markeredgewidth": 1.4, "zorder": 4}
    styles[policies[0]] = {**styles[policies[0]], **ring}
    return {
        **styles,
        theory: {"color": "#000000", "linewidth": 1.1, "linestyle": (0, (4, 2)), "zorder": 5},
    }


def draw_recall(axes: Axes, table: pd.DataFrame, styles: Mapping[str, Style]) -> None:
    """A line a policy, memory and recall from nothing to everything."""
    for policy, style in styles.items():
        if policy in table:
            axes.plot(table.index, table[policy], label=policy, **style)  # type: ignore[arg-type]
    axes.set_xlim(0, 102)
    axes.set_ylim(0, 1.03)
    axes.xaxis.set_major_locator(MultipleLocator(20))
    axes.yaxis.set_major_locator(MultipleLocator(0.2))
    axes.xaxis.set_major_formatter(PERCENT_OF_100)
    axes.yaxis.set_major_formatter(PERCENT)


def mark_best(axes: Axes, percent: float) -> None:
    """Mark the memory that keeps every row to the best age."""
    axes.axvline(percent, color=QUIET, linewidth=0.9, linestyle=":", zorder=1)
    axes.text(percent + 1.2, 0.03, rf"$r_1 k_1^{{opt}}$ ({percent:.0f} %)", color=QUIET)
