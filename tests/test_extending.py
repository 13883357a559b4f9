"""A kind of score and an index are one file and one line: both are added, and tried."""

import os
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.timeout(1800)
@pytest.mark.parametrize(
    "compiled",
    [
        False,
        # Another kernel is compiled, which takes minutes.
        pytest.param(True, marks=pytest.mark.long),
    ],
    ids=["as plain Python", "compiled"],
)
def test_a_kind_of_score_and_an_index_can_be_added(
    compiled: bool, request: pytest.FixtureRequest
) -> None:
    # What is compiled is kept for the next time, apart from the usual kernel's.
    kept = request.config.cache.mkdir("extension")
    done = subprocess.run(
        [sys.executable, "-c", "from tests.extension import add, check; add(); check()"],
        cwd=Path(__file__).parent.parent,
        env=os.environ
        | {"NUMBA_CACHE_DIR": str(kept), "HEADGATE_KERNEL": "jit" if compiled else "python"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-4000:]
