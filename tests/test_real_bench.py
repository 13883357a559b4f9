"""The bench of real and generated streams: what it measures, and what it makes of it."""

import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

from headgate.studies.real import data_package
from headgate.studies.real.data_package import DataPackage
from headgate.studies.real.real_bench import QUICK, STANDARD, MemoryPoint, measure_real, streams
from headgate.studies.real.real_tables import line_of, page_of
from headgate.studies.real.results_file import PolicyResult, ResultsFile, source_hash


def result(policy: str, made: float, settled: float = 0.0) -> PolicyResult:
    return PolicyResult("one", "standard", 2, 0.1, 10, policy, source_hash(policy), made, settled)


def test_there_are_real_streams_of_several_packages_and_generated_ones() -> None:
    every = list(streams(STANDARD, seed=1))
    assert len(every) >= 16
    assert sum(is_real for _, is_real, _ in every) >= 4


def test_a_stream_is_measured_within_its_memory_and_under_its_ceiling(tmp_path: Path) -> None:
    form = replace(QUICK, policies=("auto", "fifo", "prob"), only=("mixed",))
    (point,) = measure_real(form, ResultsFile(tmp_path / "results.csv", resume=False))
    for tried in point.tried.values():
        assert 0 < tried.settled < tried.made <= point.ceiling
    assert point.planned <= point.ceiling <= point.exact.made
    assert point.tried["auto"].followed
    assert "mixed, 10%" in line_of(point)


def test_a_resumed_run_measures_only_what_is_not_in_the_file(tmp_path: Path) -> None:
    path = tmp_path / "results.csv"
    ResultsFile(path, resume=False).add([result("fifo", 5.0, 2.0), result("lru", 6.0)])
    again = ResultsFile(path, resume=True)
    assert again.find("one", "standard", 2, 0.1, "fifo") == result("fifo", 5.0, 2.0)
    assert again.find("one", "standard", 3, 0.1, "fifo") is None
    stale = replace(result("lru", 6.0), source="of other code")
    again.add([stale])
    assert ResultsFile(path, resume=True).find("one", "standard", 2, 0.1, "lru") is None
    assert ResultsFile(path, resume=False).find("one", "standard", 2, 0.1, "fifo") is None


def test_the_page_says_where_auto_is_behind() -> None:
    tried = {
        "auto": result("auto", 90.0, 45.0),
        "fifo": result("fifo", 80.0, 50.0),
        "random": result("random", 100.0, 40.0),
    }
    exact = result("exact", 200.0, 100.0)
    point = MemoryPoint("one", True, 0.1, 10, exact, ceiling=160.0, planned=150.0, tried=tried)
    page = page_of([point])
    assert "| one | 10% | 10 | 0.800 | 0.938 | 0.562 | 0.500 | **0.625** | 0.900 | 0.900 |" in page
    assert "at least 0.99 at 0 of 1 points, worst 0.900 (one, 10%)" in page


def test_a_package_is_opened_without_being_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(data_package, "FOLDER", tmp_path)
    with zipfile.ZipFile(tmp_path / "Some_Data-1.2-py3-none-any.whl", "w") as wheel:
        wheel.writestr("some_data/rows.csv", "a,b\n1,2\n")
    assert DataPackage("some-data", "1.2").table("rows.csv").to_dict("list") == {"a": [1], "b": [2]}
