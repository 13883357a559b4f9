"""The demo's final table: every policy's recall at several memory sizes, and the exact join."""

import io
from collections.abc import Sequence
from pathlib import Path

from rich import box
from rich.console import Console, RenderableType
from rich.table import Table

from headgate.demo.comparison import ExactJoin, Result
from headgate.report.recall_lines import alike

NOTE = (
    "Rows are the budget; no policy stored more. Policies with the same recalls share a line. * "
    "learns its model as it runs, within its memory; AUTO follows the policy that does best when "
    "tried in miniature."
)
SAME = 0.0005
"""Recalls no further apart than this are printed alike."""


def comparison_table(exact: ExactJoin, results: Sequence[Result]) -> Table:
    """Recall, one row per policy, one column per memory size; the best in bold."""
    percents = sorted({result.percent for result in results})
    recalls = _best_first(results)
    best = [max(row[place] for row in recalls.values()) for place in range(len(percents))]
    table = Table(
        title="Recall by policy and memory",
        caption=NOTE,
        box=box.SIMPLE_HEAD,
        title_style="bold",
        caption_justify="left",
        padding=(0, 2, 0, 0),
    )
    table.add_column("of the memory\n[dim]rows", no_wrap=True)
    for percent in percents:
        table.add_column(f"{percent} %\n[dim]{exact.budget(percent).rows:,}", justify="right")
    table.add_column(f"100 %\n[dim]{exact.peak_rows:,}", justify="right")
    for labels in alike(recalls, SAME):
        row = recalls[labels[0]]
        cells = [_cell(recall, recall == top) for recall, top in zip(row, best, strict=True)]
        table.add_row(_names(labels), *cells, "")
    table.add_section()
    table.add_row("the exact join", *("" for _ in percents), _cell(1.0, False))
    return table


def save_terminal(path: Path, *shown: RenderableType) -> None:
    """Save what the terminal showed as an SVG."""
    console = Console(width=100, record=True, file=io.StringIO(), force_terminal=True)
    for part in shown:
        console.print(part, highlight=False)
    console.save_svg(str(path), title="headgate demo", unique_id="headgate")


def _best_first(results: Sequence[Result]) -> dict[str, list[float]]:
    """By policy its recalls, by ascending memory."""
    rows: dict[str, list[float]] = {}
    for result in sorted(results, key=lambda result: result.percent):
        rows.setdefault(result.label, []).append(result.recall)
    return dict(sorted(rows.items(), key=lambda row: -sum(row[1])))


def _names(labels: Sequence[str]) -> str:
    """Names two a line, which keeps the table within 80 columns."""
    pairs = [", ".join(labels[start : start + 2]) for start in range(0, len(labels), 2)]
    return ",\n".join(pairs)


def _cell(recall: float, best: bool) -> str:
    shown = f"{100 * recall:.1f} %"
    return f"[bold green]{shown}[/]" if best else shown
