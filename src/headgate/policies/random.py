"""RANDOM: keep a uniform random sample of the rows in the windows."""

from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np

from headgate.policies.chance import uniform
from headgate.policies.kinds.fixed_score import FixedScore
from headgate.policies.policy import ONLY_PAIRS, Arrivals
from headgate.policies.row_yields import LEAST_SCORE
from headgate.spec import Brings, How, Window


@dataclass(frozen=True)
class Random(FixedScore):
    """Evict a row at random: every row in the windows is equally likely to be kept.

    In an anti join every left row: the others bring nothing, and are stored where room is left.

    Parameters
    ----------
    seed
        Same seed, same input: same rows kept, restarts included.

    Examples
    --------
    >>> Random(seed=7).label
    'RANDOM'
    """

    seed: int = 0
    brings: tuple[Brings, Brings] = field(default=ONLY_PAIRS, repr=False)

    name: ClassVar[str] = "random"
    caches: ClassVar[bool] = True
    by_lot: ClassVar[bool] = True

    def serving(self, how: How, windows: tuple[Window, Window]) -> "Random":
        """The same, for rows that bring something."""
        return replace(self, brings=how.brings)

    def score(self, arrivals: Arrivals) -> np.ndarray:
        """A random rank."""
        rank = uniform(self.seed, arrivals.side, arrivals.sequence)
        if Brings.NOTHING not in self.brings:
            return rank
        brings: np.ndarray = np.array(self.brings)[arrivals.side]
        return np.where(brings == Brings.NOTHING, LEAST_SCORE, rank)
