"""Tables of the bench of real and generated streams, in the terminal and as a page."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from rich.console import Console

from headgate.studies.auto.choice import AUTO
from headgate.studies.real.real_bench import MemoryPoint, measure_real

PAGE = Path("out/real-streams.md")
CLOSE, CLOSE_FROM_START, NEVER_BEHIND = 0.98, 0.95, 0.99


def show_real(console: Console, quick: bool) -> None:
    """Try every policy on every stream, print a line for each, and write the page."""
    points = []
    for point in measure_real(quick):
        points.append(point)
        console.print(line_of(point), highlight=False)
    page = page_of(points)
    PAGE.parent.mkdir(exist_ok=True)
    PAGE.write_text(page)
    console.print(page, highlight=False)
    console.print(f"written to {PAGE}")


def line_of(point: MemoryPoint) -> str:
    """A point in a line, as shares of the ceiling."""
    shares = " ".join(f"{name} {point.share(name):.3f}" for name in point.tried)
    followed = point.tried[AUTO].followed if AUTO in point.tried else ""
    return (
        f"{point.stream}, {point.memory:.0%} ({point.rows:,} rows): ceiling "
        f"{point.ceiling / max(point.exact, 1):.3f} of all pairs, a plan makes "
        f"{point.planned / max(point.ceiling, 1):.3f} of it; {shares}; followed {followed}"
    )


def page_of(points: Sequence[MemoryPoint]) -> str:
    """One table of all points, and what they say of "auto"."""
    policies = list(points[0].tried)
    head = ["stream", "memory", "rows", "ceiling", "plan", *policies, "auto/best", "settled"]
    lines = [f"| {' | '.join(head)} |", "|---|" + "---:|" * (len(head) - 1)]
    for point in points:
        best = max(point.share(name) for name in policies if name != AUTO)
        shares = [
            f"**{point.share(name):.3f}**"
            if name != AUTO and point.share(name) >= best
            else f"{point.share(name):.3f}"
            for name in policies
        ]
        cells = [
            point.stream,
            f"{point.memory:.0%}",
            f"{point.rows:,}",
            f"{point.ceiling / max(point.exact, 1):.3f}",
            f"{point.planned / max(point.ceiling, 1):.3f}",
            *shares,
            f"{point.against_best():.3f}",
            f"{point.against_best(settled=True):.3f}",
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join([*lines, "", *verdicts(points)]) + "\n"


def verdicts(points: Sequence[MemoryPoint]) -> list[str]:
    """How "auto" stands against the best single policy and against simple ones."""
    said = [
        "mean share of the ceiling: "
        + ", ".join(
            f"{name} {np.mean([point.share(name) for point in points]):.3f}"
            for name in points[0].tried
        ),
        "",
        _said(
            points,
            "of the best single policy, from the start",
            [point.against_best() for point in points],
            CLOSE_FROM_START,
        ),
        _said(
            points,
            "of it after two windows",
            [point.against_best(settled=True) for point in points],
            CLOSE,
        ),
    ]
    for simple in ("fifo", "random"):
        ratios = [point.against(simple) for point in points]
        said.append(_said(points, f"of {simple.upper()}", ratios, NEVER_BEHIND))
    return [f"{line}  " if line else line for line in said]


def _said(points: Sequence[MemoryPoint], what: str, ratios: list[float], least: float) -> str:
    found = np.array(ratios)
    worst = points[int(found.argmin())]
    return (
        f"auto makes {what}: {found.mean():.3f} on average, at least {least} at "
        f"{np.count_nonzero(found >= least)} of {len(points)} points, worst {found.min():.3f} "
        f"({worst.stream}, {worst.memory:.0%})"
    )
