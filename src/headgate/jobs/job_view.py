"""The live view of a job, and plain log lines if there is no terminal."""

from rich import box
from rich.console import RenderableType
from rich.panel import Panel
from rich.progress_bar import ProgressBar
from rich.table import Table

from headgate.jobs.batch_figures import Batch, BatchFigures
from headgate.jobs.job import Job
from headgate.learning import Estimate
from headgate.spec import Budget, Sample
from headgate.spec.quantity import format_bytes

BAR_WIDTH = 24


class JobView:
    """The terminal view of a running job, drawn from its current figures."""

    def __init__(self, job: Job, figures: BatchFigures, log: str) -> None:
        self._job, self._figures, self._log = job, figures, log

    def __rich__(self) -> RenderableType:
        table = Table.grid(padding=(0, 2))
        table.add_column(style="bold", min_width=9)
        table.add_column()
        for name, said in self._rows():
            table.add_row(name, said)
        return Panel(
            table,
            title=f"[bold]{self._job.name} · within {self._job.join.budget}",
            title_align="left",
            subtitle=f"[dim]Ctrl-C stops it · Spark's log: {self._log}",
            subtitle_align="right",
            box=box.ROUNDED,
            padding=(0, 2),
        )

    def _rows(self) -> list[tuple[str, RenderableType]]:
        figures, last = self._figures, self._figures.last
        if last is None:
            return [("batch", "the first takes longest: Spark's workers start, and load the join")]
        total = figures.total
        rate = last.rows / last.seconds if last.seconds else 0.0
        rows: list[tuple[str, RenderableType]] = [
            (
                "rows in",
                f"{total['left_rows']:,} left, {total['right_rows']:,} right; "
                f"{rate:,.0f} rows/s in the last batch",
            ),
            ("result", f"{total['pairs']:,} rows, {last.pairs:,} in the last batch"),
        ]
        if not isinstance(self._job.join.goal, Sample):
            rows.append(("recall", _bar(*_recall(figures.recall), "green")))
        rows += [
            (name, _bar(share, said, "yellow"))
            for name, share, said in _spent(self._job.join.budget, last)
        ]
        return [
            *rows,
            ("lost", _given_up(figures)),
            ("late", f"{total['late']:,} rows behind the watermark, dropped"),
            (
                "batch",
                f"{last.number}, took {last.seconds:.1f} s; watermark {_clock(last.watermark)}",
            ),
        ]


def batch_line(job: Job, batch: Batch) -> str:
    """Describe a batch in one line, for logs."""
    spent = ", ".join(said for _, _, said in _spent(job.join.budget, batch))
    recall = "" if batch.recall is None else f", recall {batch.recall}"
    return (
        f"batch {batch.number}: {batch.rows:,} rows in, {batch.pairs:,} result rows{recall}, "
        f"{spent}, {batch.given_up:,} lost, {batch.seconds:.1f} s"
    )


def summary(figures: BatchFigures) -> str:
    """Summarise what the job did since it started."""
    total = figures.total
    if not figures.batches:
        return "nothing new since the last run" if figures.goes_on else "no rows came"
    batches = "batch" if figures.batches == 1 else "batches"
    recall = "" if figures.recall is None else f"; recall {figures.recall} with 95 % confidence"
    return (
        f"{total['left_rows']:,} left and {total['right_rows']:,} right rows in "
        f"{figures.batches:,} {batches} made {total['pairs']:,} result rows{recall}; at most "
        f"{figures.most_rows:,} rows ({format_bytes(figures.most_bytes)}) were stored, "
        f"{figures.given_up:,} lost, {total['late']:,} came late"
    )


def _recall(estimate: Estimate | None) -> tuple[float, str]:
    if estimate is None:
        return 0.0, "not known yet"
    return (
        estimate.value,
        f"{estimate.value:.1%}, from {estimate.low:.1%} to {estimate.high:.1%} with 95 % "
        f"confidence",
    )


def _spent(budget: Budget, batch: Batch) -> list[tuple[str, float, str]]:
    """For each limit of the budget: its name, the share in use, and the same as text."""
    spent = []
    if budget.rows is not None:
        said = f"{batch.stored_rows:,} of {budget.rows:,} rows stored"
        spent.append(("stored", batch.stored_rows / budget.rows, said))
    if budget.memory is not None:
        said = f"{format_bytes(batch.held_bytes)} of {format_bytes(budget.memory)} held"
        spent.append(("memory", batch.held_bytes / budget.memory, said))
    if budget.cpu is not None and batch.seconds:
        cores = batch.cpu_seconds / batch.seconds
        spent.append(("processor", cores / budget.cpu, f"{cores:.2f} of {budget.cpu:g} cores"))
    return spent


def _given_up(figures: BatchFigures) -> str:
    total = figures.total
    said = (
        f"{total['shed']:,} stored rows, {total['refused']:,} arrivals refused; past their window "
        f"{total['retired']:,}"
    )
    if total["unprobed"] or total["unstored"]:
        said += (
            f"; to save CPU time {total['unstored']:,} not stored, {total['unprobed']:,} not probed"
        )
    return said


def _clock(watermark: str) -> str:
    """Format a time as Spark reports it; Spark's first watermark is 1970."""
    if not watermark or watermark.startswith("1970-01-01T00:00:00"):
        return "not set yet"
    return watermark.replace("T", " ").split(".")[0].removesuffix("Z")


def _bar(share: float, said: str, colour: str) -> Table:
    table = Table.grid(padding=(0, 2))
    table.add_column(width=BAR_WIDTH)
    table.add_column()
    bar = ProgressBar(
        total=1.0,
        completed=min(share, 1.0),
        width=BAR_WIDTH,
        complete_style=colour,
        finished_style=colour,
    )
    table.add_row(bar, said)
    return table
