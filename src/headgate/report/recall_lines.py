"""Readable lines of recall against memory: alike curves share one, and few have colours."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_COLOURED = 5
LANDMARKS = ("AUTO", "RANDOM", "FIFO")
"""Policies that are always in colour: what is proposed, and what it is measured by."""
SAME_LINE = 0.006
"""Curves no further apart than this look like one."""
GREY = "#b8b8b8"


class Line(NamedTuple):
    """One line of a figure: the curves it stands for, and whether it has a colour."""

    names: tuple[str, ...]
    is_coloured: bool


def alike(curves: Mapping[str, Sequence[float]], apart: float) -> list[tuple[str, ...]]:
    """Group the curves that are nowhere further apart than this from the first of their group.

    Examples
    --------
    >>> alike({"LRU": [0.1, 0.5], "FIFO": [0.0, 0.2], "IJOIN": [0.1, 0.5]}, apart=0.001)
    [('LRU', 'IJOIN'), ('FIFO',)]
    """
    groups: list[list[str]] = []
    for name, curve in curves.items():
        for group in groups:
            other = curves[group[0]]
            if len(other) == len(curve) and all(
                abs(one - two) <= apart for one, two in zip(curve, other, strict=True)
            ):
                group.append(name)
                break
        else:
            groups.append([name])
    return [tuple(group) for group in groups]


def lines_of(curves: Mapping[str, Sequence[float]]) -> list[Line]:
    """The lines to draw, best curves first; curves are given best first.

    Examples
    --------
    >>> few = {"PROB": [0.9], "LIFE": [0.8], "AUTO": [0.7], "TTL": [0.6], "LFU": [0.5]}
    >>> for line in lines_of(few | {"LRU": [0.4], "RANDOM": [0.2], "FIFO": [0.2]}):
    ...     print(*line.names, line.is_coloured)
    PROB True
    LIFE True
    AUTO True
    TTL True
    LFU False
    LRU False
    RANDOM FIFO True
    """
    groups = alike(curves, SAME_LINE)
    known = [group for group in groups if any(_plain(name) in LANDMARKS for name in group)]
    others = [group for group in groups if group not in known]
    coloured = [*known, *others[: max(MOST_COLOURED - len(known), 0)]]
    return [Line(group, group in coloured) for group in groups]


def draw_lines(
    axes: "Axes",
    curves: Mapping[str, Sequence[float]],
    path: Callable[[str], tuple[Sequence[float], Sequence[float]]],
    beside: Callable[[str, str], None] | None = None,
) -> None:
    """Draw each line, the best on top.

    Parameters
    ----------
    curves
        Recalls at the same places, which tell what curves share a line.
    path
        Gives the places and recalls of a curve's line, of which there may be more.
    beside
        Adds to a line, given its name and colour.
    """
    from headgate.report.plot_style import STYLES

    lines = lines_of(curves)
    grey = [line for line in lines if not line.is_coloured]
    for line in grey:
        label = _others(grey) if line is grey[0] else None
        name = line.names[0]
        axes.plot(*path(name), color=GREY, linewidth=0.9, label=label, zorder=1)
    coloured = [line for line in lines if line.is_coloured]
    for place, (line, (colour, marker)) in enumerate(zip(coloured, STYLES, strict=False)):
        name = line.names[0]
        axes.plot(
            *path(name),
            color=colour,
            marker=marker,
            markersize=5.5,
            linewidth=1.8,
            label=_wrapped(line.names),
            zorder=10 - place,
        )
        if beside is not None:
            beside(name, colour)


def legend_in_order(axes: "Axes", first: Sequence[str] = (), **more: Any) -> None:
    """Add a legend: these labels first, then lines as drawn, the grey ones last."""
    handles, labels = axes.get_legend_handles_labels()

    def rank(place: int) -> tuple[int, int]:
        label = labels[place]
        if label in first:
            return 0, list(first).index(label)
        return (2 if label.startswith("others: ") else 1), place

    order = sorted(range(len(labels)), key=rank)
    axes.legend([handles[i] for i in order], [labels[i] for i in order], **more)


def _others(grey: Sequence[Line]) -> str:
    return f"others: {_wrapped([name for line in grey for name in line.names])}"


def _wrapped(names: Sequence[str]) -> str:
    """Names two a line."""
    rows = [", ".join(names[start : start + 2]) for start in range(0, len(names), 2)]
    return ",\n".join(rows)


def _plain(name: str) -> str:
    return name.removesuffix("*").strip()
