"""``headgate run``: checks a job and runs it to its end."""

import signal
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.live import Live

from headgate.api.watch import watch
from headgate.jobs.batch_figures import BatchFigures
from headgate.jobs.dry_run import try_job
from headgate.jobs.environment import scrubbed
from headgate.jobs.explanation import explained
from headgate.jobs.job import Job, read_job
from headgate.jobs.job_view import JobView, batch_line, summary
from headgate.jobs.pipeline import start
from headgate.jobs.problems import JobError, Problem

POLL_SECONDS = 0.3
FAILED = 1
STOPPED = 128
"""Added to the number of the signal that stopped the job, as shells do."""


class Stop:
    """Whether the job was asked to stop, and by which signal."""

    def __init__(self) -> None:
        self.asked_by: signal.Signals | None = None

    def __call__(self, number: int, _frame: Any) -> None:
        if self.asked_by is not None:
            # A second signal means: stop without waiting.
            raise KeyboardInterrupt
        self.asked_by = signal.Signals(number)


def check(file: Path, log: Path | None, look: bool, console: Console) -> int:
    """Check a job without running it; ``look`` also tries its formats and columns on Spark."""
    job = _settled(file)
    console.print(explained(job))
    if look:
        try_job(job, log or _log_of(job), console)
    tried = "with its formats and columns" if look else "as far as it can be told without Spark"
    console.print(f"{file} is in order, {tried}.", style="green", highlight=False, soft_wrap=True)
    return 0


def run(file: Path, log: Path | None, console: Console, page: bool = False) -> int:
    """Run a job until it ends or is stopped; the exit status says how it went.

    With a ``page``, it can be watched in a browser, and its history stays beside Spark's log.
    """
    job = _settled(file)
    from headgate.spark.session import check_ready, start_session
    from headgate.spark.session_access import is_connect

    settings = {name: setting.value for name, setting in job.spark.items()}
    check_ready(settings)
    where = log or _log_of(job)
    if not console.is_terminal:
        console.print(explained(job))
    with console.status("starting Spark…"):
        session = start_session(f"headgate {job.name}", where, settings=settings)
    stop, figures = Stop(), BatchFigures(_has_run(job))
    watching: AbstractContextManager[Any] = nullcontext()
    try:
        if page:
            watching = watch(session, folder=where.parent / "watch")
            console.print(f"page: {watching.link}", highlight=False, soft_wrap=True, markup=False)
        # After the session starts: Spark installs its own handler, which would kill running tasks.
        with watching, _heeding(stop):
            told = "with the Connect server" if is_connect(session) else str(where)
            return _watch(session, job, stop, figures, told, console)
    finally:
        session.stop()


def _has_run(job: Job) -> bool:
    """Whether a checkpoint on this machine has finished batches of an earlier run."""
    commits = Path(job.sink.checkpoint.value.removeprefix("file:")) / "commits"
    return commits.is_dir() and any(commits.iterdir())


def _log_of(job: Job) -> Path:
    return Path("out") / job.name / "spark.log"


def _settled(file: Path) -> Job:
    """Read the job; raise if its split between sides still needs a plan."""
    job = read_job(file)
    if job.join.budget.split == "planned":
        message = (
            'join.budget: split = "planned" leaves it to a plan how memory is shared: give the '
            "profile.json that headgate plan saves as join.profile, or another split"
        )
        raise JobError(str(file), [Problem(job.lines.of(("join", "budget")), message)])
    return job


def _watch(
    session: Any, job: Job, stop: Stop, figures: BatchFigures, log: str, console: Console
) -> int:
    from headgate.spark.sources import is_sparks, said_by

    view = JobView(job, figures, log)
    live = Live(view, console=console, refresh_per_second=4) if console.is_terminal else None
    try:
        with live or nullcontext():
            query = start(session, job)
            try:
                _follow(query, job, stop, figures, None if live else console)
            finally:
                query.stop()
    except Exception as error:
        if not is_sparks(error):
            raise
        said = scrubbed(said_by(error), job.settings)
        console.print(f"{job.name} failed: {said}", style="red", markup=False, soft_wrap=True)
        console.print(f"Spark's log: {log}", highlight=False, soft_wrap=True)
        return FAILED
    if stop.asked_by is None:
        console.print(f"{job.name} ended: {summary(figures)}.", highlight=False, soft_wrap=True)
        return 0
    console.print(
        f"{job.name} was stopped ({stop.asked_by.name}): {summary(figures)}. Start it again and it "
        f"goes on from {job.sink.checkpoint.written}.",
        highlight=False,
        soft_wrap=True,
    )
    return STOPPED + stop.asked_by


def _follow(
    query: Any, job: Job, stop: Stop, figures: BatchFigures, console: Console | None
) -> None:
    """Read the query's reports until it ends or should stop; optionally print a line per batch."""
    running = True
    while running and stop.asked_by is None:
        running = not query.awaitTermination(POLL_SECONDS)
        for batch in figures.read(query.recentProgress):
            if console is not None:
                console.print(batch_line(job, batch), highlight=False, soft_wrap=True)


@contextmanager
def _heeding(stop: Stop) -> Iterator[None]:
    """Context in which Ctrl-C and SIGTERM request a stop."""
    numbers = (signal.SIGINT, signal.SIGTERM)
    before = {number: signal.signal(number, stop) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
