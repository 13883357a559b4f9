"""`headgate whatif`: reads files or a checkpoint, prints the answer and saves a report."""

import shlex
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from rich.console import Console, Group
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from headgate.api.whatif import whatif
from headgate.cli.asked_sides import AskedSides, Names
from headgate.sizing.what_if import WhatIf
from headgate.sizing.whatif_picture import save_picture
from headgate.sizing.wording import sections, to_use
from headgate.spec import MaxImportance

FIRST = "Looking at the rows"


@dataclass(frozen=True)
class WhatIfSettings:
    """The command-line options."""

    asked: AskedSides
    how: str
    importance: tuple[str | None, str | None]
    policies: Names
    memory: Names
    checkpoint: Path | None
    operator: int
    most_rows: int
    optimum: bool
    jobs: int | None
    out: Path


def run(settings: WhatIfSettings, console: Console) -> None:
    """Run the what-if, print the answer and save the report."""
    asked = settings.asked
    sides = asked.checked(files=settings.checkpoint is None)
    on, left_on, right_on = asked.keys
    more: dict[str, Any] = {}
    if settings.checkpoint is not None:
        more = {
            "checkpoint": settings.checkpoint,
            "operator": settings.operator,
            "spark": _session(settings, console),
        }
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
            *(asked.files if settings.checkpoint is None else ()),
            left=sides[0],
            right=sides[1],
            on=on,
            left_on=left_on,
            right_on=right_on,
            how=settings.how,
            goal=_goal(*settings.importance),
            policies=settings.policies,
            memory=None if settings.memory is None else [_memory(one) for one in settings.memory],
            most_rows=settings.most_rows,
            optimum=settings.optimum,
            jobs=settings.jobs,
            progress=report,
            **more,
        )
    if found.origin is not None:
        found = replace(found, origin=replace(found.origin, command=_command()))
    console.print(as_tables(found))
    saved = (
        found.to_html(settings.out / "report.html"),
        found.to_csv(settings.out / "whatif.csv"),
        save_picture(found, settings.out)[0],
    )
    console.print(f"Saved {', '.join(str(path) for path in saved)}", soft_wrap=True)
    for part in to_use(found).shown():
        console.print(part, soft_wrap=True)


def as_tables(found: WhatIf) -> Group:
    """Render the answer's sections for the terminal."""
    *parts, how, _ = sections(found)
    made = () if found.origin is None else found.origin.lines
    told = [*parts, replace(how, above=(*how.above, *made))]
    return Group(*(part for section in told for part in section.shown()))


def _command() -> str:
    return shlex.join([Path(sys.argv[0]).name, *sys.argv[1:]])


def _goal(left: str | None, right: str | None) -> MaxImportance | None:
    return MaxImportance(left=left, right=right) if left or right else None


def _memory(given: str) -> int | str:
    return int(given) if given.strip().isdigit() else given


def _session(settings: WhatIfSettings, console: Console) -> Any:
    from headgate.spark.session import check_ready, start_session

    check_ready()
    log = settings.out / "spark.log"
    with console.status("Starting Spark"):
        return start_session("headgate whatif", log)
