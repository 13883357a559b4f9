"""`headgate state` and its like: work on the checkpoints of stopped queries."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rich.console import Console, Group

from headgate.api.checkpoints import reshard, state


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


@contextmanager
def _spark(name: str, console: Console) -> Iterator[Any]:
    """A session of its own, whose log is kept only while it runs."""
    from headgate.spark.session import check_ready, start_session

    check_ready()
    with tempfile.TemporaryDirectory(prefix="headgate-") as folder:
        settings = {"spark.local.dir": folder, "spark.sql.warehouse.dir": f"{folder}/warehouse"}
        with console.status("Starting Spark"):
            session = start_session(name, Path(folder) / "spark.log", settings=settings)
        try:
            yield session
        finally:
            session.stop()
