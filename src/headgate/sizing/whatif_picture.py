"""The what-if figure: recall against memory, one line per policy."""

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from headgate.models.model_plots import new_axes
from headgate.sizing.optimum import LABEL
from headgate.spec.quantity import format_bytes

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from headgate.sizing.findings import Point, WhatIf

NAMED = 7
"""Policies drawn in colours of their own, the best ones; the others are grey."""
GREY = "#b8b8b8"


def save_picture(found: "WhatIf", folder: Path, name: str = "whatif") -> tuple[Path, Path]:
    """Draw the picture and save it as PNG and SVG; returns the two paths."""
    from headgate.report.plot_style import save

    return save(lambda: draw(found), folder, name)


def draw(found: "WhatIf") -> "Figure":
    """The figure."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    from headgate.report.plot_style import LOOK

    with rc_context(LOOK):
        figure = Figure(figsize=(7.2, 4.6), layout="constrained")
        draw_on(found, figure.add_subplot())
    return figure


def draw_on(found: "WhatIf", axes: "Axes | None" = None) -> "Axes":
    """Recall against memory in rows, with the bytes on top."""
    from headgate.report.plot_style import PERCENT, QUIET, STYLES

    axes = new_axes(axes)
    for place, policy in reversed(list(enumerate(found.policies))):
        curve = found.curve(policy)
        if place >= NAMED:
            label = f"{len(found.policies) - NAMED} others" if place == NAMED else None
            axes.plot(*_line(curve), color=GREY, linewidth=0.9, label=label, zorder=1)
            continue
        colour, marker = STYLES[place]
        axes.plot(
            *_line(curve),
            color=colour,
            marker=marker,
            markersize=4,
            linewidth=1.7,
            label=policy,
            zorder=10 - place,
        )
        if not found.is_exact:
            rows = [point.rows for point in curve]
            low, high = [point.low for point in curve], [point.high for point in curve]
            axes.fill_between(rows, low, high, color=colour, alpha=0.15, linewidth=0)
    if found.optimum:
        line = _line(found.optimum)
        axes.plot(
            *line, color="#000000", linestyle="--", linewidth=1.3, label=f"{LABEL}, knows all"
        )
    axes.axvline(found.needs.rows, color=QUIET, linestyle=":", linewidth=1.1)
    axes.annotate(
        "exact join holds",
        (found.needs.rows, 0.02),
        xycoords=("data", "axes fraction"),
        xytext=(-4, 0),
        textcoords="offset points",
        ha="right",
        fontsize=8.5,
        color=QUIET,
    )
    axes.set_xscale("log")
    axes.set_ylim(0, 1.02)
    axes.yaxis.set_major_formatter(PERCENT)
    what = "importance made" if found.importance else "recall"
    axes.set(xlabel="memory, rows", ylabel=what)
    axes.xaxis.set_major_formatter(lambda rows, _: f"{rows:,.0f}")
    each = max(found.needs.row_bytes, 1.0)
    top = axes.secondary_xaxis(
        "top",
        functions=(lambda rows: np.multiply(rows, each), lambda size: np.divide(size, each)),
    )
    top.xaxis.set_major_formatter(lambda size, _: format_bytes(size))
    top.tick_params(labelsize=8, colors=QUIET)
    handles, labels = axes.get_legend_handles_labels()
    order = sorted(range(len(labels)), key=lambda place: _rank(found, labels[place]))
    axes.legend([handles[i] for i in order], [labels[i] for i in order], loc="best", fontsize=8.5)
    return axes


def _line(curve: "tuple[Point, ...]") -> tuple[list[int], list[float]]:
    return [point.rows for point in curve], [point.recall for point in curve]


def _rank(found: "WhatIf", label: str) -> int:
    if label in found.policies:
        return found.policies.index(label) + 1
    return 0 if label.startswith(LABEL) else len(found.policies) + 1
