"""Machine code kept on disk is that of the sources as they are now."""

import subprocess
import sys
from pathlib import Path

import pytest

from headgate.compiling.fingerprint import fingerprint
from headgate.kernel.advance import advance

ENTRY = """
from headgate.compiling import Score, call_score, compiled
from parts.helper import step

@compiled
def total(count):
    at = 0
    for _ in range(count):
        at = step(at)
    return at

@Score
def once(at, two, three, parameter):
    return float(step(at))

@compiled
def called(address):
    return call_score(address, 1, 0, 0, 0.0)

print(total(10), int(called(once.address)))
"""
HELPER = """
from headgate.compiling import compiled
from parts.constants import BY

@compiled
def step(at):
    return at + BY
"""
TUPLES = """
from typing import Any, NamedTuple
import numpy as np
from headgate.compiling import compiled

class Inner(NamedTuple):
    grid: Any
    is_on: bool
    weight: float

class Outer(NamedTuple):
    numbers: Any
    own: Any

@compiled
def fill(inner, numbers):
    inner.grid[1, 0] = 7
    for at in range(numbers.size):
        numbers[at] += 1

@compiled
def told(outer, offset):
    inner = outer.own[1]
    fill(inner, outer.numbers)
    return outer.numbers.sum() + offset, inner.is_on, inner.weight

outer = Outer(np.arange(3), ((), Inner(np.zeros((2, 2), np.int64), True, 2.5)))
total, is_on, weight = told(outer, 0)
print(outer.numbers, outer.own[1].grid.ravel(), total, int(is_on), weight)

every_other = Outer(np.arange(6)[::2], ((), Inner(np.zeros((2, 2), np.int64), False, 0.0)))
every_other.numbers[:] -= 1
told(every_other, 0)
print(every_other.numbers)
"""


@pytest.fixture
def parts(tmp_path: Path) -> Path:
    folder = tmp_path / "parts"
    folder.mkdir()
    (folder / "__init__.py").touch()
    (folder / "entry.py").write_text(ENTRY)
    (folder / "helper.py").write_text(HELPER)
    (folder / "constants.py").write_text("BY = 1\n")
    return folder


def run(parts: Path) -> str:
    done = subprocess.run(
        [sys.executable, "-B", "-m", "parts.entry"],
        cwd=parts.parent,
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.strip()


def machine_code(parts: Path) -> dict[str, int]:
    return {path.name: path.stat().st_mtime_ns for path in parts.glob("__pycache__/*.nbc")}


def test_what_has_changed_in_another_file_is_compiled_again_and_nothing_else(parts: Path) -> None:
    assert run(parts) == "10 2"
    before = machine_code(parts)
    assert before
    (parts / "entry.py").write_text(ENTRY + "\n# a comment, and a file with another hash\n")
    assert run(parts) == "10 2"
    assert machine_code(parts) == before
    (parts / "helper.py").write_text(HELPER.replace("at + BY", "at + 2 * BY"))
    (parts / "constants.py").write_text("BY = 3\n")
    assert run(parts) == "60 7", "a helper and a constant have changed"


def test_the_kernel_has_one_fingerprint_in_every_process() -> None:
    ask = (
        "from headgate.compiling.fingerprint import fingerprint\n"
        "from headgate.kernel.advance import advance\n"
        "print(fingerprint(advance))"
    )
    other = subprocess.run(
        [sys.executable, "-c", ask], capture_output=True, text=True, check=True
    ).stdout.strip()
    assert other == fingerprint(advance)


def test_tuples_of_arrays_are_read_and_written_by_reference(parts: Path) -> None:
    (parts / "entry.py").write_text(TUPLES)
    assert run(parts) == "[1 2 3] [0 0 7 0] 6 1 2.5\n[0 2 4]"
