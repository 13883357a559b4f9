"""The verbs that work on the checkpoints of stopped queries."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from headgate.cli import help_texts
from headgate.cli.plain_errors import plain_errors
from headgate.cli.plain_help import PlainCommand

Checkpoint = Annotated[Path, typer.Argument(help="The query's checkpointLocation: a local folder.")]
To = Annotated[Path, typer.Option(help="The new checkpoint: a folder that does not exist.")]
Memory = Annotated[str, typer.Option(help="Bytes of rows that each worker may hold at a time.")]
Job = Annotated[Path, typer.Argument(help="A job file with the join and both streams.")]


def add_to(app: typer.Typer) -> None:
    """Add the verbs to the command."""
    app.command(cls=PlainCommand, epilog=help_texts.STATE)(state)
    app.command(cls=PlainCommand, epilog=help_texts.RESHARD)(reshard)
    app.command(cls=PlainCommand, epilog=help_texts.ADOPT)(adopt)
    app.command(cls=PlainCommand, epilog=help_texts.RELEASE)(release)


def state(
    checkpoint: Checkpoint,
    rows: Annotated[
        Path | None, typer.Option(help="Parquet file for the stored rows, with all their columns.")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print as JSON.")] = False,
    values: Annotated[
        bool,
        typer.Option(
            "--values",
            help="Show keys instead of hashes, definitions of importance, and source offsets.",
        ),
    ] = False,
    top_keys: Annotated[
        int, typer.Option(min=0, help="How many of the most frequent keys to list.")
    ] = 10,
) -> None:
    """Show what is in the checkpoint of a join; the query may keep running."""
    with plain_errors():
        from headgate.cli.checkpoint_commands import show_state

        asked = {"rows": rows, "values": values, "top_keys": top_keys}
        show_state(checkpoint, json, Console(highlight=False), asked)


def reshard(
    checkpoint: Checkpoint,
    shards: Annotated[int, typer.Option(min=1, help="The new number of shards.")],
    to: To,
    partitions: Annotated[
        int | None, typer.Option(min=1, help="Shuffle partitions; default: as many as shards.")
    ] = None,
    memory: Memory = "256 MB",
) -> None:
    """Rewrite the checkpoint of a stopped join for another number of shards."""
    with plain_errors():
        from headgate.cli.checkpoint_commands import run_reshard

        asked = {"shards": shards, "partitions": partitions, "memory": memory}
        run_reshard(checkpoint, to, Console(highlight=False), asked)


def adopt(
    checkpoint: Annotated[
        Path, typer.Argument(help="The checkpoint of Spark's own stream-stream join.")
    ],
    job: Job,
    to: Annotated[Path | None, typer.Option(help="The new checkpoint; default: the job's.")] = None,
    memory: Memory = "256 MB",
) -> None:
    """Move a stopped query from Spark's own join to Headgate's, to continue as a job."""
    with plain_errors():
        from headgate.cli.checkpoint_commands import run_adopt

        run_adopt(checkpoint, job, to, memory, Console(highlight=False))


def release(
    job: Job,
    to: To,
    checkpoint: Annotated[
        Path | None, typer.Option(help="The checkpoint to convert; default: the job's.")
    ] = None,
) -> None:
    """Move a stopped job back to Spark's own join, with its stored rows.

    Works for inner, left, right, full and semi joins. These are refused:
    anti joins, which Spark does not have; joins with a band or comparison
    (hg.release takes a query for them); windows in rows; queries with another
    stateful operator; and outer joins that evicted rows, or were changed at a
    restart, within the last two windows.
    """
    with plain_errors():
        from headgate.cli.checkpoint_commands import run_release

        run_release(job, checkpoint, to, Console(highlight=False))
