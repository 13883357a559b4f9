"""A stream of independent values from a distribution that never changes."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from headgate.models.process.noise import Noise, dense
from headgate.models.process.process import NEGLIGIBLE, Moment, Now, Process, lattice, steps_ahead
from headgate.models.process.process_fit import ProcessFit, log_chance, whole
from headgate.spec import SpecError


@dataclass(frozen=True, eq=False)
class Stationary(Process):
    """Independent values, each with the same chance at every step.

    Parameters
    ----------
    chances
        A mapping of value to chance, or the chances of values from ``lowest`` on; scaled to 1.
    lowest
        The first value, when chances are a list.

    Examples
    --------
    >>> Stationary({3: 0.75, 5: 0.25}).chance(np.array([3, 4, 5]), Now(0, 3), np.array([9]))
    array([[0.75, 0.  , 0.25]])

    References
    ----------
    Xie, Yang and Chen, SIGMOD 2005, section 7.2.
    """

    chances: Any
    lowest: int = 0

    markov: ClassVar[bool] = False

    def __post_init__(self) -> None:
        chances, lowest = self.chances, self.lowest
        if isinstance(chances, Mapping):
            if lowest != 0:
                raise SpecError("stationary: a mapping names its values itself; leave lowest out")
            chances, lowest = dense(chances, "stationary")
        noise = Noise(chances, lowest)
        object.__setattr__(self, "chances", noise.chances)
        object.__setattr__(self, "lowest", noise.lowest)

    @property
    def distribution(self) -> Noise:
        """The distribution of values."""
        return Noise(self.chances, self.lowest)

    def chance(self, values: np.ndarray, now: Now, ahead: np.ndarray) -> np.ndarray:
        """The same at every step."""
        once = self.distribution.chance(lattice(values))
        return np.tile(once, (len(steps_ahead(ahead)), 1))

    def simulate(self, steps: int, seed: int) -> np.ndarray:
        """Independent draws."""
        return self.distribution.sample(steps, np.random.default_rng(seed))

    @classmethod
    def fit(cls, values: Any) -> ProcessFit:
        """The shares of the values.

        Examples
        --------
        >>> Stationary.fit([1, 2, 1, 1]).process.chances.tolist()
        [0.75, 0.25]
        """
        given = whole(values, 2, "stationary")
        found, counts = np.unique(given, return_counts=True)
        process = cls(dict(zip(found.tolist(), counts.tolist(), strict=True)))
        distribution = process.distribution
        likelihood = log_chance(distribution.chance(given[1:]))
        rmse = float(np.sqrt(np.mean((given[1:] - distribution.mean) ** 2)))
        return ProcessFit(process, likelihood, len(found) - 1, rmse)

    def frame(self, step: np.ndarray, value: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """One frame, whose origin is 0."""
        return np.zeros(np.shape(step), np.int64), np.zeros(np.shape(step), np.int32)

    def moments(self) -> tuple[Moment, ...]:
        """One: the future is the same from everywhere."""
        return (Moment(Now(0, self.lowest), 0),)

    def spread(
        self, now: Now, ahead: np.ndarray, negligible: float = NEGLIGIBLE
    ) -> tuple[np.ndarray, np.ndarray]:
        """All values there are."""
        steps = len(steps_ahead(ahead))
        highest = self.lowest + len(self.chances) - 1
        return np.full(steps, self.lowest), np.full(steps, highest)

    def settles(self, values: np.ndarray) -> tuple[int, int] | None:
        """At once."""
        return 1, 1

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Stationary):
            return NotImplemented
        return self.distribution == other.distribution

    def __hash__(self) -> int:
        return hash(self.distribution)

    def __repr__(self) -> str:
        highest = self.lowest + len(self.chances) - 1
        return f"Stationary({self.lowest} … {highest})"
