"""The demo's final table: every policy's recall at several memory sizes, and the exact join."""

import io
from collections.abc import Sequence
from pathlib import Path

from rich import box
from rich.console import Console, RenderableType
from rich.table import Table

from headgate.demo.comparison import Exact, Result

MODEL_NOTE = (
    "* learns its model as it runs, within its memory. AGE, told: is given the true age curve. "
    "Auction ids do not come back, so key frequencies tell PROB and LIFE nothing here."
)


def comparison_table(exact: Exact, results: Sequence[Result]) -> Table:
    """Recall and peak rows, one row per policy, one column per memory size; the best in bold."""
    percents = sorted({result.percent for result in results})
    best = {
        percent: max(result.recall for result in results if result.percent == percent)
        for percent in percents
    }
    table = Table(
        title="Recall, and [dim]most rows stored[/dim], by memory",
        caption=MODEL_NOTE,
        box=box.SIMPLE_HEAD,
        title_style="bold",
        caption_justify="left",
        min_width=80,
    )
    table.add_column("policy", no_wrap=True, min_width=12)
    for percent in percents:
        table.add_column(f"{percent} %", justify="right")
    table.add_column("100 %", justify="right")
    for label, row in _by_policy(results).items():
        cells = [
            _cell(result.recall, result.peak_rows, result.recall == best[result.percent])
            for result in row
        ]
        table.add_row(label, *cells, "")
    table.add_section()
    table.add_row("exact", *("" for _ in percents), _cell(1.0, exact.peak_rows, False))
    return table


def save_terminal(path: Path, *shown: RenderableType) -> None:
    """Save what the terminal showed as an SVG."""
    console = Console(width=100, record=True, file=io.StringIO(), force_terminal=True)
    for part in shown:
        console.print(part, highlight=False)
    console.save_svg(str(path), title="headgate demo", unique_id="headgate")


def _by_policy(results: Sequence[Result]) -> dict[str, list[Result]]:
    rows: dict[str, list[Result]] = {}
    for result in sorted(results, key=lambda result: result.percent):
        rows.setdefault(result.label, []).append(result)
    return rows


def _cell(recall: float, peak_rows: int, best: bool) -> str:
    shown = f"{recall:.1%}"
    return f"{f'[bold green]{shown}[/]' if best else shown} [dim]{peak_rows:>6,}[/]"
