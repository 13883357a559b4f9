"""The best predetermined sequence of replacements, for benefits that are known or expected."""

from typing import NamedTuple

import numpy as np

from headgate.policies.offline.planned import NOT_KEPT
from headgate.policies.offline.row_chains import plan_chains
from headgate.spec import SpecError


class Sequence(NamedTuple):
    """Which rows to hold until when, and what to expect of that."""

    value: float
    until: np.ndarray
    """The last moment at which each row is held; -1 where it is not stored at all."""

    @property
    def stored(self) -> np.ndarray:
        """Whether each row is stored at all."""
        stored: np.ndarray = self.until != NOT_KEPT
        return stored


def best_sequence(arrives: np.ndarray, benefits: np.ndarray, memory: int) -> Sequence:
    """The sequence of decisions, all made now, with the greatest expected benefit.

    Moments count from 0, which is now; candidates that are stored or have just come arrive at 0.

    Parameters
    ----------
    arrives
        The moment at which each row comes.
    benefits
        By row and moment, what holding the row at that moment is expected to make. Counts only
        after the row has come.
    memory
        How many rows fit after each moment.

    Examples
    --------
    A row worth 0.8 twice, against one worth 1 and then replaced by one worth 0.5:

    >>> benefits = np.array([[0, 0.0, 0.8, 0.8], [0, 1.0, 0.0, 0.0], [0, 0.0, 0.5, 0.0]])
    >>> best_sequence(np.array([0, 0, 1]), benefits, memory=1)
    Sequence(value=1.6, until=array([ 3, -1, -1]))

    References
    ----------
    The question that FlowExpect asks at each step: Xie, Yang, Chen, SIGMOD 2005, section 4.
    """
    if benefits.ndim != 2 or len(arrives) != len(benefits) or not np.all(benefits >= 0):
        raise SpecError(
            f"benefits of shape {benefits.shape} for {len(arrives)} rows are not accepted: give a "
            f"number for each row and moment, from 0 on"
        )
    row, moment = np.nonzero(benefits)
    later = moment > arrives[row]
    row, moment = row[later], moment[later]
    plan = plan_chains(arrives, row, moment, benefits[row, moment], memory)
    return Sequence(plan.gain, plan.end)
