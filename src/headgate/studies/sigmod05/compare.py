"""Shared by the studies of algorithms: measurement, tables for claims, lines for figures."""

from collections.abc import Mapping
from typing import Any

import pandas as pd
from matplotlib.axes import Axes

from headgate.policies import Policy
from headgate.report.plot_style import STYLES
from headgate.studies.sigmod05.algorithms import (
    FLOW_EXPECT,
    HEEB,
    HEEB_LITTLE,
    LIFE_P,
    OPT,
    PROB_P,
    RAND,
)
from headgate.studies.sigmod05.streams import Streams
from headgate.studies.study import ClaimFinding

CACHES = (1, 2, 3, 5, 10, 15, 20, 25, 30, 40, 50)
SATURATED = 0.99
"""An algorithm that makes this share of what OPT-offline makes has memory enough."""
HIST = "HIST"
ORDER = (OPT, HEEB, RAND, PROB_P, LIFE_P, FLOW_EXPECT, HEEB_LITTLE, HIST)
LABELS = {PROB_P: r"PROB$_p$", LIFE_P: r"LIFE$_p$", HEEB_LITTLE: "HEEB, lifetime by Little’s law"}
LINES: dict[str, dict[str, Any]] = {
    name: {"color": colour, "marker": marker, "markersize": 4.5, "linewidth": 1.5}
    for name, (colour, marker) in zip(
        ORDER, (STYLES[5], *STYLES[:5], STYLES[6], STYLES[9]), strict=True
    )
}
LINES[HEEB_LITTLE] |= {"linestyle": (0, (4, 2)), "markersize": 3.5, "linewidth": 1.1}


def results_row(streams: Streams, policy: Policy, rows: int) -> dict[str, Any]:
    """Results after the warm-up, which count, and of the whole run, which OPT-offline plans for."""
    outcome = streams.join(policy, rows)
    return {
        "results": streams.results(outcome),
        "with_warm_up": outcome.stats.pairs,
        "exact": outcome.exact_pairs,
    }


def table(results: pd.DataFrame, index: str = "cache", **fixed: object) -> pd.DataFrame:
    """Results with a column an algorithm, the mean over seeds.

    Examples
    --------
    >>> rows = pd.DataFrame({"algorithm": ["A", "A"], "cache": [1, 1], "results": [2, 4]})
    >>> table(rows)["A"].to_dict()
    {1: 3.0}
    """
    for column, value in fixed.items():
        results = results[results[column] == value]
    return results.pivot_table(index=index, columns="algorithm", values="results", aggfunc="mean")


def least_ratio(ratios: Mapping[str, "pd.Series[float]"], above: float) -> ClaimFinding:
    """Whether ratios are above a bound in each of several tables; says where the least one is."""
    known = {name: each.dropna() for name, each in ratios.items() if each.notna().any()}
    if not known:
        return ClaimFinding(False, "nothing to compare")
    where, cache, least = min(
        ((name, each.idxmin(), float(each.min())) for name, each in known.items()),
        key=lambda found: found[2],
    )
    return ClaimFinding(least > above, f"least {least:.3f}, {where} with cache {cache}")


def never_beaten(results: pd.DataFrame, axes: tuple[str, ...]) -> ClaimFinding:
    """Whether no algorithm has made more than OPT-offline in any run, warm-up included."""
    runs = results.pivot_table(index=[*axes, "seed"], columns="algorithm", values="with_warm_up")
    share = runs.drop(columns=OPT).max(axis=1) / runs[OPT].where(runs[OPT] > 0)
    most = float(share.max())
    return ClaimFinding(most <= 1, f"at most {most:.4f} of it, over {len(runs):,} runs")


def draw_lines(axes: Axes, means: pd.DataFrame) -> None:
    """A line an algorithm, over cache sizes."""
    for name, style in LINES.items():
        if name in means:
            axes.plot(means.index, means[name], label=LABELS.get(name, name), **style)
    axes.set_xlim(0, means.index.max() * 1.02)
    axes.set_ylim(bottom=0)
    axes.set_xlabel("cache size (rows)")
