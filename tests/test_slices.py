"""The time limit of a seed in campaigns."""

import itertools
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.slices import within


def test_a_loop_without_end_fails() -> None:
    with pytest.raises(TimeoutError, match="processor time"), within(0.5):
        any(number < 0 for number in itertools.count())


def test_a_wait_without_end_fails() -> None:
    with pytest.raises(TimeoutError, match="nothing was done"), within(100, idle_s=1):
        time.sleep(3600)


def test_seconds_in_which_a_process_was_stopped_do_not_count() -> None:
    """Signals that are held back come as one, as after a stop."""
    with within(100, idle_s=2):
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGALRM})
        time.sleep(3.2)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGALRM})
        sum(range(1_000_000))


ENDLESS = """
import numpy as np
from headgate.compiling import compiled
from tests.slices import within

@compiled
def follow(links):
    at = 0
    while at >= 0:
        at = links[at]
    return at

with within(1):
    follow(np.zeros(1, np.int64))
"""


def test_machine_code_without_end_ends_the_process_and_says_where(tmp_path: Path) -> None:
    program = tmp_path / "endless.py"
    program.write_text(ENDLESS)
    done = subprocess.run(
        [sys.executable, str(program)],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"PYTHONPATH": str(Path(__file__).parents[1]), "HEADGATE_KERNEL": "jit"},
    )
    assert done.returncode == -signal.SIGPROF
    assert "endless.py" in done.stderr
