"""Starts a job's query, and reports each error at the line of the job file that causes it."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from headgate.jobs.environment import Settings, scrubbed
from headgate.jobs.job import Job
from headgate.jobs.lines import Path
from headgate.jobs.problems import JobError, Problem
from headgate.jobs.shaping_section import ShapingSection
from headgate.jobs.sink_section import AVAILABLE_NOW, Trigger
from headgate.jobs.source_section import SourceSection
from headgate.spec import SpecError

if TYPE_CHECKING:
    from headgate.spark import DataFrame

METRICS = "headgate"
"""The name the join's metrics are observed under."""


@contextmanager
def at_line(job: Job, path: Path) -> Iterator[None]:
    """Report errors of Spark or of the join as problems at a line of the job file."""
    from headgate.spark.sources import plainly

    try:
        with plainly():
            yield
    except JobError:
        raise
    except SpecError as error:
        where = ".".join(str(name) for name in path)
        said = scrubbed(f"{where}: {error}", job.settings)
        raise JobError(job.file, [Problem(job.lines.of(path), said)]) from error


def read_side(session: Any, job: Job, side: str, streaming: bool = True) -> "DataFrame":
    """Read and shape the rows of a side: a stream with its watermark, or the data there now."""
    from headgate.spark.sources import read_rows, resolved, with_watermark

    source: SourceSection = getattr(job, side)
    time = getattr(job.join, side).time
    with at_line(job, (side,)):
        frame = resolved(
            read_rows(
                session,
                source.format,
                _values(source.options),
                source.schema,
                source.wants_schema,
                streaming,
            )
        )
    frame = _shaped(job, frame, source.shaping, side)
    if not streaming:
        return frame
    with at_line(job, (side, "time")):
        return resolved(with_watermark(frame, time, f"{source.watermark_us} microseconds"))


def start(session: Any, job: Job) -> Any:
    """Start the job's query."""
    from headgate.spark.sources import start_query

    left, right = read_side(session, job, "left"), read_side(session, job, "right")
    result = shaped_result(job, joined(job, left, right))
    with at_line(job, ("sink",)):
        return start_query(
            result,
            kind=job.sink.format,
            options=_values(job.sink.options),
            partition_by=job.sink.partition_by,
            trigger=_spoken(job.sink.trigger),
            checkpoint=job.sink.checkpoint.value,
            name=job.name,
        )


def joined(job: Job, left: "DataFrame", right: "DataFrame") -> "DataFrame":
    """The job's join of two streams."""
    with at_line(job, ("join",)):
        # The operators that follow keep no state and need no watermark.
        return job.join.stream(
            left,
            right,
            shards=job.shards,
            name=METRICS,
            redefined=job.redefined,
            watermark=False,
        )


def shaped_result(job: Job, result: "DataFrame") -> "DataFrame":
    """The result rows as the sink gets them."""
    return _shaped(job, result, job.sink.shaping, "sink")


def _shaped(job: Job, frame: "DataFrame", shaping: ShapingSection, part: str) -> "DataFrame":
    from headgate.spark.sources import kept, resolved, with_column

    for name, expression in shaping.columns:
        with at_line(job, (part, "columns", name)):
            frame = resolved(with_column(frame, name, expression))
    if shaping.filter is not None:
        with at_line(job, (part, "filter")):
            frame = resolved(frame.where(shaping.filter))
    if shaping.keep is not None:
        with at_line(job, (part, "keep")):
            frame = resolved(kept(frame, shaping.keep))
    return frame


def _values(settings: Settings) -> dict[str, str]:
    return {name: setting.value for name, setting in settings.items()}


def _spoken(trigger: Trigger) -> dict[str, Any]:
    """Convert a trigger to PySpark's arguments."""
    if trigger.kind == AVAILABLE_NOW:
        return {"availableNow": True}
    if trigger.kind == "every":
        return {"processingTime": f"{trigger.every_us // 1000} milliseconds"}
    return {}
