"""The bench of batches goes on where it was cut short, and its page says what was measured."""

import json
from dataclasses import asdict
from pathlib import Path

import pytest
from rich.console import Console

from headgate.bench.batch_sizes import PEER, SIZES, UNCUT, Batches, first_files, runs
from headgate.bench.batches_command import NOTED, check_sizes, show_batches
from headgate.bench.batches_page import PAGE
from headgate.bench.bench_workload import BenchWorkload
from headgate.spec import SpecError


def test_what_is_noted_is_not_measured_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    NOTED.parent.mkdir()
    planned = runs(2, (10_000,))
    *made, last = planned
    assert last.name == UNCUT
    with NOTED.open("w") as file:
        for run in made:
            took = 800.0 if run.name == PEER else 400.0
            batches = Batches(first=3000, early=900, steady=took + 100 * run.round, empty=None)
            file.write(json.dumps({**run._asdict(), **asdict(batches)}) + "\n")
    monkeypatch.setitem(SIZES, 10_000, 2)  # only DuckDB is left to run
    show_batches(Console(quiet=True), 2, (10_000,), resume=True)
    page = PAGE.read_text()
    assert len(NOTED.read_text().splitlines()) == len(planned)
    assert "| Headgate | 3,000 |  | 900 | 450 (400 to 500) | 1.9 (1.8 to 2) |" in page
    assert UNCUT in page


def test_sizes_that_are_not_measured_are_refused() -> None:
    assert check_sizes(()) == tuple(SIZES)
    with pytest.raises(SpecError, match="--size 5"):
        check_sizes((5,))


def test_a_slow_contender_gets_the_first_files_of_the_same_workload(tmp_path: Path) -> None:
    BenchWorkload((10,) * 5).write(tmp_path)
    chosen = first_files(tmp_path, 3)
    for side in ("left", "right"):
        files = sorted((chosen / side).iterdir())
        assert [path.name for path in files] == ["00000.parquet", "00001.parquet", "00002.parquet"]
        assert files[2].samefile(tmp_path / side / "00002.parquet")
