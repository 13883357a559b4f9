"""``headgate calibrate``: measures the cost weights, prints them with their spread, saves them."""

from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from headgate.calibration.timed_weights import MeasuringTime, calibrate, rounds_of
from headgate.models.cost import Calibration

NANO = 1e9


def run(effort: MeasuringTime, out: Path | None, console: Console) -> None:
    """Measure and print; the file is written last."""
    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True) as progress:
        bar = progress.add_task("measuring", total=rounds_of(effort))
        measured = calibrate(effort, lambda: progress.advance(bar))
    console.print(structures_table(measured))
    console.print(sizes_table(measured))
    console.print(work_table(measured))
    console.print(f"kept in {measured.save(out)}", soft_wrap=True)


def structures_table(measured: Calibration) -> Table:
    """Table of P_d and I_d: the cost of touching one row in a search and in an update."""
    table = Table(title="A row touched, ns (ICDE 2003, Eq. 3–6)")
    for heading in ("structure", "search", "±", "update", "±"):
        table.add_column(heading, justify="left" if heading == "structure" else "right")
    for structure in measured.weights.structures:
        weight = measured.weights[structure]
        values = (weight.search, weight.search_spread, weight.update, weight.update_spread)
        table.add_row(structure.value, *(f"{NANO * value:,.2f}" for value in values))
    return table


def sizes_table(measured: Calibration) -> Table:
    """Table of the cost of whole probes and updates, by window size."""
    table = Table(title="A probe / an update (a row in, a row out), ns")
    table.add_column("window", justify="right")
    structures = measured.weights.structures
    for structure in structures:
        table.add_column(structure.value, justify="right")
    for points in zip(*(measured.weights[each].measured for each in structures), strict=True):
        table.add_row(
            f"{points[0].window:,.0f}",
            *(f"{NANO * point.search:,.0f} / {NANO * point.update:,.0f}" for point in points),
        )
    return table


def work_table(measured: Calibration) -> Table:
    """Table of C_a, C_u and C_p: the costs of an arrival, an update and a pair."""
    table = Table(title="Work with hash indexes, ns")
    for heading in ("", "cost", "±"):
        table.add_column(heading, justify="right" if heading else "left")
    ordering = measured.weights["bitmap"].arrive
    for label, name in (
        ("C_a  a row comes", "arrive"),
        ("C_u  it is kept, and let go", "update"),
        ("C_p  a pair is made", "produce"),
    ):
        cost, spread = (getattr(each, name) for each in (measured.work, measured.work_spread))
        table.add_row(label, f"{NANO * cost:,.1f}", f"{NANO * spread:,.1f}")
    table.add_row("     it is put in order for a bitmap", f"{NANO * ordering:,.1f}", "")
    return table
