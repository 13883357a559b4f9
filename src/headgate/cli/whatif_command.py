"""`headgate whatif`: reads files or a checkpoint, prints the answer and saves a report."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console, Group
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from headgate.api.whatif import whatif
from headgate.sizing.findings import WhatIf
from headgate.sizing.whatif_picture import save_picture
from headgate.sizing.wording import sections
from headgate.spec import Side, SpecError

Names = list[str] | None

FIRST = "Looking at the rows"


@dataclass(frozen=True)
class Settings:
    """The command-line options; pairs hold the left and the right side's values."""

    files: tuple[Path | None, Path | None]
    times: tuple[str, str]
    windows: tuple[str, str]
    keys: tuple[Names, Names, Names]
    """``on``, ``left_on``, ``right_on``."""
    policies: Names
    memory: Names
    checkpoint: Path | None
    operator: int
    most_rows: int
    optimum: bool
    jobs: int | None
    out: Path


def run(settings: Settings, console: Console) -> None:
    """Run the what-if, print the answer and save the report."""
    sides = _sides(settings)
    on, left_on, right_on = settings.keys
    more: dict[str, Any] = {}
    if settings.checkpoint is not None:
        more = {
            "checkpoint": settings.checkpoint,
            "operator": settings.operator,
            "spark": _session(settings, console),
        }
    elif None in settings.files:
        raise SpecError("give the files of both sides, or --checkpoint")
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task(FIRST, total=None)

        def report(done: int, of: int) -> None:
            progress.update(task, description="Trying policies", completed=done, total=of)

        found = whatif(
            *(settings.files if settings.checkpoint is None else ()),
            left=sides[0],
            right=sides[1],
            on=on,
            left_on=left_on,
            right_on=right_on,
            policies=settings.policies,
            memory=None if settings.memory is None else [_memory(one) for one in settings.memory],
            most_rows=settings.most_rows,
            optimum=settings.optimum,
            jobs=settings.jobs,
            progress=report,
            **more,
        )
    console.print(as_tables(found))
    saved = (
        found.to_html(settings.out / "report.html"),
        found.to_csv(settings.out / "whatif.csv"),
        save_picture(found, settings.out)[0],
    )
    console.print(f"Saved {', '.join(str(path) for path in saved)}", soft_wrap=True)


def as_tables(found: WhatIf) -> Group:
    """Render the answer's sections for the terminal."""
    return Group(*(part for section in sections(found) for part in section.shown(apart=1)))


def _sides(settings: Settings) -> tuple[Side, Side]:
    for name, given in (("time", settings.times), ("window", settings.windows)):
        for which, value in zip(("left", "right"), given, strict=True):
            if not value:
                raise SpecError(f"--{which}-{name} is missing: say what the join looks like")
    left, right = zip(settings.times, settings.windows, strict=True)
    return Side(*left), Side(*right)


def _memory(given: str) -> int | str:
    return int(given) if given.strip().isdigit() else given


def _session(settings: Settings, console: Console) -> Any:
    from headgate.spark.session import check_ready, start_session

    check_ready()
    log = settings.out / "spark.log"
    with console.status("Starting Spark"):
        return start_session("headgate whatif", log)
