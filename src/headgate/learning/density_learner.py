"""Learns match density: what watched rows met in each class of rows, and how long they waited."""

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from headgate.models.density_classes import SHAPE
from headgate.models.match_density import MatchDensity

NEWS = 0.1
"""What must be new, as a part of what is known, to make the model anew: it takes milliseconds."""


class Waiting(NamedTuple):
    """What rows met by class, and how long they waited; None where that is not counted."""

    met: np.ndarray | None = None
    spent_us: np.ndarray | None = None


@dataclass
class DensityLearner:
    """Matches and waiting time by class of row, older ones counting for less.

    Parameters
    ----------
    windows_us
        The sides' windows.
    """

    windows_us: tuple[int, int]
    met: np.ndarray = field(default_factory=lambda: np.zeros(SHAPE))
    spent_us: np.ndarray = field(default_factory=lambda: np.zeros(SHAPE))
    left: float = 1.0
    """What is left of it once more is taken in."""
    _known: MatchDensity | None = None
    """What was learned, until more is; it takes some milliseconds to make."""

    @property
    def knows(self) -> bool:
        """Whether any row was followed."""
        return bool(self.spent_us.any())

    def forget(self, factor: float) -> None:
        """Discount all that was learned by ``factor``, once more is taken in."""
        self.left *= factor

    def take_in(self, epoch: Waiting) -> Waiting:
        """Take in what epochs showed, where it is enough; returns it where it is not.

        In single precision, so that what is written is short.
        """
        if epoch.met is None or epoch.spent_us is None:
            return epoch
        if epoch.spent_us.sum() < NEWS * self.left * self.spent_us.sum():
            return epoch
        self.met, self.spent_us = (
            (self.left * old + new).astype(np.float32).astype(np.float64)
            for old, new in ((self.met, epoch.met), (self.spent_us, epoch.spent_us))
        )
        self.left, self._known = 1.0, None
        return Waiting()

    def density(self) -> MatchDensity:
        """The model, from what was learned so far."""
        if self._known is None:
            self._known = MatchDensity.learned(self.windows_us, self.met, self.spent_us)
        return self._known
