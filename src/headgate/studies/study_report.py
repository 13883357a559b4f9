"""Output of studies: results as CSV, figures as PNG and SVG, and one verdict per claim."""

from collections.abc import Sequence
from functools import partial
from itertools import groupby
from pathlib import Path

import pandas as pd
from rich import box
from rich.console import Group
from rich.markup import escape
from rich.table import Table

from headgate.report.plot_style import save
from headgate.studies.study import ClaimVerdict, Status, Study

COLOURS = {
    Status.HOLDS: "green",
    Status.DEPARTS: "yellow",
    Status.STALE: "yellow",
    Status.FAILS: "bold red",
}


def save_results(study: Study, results: pd.DataFrame, folder: Path) -> list[Path]:
    """Write the study's results and figures; returns the paths."""
    folder.mkdir(parents=True, exist_ok=True)
    table = folder / f"{study.name}.csv"
    results.to_csv(table, index=False, float_format="%.6g")
    paths = [table]
    for figure in study.figures:
        name = "-".join(filter(None, (study.name, figure.name)))
        paths += save(partial(figure.draw, results), folder, name)
    return paths


def save_verdicts(verdicts: Sequence[ClaimVerdict], folder: Path) -> Path:
    """Write the verdicts as CSV, declared departures with their reasons."""
    path = folder / "verdicts.csv"
    pd.DataFrame(
        [
            {
                "study": verdict.study,
                "claim": verdict.claim.name,
                "says": verdict.claim.says,
                "measured": verdict.finding.measured,
                "verdict": verdict.status.value,
                "departs": verdict.claim.departs,
            }
            for verdict in verdicts
        ]
    ).to_csv(path, index=False)
    return path


def verdict_table(study: Study, verdicts: Sequence[ClaimVerdict]) -> Table:
    """A row a claim; departures with the reason declared."""
    table = Table(
        box=box.SIMPLE_HEAD,
        title=f"[bold]{study.name}[/]  {escape(study.title)}",
        title_justify="left",
        title_style="",
        expand=True,
    )
    table.add_column("claim", ratio=6)
    table.add_column("measured", ratio=5)
    table.add_column("verdict", no_wrap=True, min_width=7)
    for verdict in verdicts:
        status = verdict.status
        measured = escape(verdict.finding.measured)
        if verdict.claim.departs:
            measured += f"\n[dim]declared: {escape(verdict.claim.departs)}[/]"
        table.add_row(escape(verdict.claim.says), measured, f"[{COLOURS[status]}]{status.value}[/]")
    return table


def study_list(studies: Sequence[Study]) -> Group:
    """The available studies, one table per paper."""
    return Group(*(_paper_list(list(own)) for _, own in groupby(studies, lambda s: s.paper)))


def _paper_list(studies: Sequence[Study]) -> Table:
    table = Table(
        box=box.SIMPLE_HEAD, title=studies[0].paper, title_justify="left", title_style="bold"
    )
    table.add_column("study", no_wrap=True)
    table.add_column("what")
    table.add_column("where")
    table.add_column("claims", justify="right")
    for study in studies:
        table.add_row(study.name, study.title, study.place, str(len(study.claims)))
    return table
