"""Wide rows, many results and large batches: memory stays within bounds, in Java and in Python."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console
from rich.table import Table

from headgate.spark.worker_memory import WORKER_BYTES
from tests.spark.own_processes import own_environment
from tests.spark.quick_settings import QUICK_MACHINE
from tests.thoroughness import usually

SCRIPT = Path(__file__).with_name("in_one_gigabyte.py")
BUDGET_BYTES = 128_000_000
PATIENCE_SECONDS = 1_800
RESULTS = {
    "many-results": (150**2, 20_000),
    "wide-arrivals": (12_000, 16_000),
    "widest-rows": (16**2, 1_000_000),
}
"""Of each width: how many rows, of how many bytes."""
WIDTHS = tuple(RESULTS)

pytestmark = pytest.mark.spark


@pytest.mark.parametrize("widths", usually((), (WIDTHS[2:], WIDTHS), ", ".join))
def test_any_fan_out_and_width_of_rows_passes_in_sparks_default_memory(
    widths: tuple[str, ...], tmp_path: Path
) -> None:
    """150 × 150 results of 40 kB, 2 × 12,000 arrivals of 16 kB, 16 × 16 results of 2 MB."""
    said = run_in_one_gigabyte(tmp_path, "stream", *widths)
    wanted = [RESULTS[width] for width in widths]
    assert said["stream"] == [figure for rows, width in wanted for figure in (rows, rows * width)]
    assert said["worker"] <= BUDGET_BYTES + WORKER_BYTES


@pytest.mark.long
def test_so_it_does_in_bounded_joins_and_lookups(tmp_path: Path) -> None:
    said = run_in_one_gigabyte(tmp_path, "batch", "lookup", *WIDTHS)
    every = RESULTS.values()
    total = [sum(rows for rows, _ in every), sum(rows * width for rows, width in every)]
    assert said["batch"] == total
    assert said["lookup"] == [600, 600 * 1_000_000]
    assert said["worker"] <= BUDGET_BYTES + WORKER_BYTES


@pytest.mark.slow
def test_a_skewed_join_of_hundreds_of_millions_of_results_runs_to_its_end(tmp_path: Path) -> None:
    said = run_in_one_gigabyte(tmp_path, "skewed:20 seconds")
    table = Table(title="a skewed join in 1 GB")
    for heading in said["skewed"][0]:
        table.add_column(heading, justify="right")
    for point in said["skewed"]:
        table.add_row(*(f"{figure:,}" for figure in point.values()))
    Console(width=100).print(table)
    assert sum(point["pairs"] for point in said["skewed"]) > 300_000_000
    assert said["worker"] <= 64_000_000 + WORKER_BYTES


def run_in_one_gigabyte(folder: Path, *parts: str) -> dict[str, Any]:
    """What the script says of these parts."""
    done = subprocess.run(
        [sys.executable, str(SCRIPT), str(folder), *parts],
        env=own_environment() | QUICK_MACHINE,
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    said: dict[str, Any] = json.loads((folder / "said.json").read_text())
    assert said["heap"] <= 1 << 30
    return said
