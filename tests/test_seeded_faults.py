"""Faults that tools put into the code are still possible: each names a line that is there once."""

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
sys.path.append(str(ROOT / "tools"))

from seed_faults import FAULTS, Fault  # noqa: E402
from seed_mutants import MUTANTS  # noqa: E402


@pytest.mark.parametrize("fault", [*FAULTS.values(), *MUTANTS.values()], ids=[*FAULTS, *MUTANTS])
def test_the_line_is_there_once(fault: Fault) -> None:
    text = (ROOT / "src" / "headgate" / fault.file).read_text()
    assert text.count(fault.old) == 1
