"""The what-if figure: recall against memory, few lines in colour, the headline's point marked."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from headgate.models.model_plots import new_axes
from headgate.report.recall_lines import draw_lines, legend_in_order
from headgate.sizing.optimum import LABEL
from headgate.sizing.strongest import percent, size_text, strongest
from headgate.sizing.what_if import TARGETS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from headgate.sizing.what_if import WhatIf

OPTIMUM = f"{LABEL} (knows the future)"


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
        figure = Figure(figsize=(8.6, 4.6), layout="constrained")
        draw_on(found, figure.add_subplot())
    return figure


def draw_on(found: "WhatIf", axes: "Axes | None" = None) -> "Axes":
    """Recall against memory in rows, and what the exact join holds."""
    from headgate.report.plot_style import PERCENT, QUIET

    axes = new_axes(axes)

    def path(policy: str) -> tuple[Sequence[int], Sequence[float]]:
        curve = found.curve(policy)
        return [point.rows for point in curve], [point.recall for point in curve]

    def interval(policy: str, colour: str) -> None:
        curve, (rows, _) = found.curve(policy), path(policy)
        low, high = [point.low for point in curve], [point.high for point in curve]
        axes.fill_between(rows, low, high, color=colour, alpha=0.15, linewidth=0)

    draw_lines(axes, found.recalls, path, None if found.is_exact else interval)
    if found.optimum:
        recalls = [point.recall for point in found.optimum]
        rows = [point.rows for point in found.optimum]
        axes.plot(rows, recalls, color="#000000", linestyle="--", linewidth=1.3, label=OPTIMUM)
        low = [point.low for point in found.optimum]
        axes.fill_between(rows, low, recalls, color="#000000", alpha=0.08, linewidth=0)
    axes.axvline(found.needs.rows, color=QUIET, linestyle=":", linewidth=1.1)
    _note(axes, "exact join holds", (found.needs.rows, 0.02), (-4, 0))
    _mark_claim(found, axes)
    axes.set_xscale("log")
    axes.set_ylim(0, 1.03)
    axes.yaxis.set_major_formatter(PERCENT)
    what = "importance made" if found.importance else "recall"
    axes.set(xlabel="memory, rows", ylabel=what)
    axes.xaxis.set_major_formatter(lambda rows, _: f"{rows:,.0f}")
    legend_in_order(axes, (OPTIMUM,), loc="upper left", bbox_to_anchor=(1.01, 1.0), fontsize=8.5)
    return axes


def _mark_claim(found: "WhatIf", axes: "Axes") -> None:
    """Mark the point that the headline speaks of, with lines to both axes."""
    claim = strongest(found, TARGETS)
    if claim is None:
        return
    from headgate.report.plot_style import QUIET

    line: Any = {"color": QUIET, "linewidth": 0.9, "linestyle": (0, (2, 2)), "zorder": 12}
    least = min(found.memory)
    axes.plot([claim.rows, claim.rows, least], [0, claim.recall, claim.recall], **line)
    axes.plot(claim.rows, claim.recall, "o", color="none", markeredgecolor=QUIET, markersize=11)
    told = f"{percent(claim.recall)} in {size_text(claim.bytes)} with {claim.policy}"
    _note(axes, told, (least, claim.recall), (0, 4), "left")


def _note(
    axes: "Axes", text: str, at: tuple[float, float], off: tuple[int, int], side: str = "right"
) -> None:
    from headgate.report.plot_style import QUIET

    axes.annotate(
        text, at, xytext=off, textcoords="offset points", ha=side, fontsize=8.5, color=QUIET
    )
