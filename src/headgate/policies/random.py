"""RANDOM: keep a uniform random sample of the rows in the windows."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from headgate.policies.chance import uniform
from headgate.policies.kinds.fixed_score import FixedScore
from headgate.policies.policy import Arrivals


@dataclass(frozen=True)
class Random(FixedScore):
    """Evict a row at random: every row in the windows is equally likely to be kept.

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

    name: ClassVar[str] = "random"
    caches: ClassVar[bool] = True
    by_lot: ClassVar[bool] = True

    def score(self, arrivals: Arrivals) -> np.ndarray:
        """A random rank."""
        return uniform(self.seed, arrivals.side, arrivals.sequence)
