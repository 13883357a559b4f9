"""The common style of Headgate's figures, and how to save them."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from matplotlib import rc_context
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter

# Okabe and Ito's colour-blind-safe colours, with a marker each.
STYLES = (
    ("#0072B2", "o"),
    ("#D55E00", "v"),
    ("#009E73", "s"),
    ("#CC79A7", "D"),
    ("#E69F00", "P"),
    ("#000000", "X"),
    ("#56B4E9", "^"),
    ("#8C6D31", "<"),
    ("#7F7F7F", ">"),
    ("#882255", "p"),
    ("#44AA99", "h"),
)
QUIET = "#444444"
"""Colour of notes, less prominent than the lines."""
PERCENT = PercentFormatter(1.0, symbol=" %")
PERCENT_OF_100 = PercentFormatter(100.0, decimals=0, symbol=" %")
LOOK: Any = {
    "font.size": 9.5,
    "axes.titlesize": 10.5,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#e4e4e4",
    "grid.linewidth": 0.7,
    "legend.frameon": False,
    "svg.hashsalt": "headgate",
}


def save(draw: Callable[[], Figure], folder: Path, name: str) -> tuple[Path, Path]:
    """Draw in the common style and save as PNG and SVG; returns the two paths.

    The same figure gives the same SVG, byte for byte: no date, no random names.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with rc_context(LOOK):
        figure = draw()
        png, svg = folder / f"{name}.png", folder / f"{name}.svg"
        figure.savefig(png, dpi=160)
        figure.savefig(svg, metadata={"Date": None})
    return png, svg
