"""Pictures of models. Matplotlib is imported only when one is asked for."""

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from matplotlib.axes import Axes

UNITS = (
    ("days", 86_400_000_000),
    ("hours", 3_600_000_000),
    ("minutes", 60_000_000),
    ("seconds", 1_000_000),
    ("milliseconds", 1_000),
    ("microseconds", 1),
)


def best_unit(us: float) -> tuple[str, int]:
    """The largest unit of time of which there are at least two.

    Examples
    --------
    >>> best_unit(600_000_000)
    ('minutes', 60000000)
    """
    return next((unit for unit in UNITS if us >= 2 * unit[1]), UNITS[-1])


def new_axes(axes: "Axes | None") -> "Axes":
    """The axes given, or those of a new figure."""
    if axes is not None:
        return axes
    from matplotlib.figure import Figure

    return Figure(figsize=(5.5, 3.4), layout="constrained").add_subplot()


def age_curve_axes(
    axes: "Axes | None", width: int, matches: np.ndarray, best_age: int, label: str | None
) -> "Axes":
    """Matches per bucket against age, with the best age marked."""
    axes = new_axes(axes)
    name, unit = best_unit(width * len(matches))
    edges = np.arange(len(matches) + 1) * width / unit
    steps = axes.stairs(matches, edges, label=label, linewidth=1.6)
    axes.axvline(best_age / unit, color=steps.get_edgecolor(), linestyle=":", linewidth=1.2)
    axes.annotate(
        r"$k_{opt}$",
        (best_age / unit, 1.0),
        xycoords=("data", "axes fraction"),
        xytext=(3, -10),
        textcoords="offset points",
    )
    axes.set(xlabel=f"age k ({name})", ylabel="matches a row, p(k)", xlim=(0, edges[-1]))
    axes.set_ylim(bottom=0)
    return axes


def frequency_axes(axes: "Axes | None", shares: np.ndarray, label: str | None) -> "Axes":
    """Share of the rows against the key's rank, both on log scales."""
    axes = new_axes(axes)
    ranked = np.sort(shares)[::-1]
    axes.plot(np.arange(1, len(ranked) + 1), ranked, label=label, linewidth=1.6)
    axes.set(xlabel="rank of the key", ylabel="share of the rows, f(v)", xscale="log", yscale="log")
    return axes
