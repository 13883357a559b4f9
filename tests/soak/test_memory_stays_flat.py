"""A long stream through a small budget: nothing grows after warm-up. Prints the curve."""

from pathlib import Path
from typing import Any

import psutil
import pytest
from rich.console import Console
from rich.table import Table

from headgate.bench.bench_workload import BenchWorkload
from headgate.bench.contenders import headgate
from headgate.bench.spark_measurement import measure
from headgate.spec import Budget

ROWS_A_BATCH = 200_000


def worker_bytes() -> int:
    """Memory of the Python workers that is theirs alone (mapped files can be given back)."""
    own = psutil.Process()
    total = 0
    for child in own.children(recursive=True):
        try:
            if "python" in child.name():
                total += child.memory_full_info().uss
        except psutil.NoSuchProcess:
            continue
    return total


def run_and_watch(spark: Any, folder: Path, rows: int, budget: Budget) -> list[dict[str, int]]:
    """The curve: after each batch, rows so far, workers' memory and state."""
    BenchWorkload((ROWS_A_BATCH // 2,) * (rows // ROWS_A_BATCH), keys=1_000_000).write(folder)
    frame = headgate(budget, "random", window="30 minutes")(
        spark, folder / "left", folder / "right"
    )
    curve: list[dict[str, int]] = []

    def note(progress: dict[str, Any]) -> None:
        figures = progress["observedMetrics"]["headgate"]
        curve.append(
            {
                "rows": (curve[-1]["rows"] if curve else 0) + progress["numInputRows"],
                "workers": worker_bytes(),
                "held": figures["held_bytes"],
                "stored": figures["stored_rows"],
                "store": sum(o["memoryUsedBytes"] for o in progress["stateOperators"]),
            }
        )

    measure(frame, folder / "checkpoint", note, most_seconds=3_000)
    return curve


def show(curve: list[dict[str, int]]) -> None:
    table = Table(title="memory along the stream")
    for heading in ("rows", "workers MB", "held MB", "stored rows", "state store MB"):
        table.add_column(heading, justify="right")
    for point in curve[:: max(len(curve) // 25, 1)]:
        table.add_row(
            f"{point['rows']:,}",
            f"{point['workers'] / 1e6:.0f}",
            f"{point['held'] / 1e6:.2f}",
            f"{point['stored']:,}",
            f"{point['store'] / 1e6:.1f}",
        )
    Console(width=100).print(table)


def assert_flat(curve: list[dict[str, int]], budget: Budget) -> None:
    third = len(curve) // 3
    assert third >= 2, "too few batches to tell"
    for figure in ("workers", "held", "store"):
        middle = max(point[figure] for point in curve[third : 2 * third])
        last = max(point[figure] for point in curve[2 * third :])
        assert last <= 1.15 * middle + 8e6, f"{figure} grew from {middle:,} to {last:,}"
    assert budget.memory is not None
    assert max(point["held"] for point in curve) <= budget.memory


@pytest.mark.spark
@pytest.mark.long
def test_memory_stays_flat_on_a_million_rows_and_more(spark: Any, tmp_path: Path) -> None:
    budget = Budget(memory="4 MB")
    curve = run_and_watch(spark, tmp_path, 1_400_000, budget)
    show(curve)
    assert_flat(curve, budget)


@pytest.mark.slow
@pytest.mark.spark
def test_memory_stays_flat_on_ten_million_rows(spark: Any, tmp_path: Path) -> None:
    """One percent of the 3.6 million rows that are in the windows at any time."""
    budget = Budget(memory=36_000 * 110)
    curve = run_and_watch(spark, tmp_path, 10_000_000, budget)
    show(curve)
    assert_flat(curve, budget)
