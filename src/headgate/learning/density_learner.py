"""Learns match density: what watched rows met in each class of rows, and how long they waited."""

from dataclasses import dataclass, field

import numpy as np

from headgate.models.density_classes import SHAPE
from headgate.models.match_density import MatchDensity


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
    _known: MatchDensity | None = None
    """What was learned, until more is; it takes some milliseconds to make."""

    @property
    def knows(self) -> bool:
        """Whether any row was followed."""
        return bool(self.spent_us.any())

    def forget(self, factor: float) -> None:
        """Discount all that was learned by ``factor``."""
        self.met, self.spent_us, self._known = self.met * factor, self.spent_us * factor, None

    def add(self, met: np.ndarray, spent_us: np.ndarray) -> None:
        """Take in an epoch, in single precision, so that what is written is short."""
        self.met, self.spent_us = (
            (old + new).astype(np.float32).astype(np.float64)
            for old, new in ((self.met, met), (self.spent_us, spent_us))
        )
        self._known = None

    def density(self) -> MatchDensity:
        """The model, from what was learned so far."""
        if self._known is None:
            self._known = MatchDensity.learned(self.windows_us, self.met, self.spent_us)
        return self._known
