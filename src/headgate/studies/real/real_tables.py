"""Tables of the bench of real and generated streams, in the terminal and as a page."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from rich.console import Console

from headgate.studies.auto.choice import AUTO
from headgate.studies.real.real_bench import (
    HELD_OUT,
    QUICK,
    SEED,
    STANDARD,
    MemoryPoint,
    measure_real,
)
from headgate.studies.real.real_stream import REAL
from headgate.studies.real.results_file import ResultsFile

RESULTS = Path("docs/measured/real-streams.csv")
PAGE = Path("docs/reference/real-streams.md")
OUT = Path("out")
"""Where both go for want of such folders, and in the quick form."""
CLOSE, CLOSE_FROM_START, NEVER_BEHIND = 0.98, 0.95, 0.99


def show_real(console: Console, quick: bool, resume: bool = False) -> None:
    """Try every policy on every stream, print a line for each, and write the page."""
    form = QUICK if quick else STANDARD
    results, written = (
        OUT / path.name if quick or not path.parent.is_dir() else path for path in (RESULTS, PAGE)
    )
    points = []
    for point in measure_real(form, ResultsFile(results, resume)):
        points.append(point)
        console.print(line_of(point), highlight=False)
    written.parent.mkdir(parents=True, exist_ok=True)
    written.write_text(page_of(points))
    console.print("\n".join(verdicts(points)), highlight=False)
    console.print(f"written to {written}, results to {results}")


def line_of(point: MemoryPoint) -> str:
    """A point in a line, as shares of the ceiling."""
    shares = " ".join(f"{name} {point.share(name):.3f}" for name in point.tried)
    followed = point.tried[AUTO].followed if AUTO in point.tried else ""
    return (
        f"{point.stream}, {point.memory:.0%} ({point.rows:,} rows): ceiling "
        f"{point.ceiling / max(point.exact.made, 1):.3f} of all pairs, a plan makes "
        f"{point.planned / max(point.ceiling, 1):.3f} of it; {shares}; followed {followed}"
    )


OPENING = """\
# Policies on real streams

After this page you know how near each policy comes to what memory allows, on streams that nobody
made for it; what to expect of `policy="auto"`, and when another policy does better.

A row waits in memory for later rows of its key. Real streams come from data sets in Python
packages, which the command fetches; of long ones the first {rows:,} rows a side are taken.

| stream | what it is | from |
|---|---|---|
{real}

Generated streams ({generated}) are those of
`headgate reproduce auto-choice`, with {made:,} rows a side
in ten windows, and seed {seed}. What "auto" goes by was tuned on seed 1 of the generated streams
and on the other real streams; {held_out} were not looked at before this page was written.

## How auto does

"Single policies" are all but auto, density among them; "the papers' policies" are all but auto and
density.

{verdicts}

On the streams that nothing was tuned on ({held_out} and the generated ones):

{unseen}

## All policies

`headgate bench --part real` writes this page; with `--resume` it measures only what has changed.

Memory is a share of what the exact join stores at most, and a budget in rows; what auto, PROB, LIFE
and AGE learn takes up to 64 kB beside it, a sketch of rare keys as much again, and match density
(in auto, too) 100 kB for each side that waits: more than the rows themselves where these are few.
The *ceiling* is the share of all pairs that no policy can exceed with that memory, told from the
whole stream in advance. Every policy's pairs are given as a share of the ceiling, the best single
one in bold.
*plan* is what a plan made in advance reaches, so the best possible lies between it and 1. The last
columns are the pairs of auto as a share of those of the best single policy: of the whole stream,
and after the
first two windows.

{table}
"""


def page_of(points: Sequence[MemoryPoint]) -> str:
    """The page: what was tried, what it says of "auto", and a table of all points."""
    among = {point.stream for point in points}
    real = (
        f"| {real.name} | {real.nature} | {real.package.name} |"
        for real in REAL
        if real.name in among
    )
    judged = [point for point in points if point.is_held_out]
    unseen = verdicts(judged)[1:] if judged else ["none was measured"]
    return OPENING.format(
        rows=STANDARD.most_rows,
        real="\n".join(real),
        generated="; ".join(dict.fromkeys(p.stream for p in points if not p.is_real)),
        made=STANDARD.rows,
        seed=SEED,
        held_out=", ".join(HELD_OUT),
        verdicts="\n".join(f"- {line}" for line in verdicts(points)),
        unseen="\n".join(f"- {line}" for line in unseen),
        table="\n".join(table(points)),
    )


def table(points: Sequence[MemoryPoint]) -> list[str]:
    """A line for each point."""
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
            f"{point.ceiling / max(point.exact.made, 1):.3f}",
            f"{point.planned / max(point.ceiling, 1):.3f}",
            *shares,
            f"{point.against_best():.3f}",
            f"{point.against_best(settled=True):.3f}",
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def verdicts(points: Sequence[MemoryPoint]) -> list[str]:
    """How "auto" stands against the best single policy and against simple ones."""
    means = ", ".join(
        f"{name} {np.mean([point.share(name) for point in points]):.3f}" for name in points[0].tried
    )
    from_start = [point.against_best() for point in points]
    settled = [point.against_best(settled=True) for point in points]
    papers = [point.against_papers() for point in points]
    said = [
        f"Mean share of the ceiling over {len(points)} points: {means}.",
        _said(points, "of the best single policy, from the start", from_start, CLOSE_FROM_START),
        _said(points, "of it after two windows", settled, CLOSE),
        _said(points, "of the best of the papers' policies", papers, CLOSE_FROM_START),
    ]
    for simple in ("fifo", "random"):
        ratios = [point.against(simple) for point in points]
        said.append(_said(points, f"of {simple.upper()}", ratios, NEVER_BEHIND))
    return said


def _said(points: Sequence[MemoryPoint], what: str, ratios: list[float], least: float) -> str:
    found = np.array(ratios)
    worst = points[int(found.argmin())]
    return (
        f"auto makes {what}: {found.mean():.3f} on average, at least {least} at "
        f"{np.count_nonzero(found >= least)} of {len(points)} points, worst {found.min():.3f} "
        f"({worst.stream}, {worst.memory:.0%})."
    )
