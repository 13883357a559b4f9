"""GREEDY: keep the rows that matter most."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from headgate.policies.kinds.fixed_score import FixedScore
from headgate.policies.policy import Arrivals


@dataclass(frozen=True)
class Greedy(FixedScore):
    """Shed the row of least importance.

    It looks at nothing else: important rows that match nothing stay to the end of their window, and
    an arrival that matters no more than the least of them is refused. Where all rows matter alike,
    memory belongs to the first comers.

    Examples
    --------
    >>> Greedy().label
    'GREEDY'

    References
    ----------
    Kulkarni and Ravishankar, iJoin, section 4.
    """

    name: ClassVar[str] = "greedy"
    refuses_equals: ClassVar[bool] = True

    def score(self, arrivals: Arrivals) -> np.ndarray:
        """The importance itself."""
        return np.array(arrivals.importance)
