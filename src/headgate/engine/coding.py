"""Coding: turns the rows of a join into the numbers that a step takes."""

from typing import Generic, Protocol

import numpy as np

from headgate.engine.learned_step import LearnedStep
from headgate.engine.placed_rows import Placed, PlacedRows, Screened
from headgate.kernel.step_input import StepInput
from headgate.kernel.terms import Terms
from headgate.learning.learner import Learner


class Coding(Protocol[Placed]):
    """Gives rows their key codes in each step."""

    @property
    def learner(self) -> Learner | None:
        """What learns from the steps; None where nothing does."""
        ...

    def begin(
        self,
        terms: Terms,
        stored: tuple[Placed, Placed],
        arriving: tuple[Screened[Placed], Screened[Placed]],
    ) -> StepInput:
        """The rows of a step as input for the kernel."""
        ...

    def end(self) -> LearnedStep | None:
        """After the learner has seen the step: what was learned, to be kept."""
        ...


class FixedCoding(Generic[Placed]):
    """Coding for rows whose codes are fixed in advance."""

    def __init__(
        self, codes: int, learner: Learner | None = None, hashes: np.ndarray | None = None
    ) -> None:
        self._codes, self.learner, self._hashes = codes, learner, hashes

    def begin(
        self,
        terms: Terms,
        stored: tuple[PlacedRows, PlacedRows],
        arriving: tuple[Screened[PlacedRows], Screened[PlacedRows]],
    ) -> StepInput:
        """The rows as they are."""
        (left, right), (new_left, new_right) = stored, (arriving[0].rows, arriving[1].rows)
        return StepInput(
            terms,
            (left.rows, right.rows),
            (new_left.rows, new_right.rows),
            self._codes,
            hashes=self._hashes,
        )

    def end(self) -> None:
        """Nothing to return: the learner itself keeps its state."""
