"""Options shared by all commands that read two sides."""

from pathlib import Path
from typing import Annotated

import typer

LeftFile = Annotated[
    Path | None, typer.Argument(help="Left side: a Parquet or CSV file, or a folder.")
]
RightFile = Annotated[
    Path | None, typer.Argument(help="Right side: a Parquet or CSV file, or a folder.")
]
LeftTime = Annotated[str, typer.Option(help="Time column of the left side.")]
RightTime = Annotated[str, typer.Option(help="Time column of the right side.")]
LeftWindow = Annotated[str, typer.Option(help='How long a left row waits: "10 minutes".')]
RightWindow = Annotated[
    str, typer.Option(help='How long a right row waits; "0 seconds" if it does not.')
]
Keys = Annotated[
    list[str] | None, typer.Option(help="Key column of both sides; may be given several times.")
]
LeftKeys = Annotated[list[str] | None, typer.Option(help="Key column of the left side.")]
RightKeys = Annotated[list[str] | None, typer.Option(help="Key column of the right side.")]
LeftImportance = Annotated[
    str | None, typer.Option(help="Column or SQL: the importance of a left row.")
]
RightImportance = Annotated[
    str | None, typer.Option(help="Column or SQL: the importance of a right row.")
]
Sizes = Annotated[
    list[str] | None,
    typer.Option(
        help='What to try: "64 MB", "10 %" of what the exact join holds, or a number of rows; '
        "may be given several times."
    ),
]
Checkpoint = Annotated[
    Path | None,
    typer.Option(help="Instead of files: the checkpoint of Spark's own stream-stream join."),
]
