"""Tries a job on Spark without running it: its formats, columns and expressions."""

import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any

from rich.console import Console

from headgate.jobs.job import Job
from headgate.jobs.pipeline import at_line, joined, read_side, shaped_result
from headgate.jobs.problems import JobError, Problem


def try_job(job: Job, log: Path, console: Console) -> None:
    """Start Spark and build the job's query, without running it; raises with every problem."""
    from headgate.spark.session import check_ready, start_session

    check_ready()
    # PySpark logs as JSON what is about to be said in one line.
    logging.getLogger("SQLQueryContextLogger").setLevel(logging.CRITICAL + 1)
    with console.status("trying formats and columns on Spark…"):
        settings = {name: setting.value for name, setting in job.spark.items()}
        session = start_session(f"headgate check {job.name}", log, settings=settings)
        try:
            problems = problems_of(session, job)
        finally:
            session.stop()
    if problems:
        raise JobError(job.file, problems)


def problems_of(session: Any, job: Job) -> list[Problem]:
    """What Spark finds wrong with a job's sources, join and sink."""
    problems: list[Problem] = []
    left, right = (_found(problems, read_side, session, job, side) for side in ("left", "right"))
    _found(problems, _check_sink, session, job)
    if left is not None and right is not None:
        result = _found(problems, joined, job, left, right)
        if result is not None:
            _found(problems, shaped_result, job, result)
    return problems


def _check_sink(session: Any, job: Job) -> None:
    from headgate.spark.sources import check_format

    with at_line(job, ("sink", "format")):
        check_format(session, job.sink.format)


def _found(problems: list[Problem], make: Callable[..., Any], *given: Any) -> Any:
    """What is made; None, and its problems kept, where that fails."""
    try:
        return make(*given)
    except JobError as error:
        problems.extend(error.problems)
        return None
