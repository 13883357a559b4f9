"""Pacing of bounded inputs, in event time."""

from time import process_time
from typing import Protocol

import numpy as np

from headgate.pacing.pacer import Admitted, Pacer, PaceState, Passed


class Pacing(Protocol):
    """Keeps steps within the CPU budget: call `admit` before a step and `done` after it."""

    def admit(self, seed: int, came: tuple[np.ndarray, np.ndarray], span_s: float) -> Admitted:
        """Which rows there is time to look at, told by a number each, and how much work they may
        bring; ``span_s`` is the event time they cover."""
        ...

    def done(self, passed: Passed) -> None:
        """Record what the step did."""
        ...


class EventPacing:
    """Gives steps the time that their rows cover, and measures what they take of the processor.

    Parameters
    ----------
    pacer
        Decides how much work a step may do.
    before_row_s
        Processor time already taken for each row.
    """

    def __init__(self, pacer: Pacer, before_row_s: float = 0.0) -> None:
        self._pacer, self._before_row_s = pacer, before_row_s
        self._state = PaceState()
        self._began: float | None = None
        self._came, self._span_s = 0, 0.0

    def admit(self, seed: int, came: tuple[np.ndarray, np.ndarray], span_s: float) -> Admitted:
        """Which rows there is time to look at, and how much work they may bring."""
        self._began = process_time() if self._began is None else self._began
        self._came, self._span_s = len(came[0]) + len(came[1]), span_s
        return self._pacer.admit(self._state, seed, came, span_s, elapsed_s=span_s)

    def done(self, passed: Passed) -> None:
        """Take in what the step did, and what it took."""
        now = process_time()
        assert self._began is not None
        seconds = now - self._began + self._came * self._before_row_s
        passed = passed._replace(seconds=seconds)
        self._state = self._pacer.after(self._state, passed, self._span_s, self._span_s)
        self._began = now

    def least_s(self) -> float:
        """How much time a step should cover at least, for its own cost to be a small part."""
        return self._pacer.least_s(self._state)
