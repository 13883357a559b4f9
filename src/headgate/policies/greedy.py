"""GREEDY: keep the rows of highest importance."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from headgate.policies.kinds.fixed_score import FixedScore
from headgate.policies.policy import Arrivals


@dataclass(frozen=True)
class Greedy(FixedScore):
    """Evict the row of least importance.

    Nothing else counts: important rows that match nothing stay to the end of their window, and an
    arrival no more important than the least important stored row is refused. Where all rows are
    equally important, the first rows to arrive keep the memory.

    Examples
    --------
    >>> Greedy().label
    'GREEDY'

    References
    ----------
    Kulkarni and Ravishankar, iJoin, section 4.
    """

    name: ClassVar[str] = "greedy"

    @property
    def refuses_equals(self) -> bool:
        """True: among equals the first to arrive stay."""
        return True

    def score(self, arrivals: Arrivals) -> np.ndarray:
        """The importance itself."""
        return np.array(arrivals.importance)
