"""``headgate bench --part batches`` and ``--part stages``: measure, show progress, write a page.

Each measurement is noted in a file as it is made, so that a run that was cut short can go on.
"""

import json
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path

from rich.console import Console
from rich.markdown import Markdown

from headgate.bench.batch_sizes import SIZES, Batches, Run, measure_batches, runs
from headgate.bench.batches_page import PAGE, batches_page
from headgate.bench.stage_times import STAGES, measure_stages, stage_page
from headgate.spec import SpecError

NOTED = Path("out/batches.jsonl")
"""Measurements made so far, a line each."""


def check_sizes(sizes: Sequence[int]) -> tuple[int, ...]:
    """The sizes of batches to measure; all of them if none is given."""
    unknown = [rows for rows in sizes if rows not in SIZES]
    if unknown:
        known = ", ".join(map(str, SIZES))
        raise SpecError(f"--size {unknown[0]}: batches are of {known} rows of both sides")
    return tuple(sizes) or tuple(SIZES)


def show_batches(console: Console, rounds: int, sizes: Sequence[int], resume: bool) -> None:
    """Print how long batches take as users have them, and write it as a page."""
    NOTED.parent.mkdir(exist_ok=True)
    if not resume:
        NOTED.unlink(missing_ok=True)
    made = dict(_noted())
    planned = runs(rounds, check_sizes(sizes))
    open_runs = [run for run in planned if run not in made]
    console.print(f"{len(planned)} measurements, {len(planned) - len(open_runs)} made before")
    began = time.monotonic()
    for run, batches in measure_batches(open_runs):
        made[run] = batches
        with NOTED.open("a") as file:
            file.write(json.dumps({**run._asdict(), **asdict(batches)}) + "\n")
        _write(made)
        console.print(
            f"{len(made)} of {len(planned)}, {(time.monotonic() - began) / 60:.0f} min: "
            f"{run.rows:,} rows a batch, {run.name}: first batch {batches.first:,.0f} ms, "
            f"early {batches.early:,.0f} ms, then {batches.steady:,.0f} ms",
            highlight=False,
        )
    console.print(Markdown(_write(made)))
    console.print(f"written to {PAGE}")


def _noted() -> Iterator[tuple[Run, Batches]]:
    if NOTED.exists():
        for line in NOTED.read_text().splitlines():
            values = json.loads(line)
            run = Run(*(values.pop(name) for name in Run._fields))
            yield run, Batches(**values)


def _write(made: dict[Run, Batches]) -> str:
    """Write the page of what was measured so far, and return it."""
    found: dict[tuple[int, str], list[Batches]] = {}
    for run in sorted(made, key=lambda run: (run.rows, list(made).index(run))):
        found.setdefault((run.rows, run.name), []).append(made[run])
    page = batches_page(found)
    PAGE.write_text(page)
    return page


def show_stages(console: Console, sizes: Sequence[int]) -> None:
    """Print where the time of a batch goes, and write it as a page."""
    chosen = check_sizes(sizes) if sizes else None
    lines = []
    with console.status("profiling batches"):
        for measured in measure_stages(chosen):
            lines.append(measured)
            console.print(f"{measured.rows:,} rows a batch, {measured.name}: profiled")
    page = stage_page(lines)
    STAGES.parent.mkdir(exist_ok=True)
    STAGES.write_text(page)
    console.print(Markdown(page))
    console.print(f"written to {STAGES}")
