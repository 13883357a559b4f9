"""Parts of the bench that run only when asked for: Numba's compiler, and Flink."""

from rich.console import Console
from rich.table import Table

from headgate.bench.flink_bench import CORES, ENVIRONMENT, PACKAGE, install, measure_flink
from headgate.bench.library_bench import measure_library
from headgate.bench.ratio_spread import Spread

ON_DEMAND = ("flink", "library")
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
    console.print(f"a second once started: [bold]{Spread.of(speeds)}[/]")
