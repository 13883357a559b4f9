"""The demo's figure: when bids arrive, and recall against memory for every policy."""

from collections.abc import Sequence
from itertools import cycle
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.ticker import FixedLocator, NullLocator

from headgate.demo.auctions import MINUTE_US, OPEN_US, WINDOW_US, AuctionStream, bid_ages_us
from headgate.demo.comparison import Result
from headgate.report.plot_style import PERCENT, PERCENT_OF_100, QUIET, STYLES, save

MODEL_NOTE = "* learns its model as it runs\n  told: given the true curve"


def save_picture(
    stream: AuctionStream, results: Sequence[Result], folder: Path, name: str = "recall"
) -> tuple[Path, Path]:
    """Draw the picture and save it as PNG and SVG; returns the two paths."""
    return save(lambda: draw(stream, results), folder, name)


def draw(stream: AuctionStream, results: Sequence[Result]) -> Figure:
    """The figure, two panels side by side."""
    figure = Figure(figsize=(9.6, 4.2), layout=ConstrainedLayoutEngine(w_pad=0.1))
    ages, recall = figure.subplots(1, 2, width_ratios=(1, 1.75))
    _draw_ages(ages, stream)
    _draw_recall(recall, results)
    return figure


def _draw_ages(axes: Axes, stream: AuctionStream) -> None:
    minutes = WINDOW_US // MINUTE_US
    ages = bid_ages_us(stream) / MINUTE_US
    counts, edges = np.histogram(ages, bins=minutes, range=(0, minutes))
    axes.bar(edges[:-1], counts / counts.sum(), width=1.0, align="edge", color="#9db4c0", ec="w")
    axes.set_title("Most bids come near the close", loc="left")
    axes.text(
        0.04,
        0.96,
        f"auctions close after {OPEN_US // MINUTE_US} minutes,\nthe window is {minutes}",
        transform=axes.transAxes,
        va="top",
        color=QUIET,
        bbox={"facecolor": "w", "edgecolor": "none", "pad": 1.5},
    )
    axes.set_xlabel("age of the auction at the bid (minutes)")
    axes.set_ylabel("share of bids")
    axes.set_xlim(0, minutes)
    axes.xaxis.set_major_locator(FixedLocator(list(range(0, minutes + 1, 2))))
    axes.yaxis.set_major_formatter(PERCENT)
    axes.grid(visible=False, axis="x")


def _draw_recall(axes: Axes, results: Sequence[Result]) -> None:
    axes.axhline(1.0, color="#555555", linewidth=1.2, linestyle=(0, (4, 3)), zorder=1)
    axes.plot([100], [1.0], "*", color="#555555", markersize=12, clip_on=False, label="exact join")
    by_policy: dict[str, list[Result]] = {}
    for result in sorted(results, key=lambda result: result.percent):
        by_policy.setdefault(result.label, []).append(result)
    best_last = sorted(by_policy, key=lambda label: -by_policy[label][-1].recall)
    styles = dict(zip(by_policy, cycle(STYLES), strict=False))
    for label in best_last:
        colour, marker = styles[label]
        axes.plot(
            [result.percent for result in by_policy[label]],
            [result.recall for result in by_policy[label]],
            color=colour,
            marker=marker,
            markersize=5.5,
            linewidth=1.6,
            label=label,
        )
    percents = sorted({result.percent for result in results})
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
    axes.legend(loc="center left", bbox_to_anchor=(1.02, 0.55))
    axes.text(1.05, 0.1, MODEL_NOTE, transform=axes.transAxes, fontsize=8, color=QUIET)
