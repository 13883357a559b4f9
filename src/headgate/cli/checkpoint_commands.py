"""`headgate state` and its like: work on the checkpoints of stopped queries."""

import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rich.console import Console, Group

from headgate.api.checkpoints import adopt, release, reshard, state
from headgate.jobs.job import Job, read_job
from headgate.jobs.pipeline import read_side


def show_state(checkpoint: Path, json: bool, console: Console, asked: dict[str, Any]) -> None:
    """Print what a checkpoint holds; what is asked for are arguments of `state`."""
    from headgate.spark.checkpoint.checkpoint_files import CheckpointFiles

    CheckpointFiles.of(checkpoint)
    with _spark("headgate state", console) as session, console.status("Reading the state"):
        found = state(checkpoint, session, **asked)
    if json:
        console.print(found.to_json(), soft_wrap=True, markup=False)
        return
    console.print(Group(*(part for section in found.sections() for part in section.shown())))
    if asked["rows"] is not None:
        console.print(f"Saved {asked['rows']}", soft_wrap=True)


def run_reshard(checkpoint: Path, to: Path, console: Console, asked: dict[str, Any]) -> None:
    """Write a checkpoint anew; what is asked for are arguments of `reshard`."""
    from headgate.spark.checkpoint.checkpoint_files import CheckpointFiles, check_place

    check_place(to, CheckpointFiles.of(checkpoint).path)
    with _spark("headgate reshard", console) as session, console.status("Moving rows"):
        done = reshard(checkpoint, to, session, **asked)
    console.print(str(done), soft_wrap=True)


def run_adopt(checkpoint: Path, file: Path, to: Path | None, memory: str, console: Console) -> None:
    """Take over the checkpoint of Spark's own join for a job."""
    from headgate.spark.checkpoint.checkpoint_files import CheckpointFiles, local_path

    CheckpointFiles.of(checkpoint)
    job = read_job(file)
    target = to or local_path(job.sink.checkpoint.value)
    with _spark("headgate adopt", console, _settings(job)) as session:
        left, right = read_side(session, job, "left"), read_side(session, job, "right")
        with console.status("Moving rows"):
            done = adopt(
                checkpoint, target, job.join, left, right, shards=job.shards, memory=memory
            )
    console.print(str(done), soft_wrap=True)


def run_release(file: Path, checkpoint: Path | None, to: Path, console: Console) -> None:
    """Give the checkpoint of a job back to Spark's own join."""
    job = read_job(file)
    with _spark("headgate release", console, _settings(job)) as session:
        left, right = read_side(session, job, "left"), read_side(session, job, "right")
        with console.status("Moving rows"):
            old = checkpoint or job.sink.checkpoint.value
            done = release(old, to, job.join, left, right)
    console.print(str(done), soft_wrap=True)


def _settings(job: Job) -> dict[str, str]:
    return {name: setting.value for name, setting in job.spark.items()}


@contextmanager
def _spark(name: str, console: Console, more: Mapping[str, str] | None = None) -> Iterator[Any]:
    """A session of its own, whose log is kept only while it runs."""
    from headgate.spark.session import check_ready, start_session

    check_ready()
    with tempfile.TemporaryDirectory(prefix="headgate-") as folder:
        settings = {"spark.local.dir": folder, "spark.sql.warehouse.dir": f"{folder}/warehouse"}
        settings |= more or {}
        with console.status("Starting Spark"):
            session = start_session(name, Path(folder) / "spark.log", settings=settings)
        try:
            yield session
        finally:
            session.stop()
