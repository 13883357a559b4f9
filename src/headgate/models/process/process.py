"""The interface of a stochastic process: probabilities of future values, and its frames.

Values are whole numbers on a lattice and time is counted in steps. A stream with finer values
(temperatures in tenths) is scaled to its own units first: the values here are already integers.
"""

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from headgate.models.process.process_fit import ProcessFit

NEGLIGIBLE = 1e-12


class Now(NamedTuple):
    """What is known: the present step and the value seen at it.

    Examples
    --------
    >>> Now(step=7, value=20).value
    20
    """

    step: int
    value: int


class Moment(NamedTuple):
    """A frame of reference from which the future looks the same.

    Values are offsets from ``origin``; ``now`` is one state of the stream in that frame.

    Examples
    --------
    >>> Moment(Now(step=7, value=20), origin=20).origin
    20
    """

    now: Now
    origin: int


class Process(ABC):
    """A process that generates the values of a stream, one per step.

    Subclasses are frozen. `frame` and `moments` say which states of the stream have the same future
    up to a shift of values, so that what is computed once for a moment serves every such state.

    References
    ----------
    Xie, Yang and Chen, On Joining and Caching Stochastic Streams, SIGMOD 2005, sections 3 and 7.
    """

    markov: ClassVar[bool]
    """Whether the future depends on the value seen now; if not, values are independent."""
    returns_alike: ClassVar[bool] = False
    """Whether the chance to see a value again is the same for all values."""

    @abstractmethod
    def chance(self, values: np.ndarray, now: Now, ahead: np.ndarray) -> np.ndarray:
        """The chance of each value at each number of steps ahead (≥ 1), given what is known now.

        Of shape ``(len(ahead), len(values))``: Pr{X at now.step + a is v | history}.
        """

    @abstractmethod
    def simulate(self, steps: int, seed: int) -> np.ndarray:
        """Values drawn from step 0 on, as int64."""

    @classmethod
    @abstractmethod
    def fit(cls, values: Any) -> "ProcessFit":
        """The process of this kind that explains the values best, and how well it does."""

    @abstractmethod
    def frame(self, step: np.ndarray, value: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """For each state of the stream: the origin (int64) and which of `moments` it is (int32)."""

    @abstractmethod
    def moments(self) -> tuple[Moment, ...]:
        """A state of the stream for each frame there is."""

    @abstractmethod
    def spread(
        self, now: Now, ahead: np.ndarray, negligible: float = NEGLIGIBLE
    ) -> tuple[np.ndarray, np.ndarray]:
        """For each step ahead, the lowest and highest value; all others' chance is negligible.

        The chances of all values outside add up to less than ``negligible``.
        """

    def reach(self, horizon: int) -> tuple[int, int]:
        """Offsets from the origin, lowest and highest, that a value may have within the horizon.

        Outside of them no value has a chance worth counting, whichever moment it is: over all the
        steps of the horizon they add up to less than 1e-12.
        """
        ahead = np.arange(1, max(int(horizon), 1) + 1)
        lows, highs = [], []
        for moment in self.moments():
            low, high = self.spread(moment.now, ahead, NEGLIGIBLE / len(ahead))
            lows.append(int(low.min()) - moment.origin)
            highs.append(int(high.max()) - moment.origin)
        return min(lows), max(highs)

    def returns(self, values: np.ndarray, step: int, ahead: np.ndarray) -> np.ndarray:
        """The chance to see each value again so many steps after it was seen at ``step``.

        Of shape ``(len(ahead), len(values))``; the return probabilities of the renewal equation.
        """
        if not self.markov:
            return self.chance(values, Now(step, 0), ahead)
        columns = [
            self.chance(values[[at]], Now(step, int(values[at])), ahead)[:, 0]
            for at in range(len(values))
        ]
        return np.column_stack(columns)

    def settles(self, values: np.ndarray) -> tuple[int, int] | None:
        """From how many steps ahead on probabilities repeat, and with which period.

        ``(steps, period)`` promises that the chances ``a`` and ``a + period`` steps ahead are the
        same for every ``a ≥ steps``, so sums over a long future need not go through all of it.
        None if they do not repeat.
        """
        return None

    def season_length(self) -> int | None:
        """The period of the transition rules, in steps: 1 if they never change.

        None if they are not periodic, or depend on the step alone.
        """
        return 1

    def ends(self, now: Now) -> int | None:
        """How many steps from now the process goes on; None if it never ends."""
        return None


def lattice(values: Any) -> np.ndarray:
    """Values as int64."""
    return np.asarray(values, np.int64)


def steps_ahead(ahead: Any) -> np.ndarray:
    """Steps ahead as int64, all at least 1."""
    steps = np.asarray(ahead, np.int64)
    if steps.ndim != 1 or (len(steps) and steps.min() < 1):
        raise ValueError("steps ahead are counted from 1")
    return steps
