"""The demo's figure: how popular products are, and recall against memory for every policy."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.ticker import FixedLocator, NullLocator

from headgate.demo.comparison import Result
from headgate.demo.shop import ShopStream
from headgate.report.plot_style import PERCENT, PERCENT_OF_100, QUIET, save
from headgate.report.recall_lines import draw_lines, legend_in_order

MODEL_NOTE = "* learns its model as it runs"
RANKS = (0.1, 1, 10, 100)
"""Percentages of the products, by popularity, whose clicks are counted together."""


def save_picture(
    stream: ShopStream, results: Sequence[Result], folder: Path, name: str = "recall"
) -> tuple[Path, Path]:
    """Draw the picture and save it as PNG and SVG; returns the two paths."""
    return save(lambda: draw(stream, results), folder, name)


def draw(stream: ShopStream, results: Sequence[Result]) -> Figure:
    """The figure, two panels side by side."""
    figure = Figure(figsize=(10, 4.2), layout=ConstrainedLayoutEngine(w_pad=0.1))
    popularity, recall = figure.subplots(1, 2, width_ratios=(1, 1.6))
    _draw_popularity(popularity, stream)
    _draw_recall(recall, results)
    return figure


def _draw_popularity(axes: Axes, stream: ShopStream) -> None:
    clicks = np.sort(np.bincount(stream.clicks["product"].to_numpy(), minlength=stream.rows))[::-1]
    so_far = np.concatenate([[0], np.cumsum(clicks)]) / clicks.sum()
    ends = [min(round(stream.rows * percent / 100), len(clicks)) for percent in RANKS]
    shares = np.diff([0.0, *(so_far[end] for end in ends)])
    names = ["best\n0.1 %", "up to\n1 %", "up to\n10 %", "the\nothers"]
    axes.bar(range(len(RANKS)), shares, width=0.8, color="#9db4c0")
    axes.set_title("A few products get most clicks", loc="left")
    axes.set_xticks(range(len(RANKS)), names)
    axes.set_xlabel("products by popularity")
    axes.set_ylabel("share of clicks")
    axes.yaxis.set_major_formatter(PERCENT)
    axes.grid(visible=False, axis="x")


def _draw_recall(axes: Axes, results: Sequence[Result]) -> None:
    axes.plot([100], [1.0], "*", color="#555555", markersize=12, clip_on=False, label="exact join")
    percents = sorted({result.percent for result in results})
    by_policy: dict[str, list[float]] = {}
    for result in sorted(results, key=lambda result: result.percent):
        by_policy.setdefault(result.label, []).append(result.recall)
    best_first = dict(sorted(by_policy.items(), key=lambda entry: -sum(entry[1])))
    draw_lines(axes, best_first, lambda policy: (percents, best_first[policy]))
    axes.set_title("What each policy makes of the memory", loc="left")
    axes.set_xscale("log")
    axes.xaxis.set_major_locator(FixedLocator([*percents, 100]))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(PERCENT_OF_100)
    axes.yaxis.set_major_formatter(PERCENT)
    axes.set_xlim(percents[0] * 0.9, 104)
    axes.set_ylim(0, 1.04)
    axes.set_xlabel("memory (% of the rows the exact join stores)")
    axes.set_ylabel("recall (% of the exact result rows)")
    legend_in_order(axes, ("exact join",), loc="center left", bbox_to_anchor=(1.02, 0.55))
    axes.text(1.05, 0.05, MODEL_NOTE, transform=axes.transAxes, fontsize=8, color=QUIET)
