"""Two processes that share the tests out run each of them once, and say so if one fails."""

import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parents[1]
CONFTEST = "from tests.sharing_out import share_out as pytest_configure\n"
TEST = """
import pathlib, time
import pytest

@pytest.mark.parametrize("number", range(3))
{mark}
def test_it(number):
    time.sleep(0.02)
    with pathlib.Path("ran").open("a") as ran:
        ran.write(f"{name} {{number}}\\n")
    assert {holds}
"""
FILES = 8


def shared_out(folder: Path, broken: int | None = None) -> tuple[Counter[str], list[int]]:
    """What ran in two processes over files of which one may be broken, and how both ended."""
    (folder / "claims").mkdir(parents=True)
    (folder / "conftest.py").write_text(CONFTEST)
    (folder / "pytest.ini").write_text("[pytest]\nmarkers =\n    spark: of the last files\n")
    for place in range(FILES):
        mark = "@pytest.mark.spark" if place >= FILES // 2 else ""
        test = TEST.format(name=place, mark=mark, holds=place != broken)
        (folder / f"test_{place}.py").write_text(test)
    both = [
        subprocess.Popen(
            [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"],
            cwd=folder,
            env={
                **os.environ,
                "PYTHONPATH": str(ROOT),
                "HEADGATE_CLAIMS": str(folder / "claims"),
                "HEADGATE_TESTS_FROM": start,
            },
            stdout=subprocess.DEVNULL,
        )
        for start in ("beginning", "end")
    ]
    ended = [process.wait(120) for process in both]
    return Counter((folder / "ran").read_text().splitlines()), ended


def test_every_test_runs_in_one_of_them(tmp_path: Path) -> None:
    ran, ended = shared_out(tmp_path)
    assert ran == Counter(f"{place} {number}" for place in range(FILES) for number in range(3))
    assert ended == [0, 0]


def test_a_failure_is_that_of_the_process_that_ran_it(tmp_path: Path) -> None:
    ran, ended = shared_out(tmp_path, broken=5)
    assert ran.total() == 3 * FILES
    assert sorted(ended) == [0, 1]
