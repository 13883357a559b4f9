"""Parts of the bench that run only when asked for: Numba's compiler, Flink, and promises kept."""

from pathlib import Path

from pyspark.sql import SparkSession
from rich.console import Console
from rich.table import Table

from headgate.bench.flink_bench import CORES, ENVIRONMENT, PACKAGE, install, measure_flink
from headgate.bench.library_bench import measure_library
from headgate.bench.promised_bench import NEAR, measure_promised, promised_table
from headgate.bench.ratio_spread import RatioSpread

ON_DEMAND = ("bytes", "density", "flink", "library", "promised")
STUDIED = ("features", "real")
"""Parts that are studies, see `cli/main.py`."""
FLINK_ROWS = 5_600_000


def show_library(console: Console, rounds: int) -> None:
    """Print how fast the library of machine code is next to what Numba compiles."""
    table = Table(title="The kernel in the library, next to compiled when called; processor time")
    for heading in ("policy", "library, s", "compiled, s", "library takes, times"):
        table.add_column(heading, justify="left" if heading == "policy" else "right")
    for row in measure_library(rounds):
        console.print(f"{row.policy}: {row.ratio} times", highlight=False)
        table.add_row(row.policy, str(row.library), str(row.jit), str(row.ratio))
    console.print(table)


def show_flink(console: Console, rounds: int) -> None:
    """Print how many rows a second Flink's interval join takes."""
    with console.status(f"installing {PACKAGE} in {ENVIRONMENT}"):
        python = install()
    speeds = []
    for number in range(rounds):
        speed = measure_flink(python, FLINK_ROWS)
        speeds.append(speed.rows_per_second)
        console.print(
            f"round {number + 1}: {speed.many[0]:,} rows in {speed.many[1]:.1f} s, "
            f"{speed.few[0]:,} in {speed.few[1]:.1f} s, most of it to start",
            highlight=False,
        )
    console.print(f"Flink's interval join on {CORES} cores, from text files: rows of both sides")
    console.print(f"a second once started: [bold]{RatioSpread.of(speeds)}[/]")


def show_promised(
    console: Console, session: SparkSession, place: Path, data: tuple[Path, ...]
) -> None:
    """Print what streams make within the memory that what-ifs ask for."""
    kept = []
    for line in measure_promised(session, place, data):
        kept.append(line)
        console.print(
            f"{line.stream}, {line.policy.upper()}, {line.batches} batches: {line.recall:.3f}",
            highlight=False,
        )
    console.print(promised_table(kept))
    count = sum(line.is_kept for line in kept)
    console.print(
        f"{count} of {len(kept)} kept: recall within {NEAR} of what was promised, memory within it"
    )
