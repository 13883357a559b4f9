"""The time limit of a seed in campaigns."""

import itertools
import signal
import time

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
