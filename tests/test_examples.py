"""The examples run as they are."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parent.parent / "examples"


@pytest.mark.spark
def test_a_sampled_average_comes_with_an_interval() -> None:
    script = EXAMPLES / "sampled_average.py"
    done = subprocess.run(
        [sys.executable, str(script), "--rows", "60000"],
        capture_output=True,
        text=True,
        check=True,
        timeout=300,
    )
    covered, windows = map(int, re.search(r"in (\d+) of (\d+) windows", done.stdout).groups())
    assert windows >= 6
    assert covered >= windows - 2
