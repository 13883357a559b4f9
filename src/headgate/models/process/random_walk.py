"""A random walk: every value is the previous one plus a random step."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from headgate.models.process.noise import Noise
from headgate.models.process.process import NEGLIGIBLE, Moment, Now, Process, lattice, steps_ahead
from headgate.models.process.process_fit import NOISES, ProcessFit, fitted_noise, log_chance, whole
from headgate.spec import SpecError

ROWS = 256
"""Steps transformed at a time."""
DUST = 1e-18
"""Probabilities below this are rounding error of the Fourier transform."""


@dataclass(frozen=True)
class RandomWalk(Process):
    """A random walk: X at step t is X at t − 1, plus drift, plus noise.

    A drift that is not whole is shared between the whole numbers around it (`Noise.shifted`). To
    discretise shifted normal noise itself, give the fraction to ``Noise.normal(..., centre=)``.

    Frames are exact, and there is one: the future depends on the offset from the present value.

    Parameters
    ----------
    drift
        Values a step.
    noise
        What else a step adds.
    start
        The value at step 0.

    Examples
    --------
    >>> walk = RandomWalk(1, Noise.of({-1: 0.5, 1: 0.5}))
    >>> walk.chance(np.array([10, 12, 14]), Now(7, 10), np.array([1, 2])).tolist()
    [[0.5, 0.5, 0.0], [0.25, 0.5, 0.25]]

    References
    ----------
    Xie, Yang and Chen, SIGMOD 2005, section 7.5 and Theorem 3.
    """

    drift: float
    noise: Noise
    start: int = 0

    markov: ClassVar[bool] = True
    returns_alike: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if not np.isfinite(self.drift):
            raise SpecError(f"random walk: drift={self.drift!r} is not a finite number")
        if self.start != int(self.start):
            raise SpecError(f"random walk: start={self.start!r} is not a whole number")
        if not isinstance(self.noise, Noise):
            raise SpecError(f"random walk: noise={self.noise!r} is not a Noise: Noise.normal(1)")

    @cached_property
    def step(self) -> Noise:
        """What one step adds: drift and noise together."""
        return self.noise.shifted(self.drift)

    def chance(self, values: np.ndarray, now: Now, ahead: np.ndarray) -> np.ndarray:
        """The distribution of so many steps, by powers of the step's Fourier transform."""
        ahead, offsets = steps_ahead(ahead), lattice(values) - now.value
        if len(ahead) > ROWS:
            blocks = [ahead[first : first + ROWS] for first in range(0, len(ahead), ROWS)]
            return np.vstack([self.chance(values, now, block) for block in blocks])
        low, high = self.spread(Now(0, 0), ahead, DUST)
        # Values are computed modulo the transform's length, which must cover all non-negligible
        # ones.
        size = 1 << int(np.ceil(np.log2(max(int((high - low).max(initial=0)) + 1, 2))))
        size = max(size, 1 << int(np.ceil(np.log2(len(self.step.chances)))))
        summed = np.fft.irfft(self._powers(ahead, size), size)
        place = (offsets - self.step.lowest * ahead[:, None]) % size
        found = np.take_along_axis(summed, place, axis=1)
        inside = (offsets >= low[:, None]) & (offsets <= high[:, None])
        chance: np.ndarray = np.where(inside & (found > DUST), found, 0.0)
        return chance

    def _powers(self, ahead: np.ndarray, size: int) -> np.ndarray:
        """The step's transform to the power of each number of steps."""
        transform = np.fft.rfft(self.step.chances, size)
        if len(ahead) > 1 and np.all(np.diff(ahead) == 1):
            rows = np.broadcast_to(transform, (len(ahead), len(transform))).copy()
            rows[0] = transform ** ahead[0]
            return np.cumprod(rows, axis=0)
        powers: np.ndarray = transform ** ahead[:, None]
        return powers

    def returns(self, values: np.ndarray, step: int, ahead: np.ndarray) -> np.ndarray:
        """The chance to be back: the same for every value."""
        back = self.chance(np.zeros(1, np.int64), Now(step, 0), ahead)
        return np.broadcast_to(back, (len(back), len(values)))

    def simulate(self, steps: int, seed: int) -> np.ndarray:
        """Sums of steps drawn at random, from the start."""
        moves = self.step.sample(max(steps - 1, 0), np.random.default_rng(seed))
        return (self.start + np.concatenate([[0], np.cumsum(moves)])).astype(np.int64)[:steps]

    @classmethod
    def fit(cls, values: Any, noise: str = "normal") -> ProcessFit:
        """The steps' mean and spread.

        Parameters
        ----------
        values
            Whole numbers, one a step.
        noise
            ``"normal"``, ``"uniform"`` within the farthest step, or ``"empirical"``.

        Examples
        --------
        >>> fit = RandomWalk.fit(RandomWalk(2, Noise.normal(1)).simulate(5000, seed=1))
        >>> fit.process.step
        Noise(-8 … 12, mean 1.993, standard deviation 1.038)
        """
        given = whole(values, 3, "random walk")
        moves = np.diff(given)
        drift = int(np.floor(moves.mean() + 0.5))
        found, parameters = fitted_noise(moves - drift, noise, "random walk")
        if noise == NOISES[0]:
            sigma = float(np.sqrt(max(moves.var() - 1 / 12, 1e-2)))
            found = Noise.normal(sigma, centre=float(moves.mean() - drift))
        process = cls(drift, found, int(given[0]))
        rmse = float(np.sqrt(np.mean((moves - process.step.mean) ** 2)))
        return ProcessFit(process, log_chance(process.step.chance(moves)), parameters + 1, rmse)

    def frame(self, step: np.ndarray, value: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """One frame, whose origin is the present value."""
        origin = np.array(value, np.int64)
        return origin, np.zeros(origin.shape, np.int32)

    def moments(self) -> tuple[Moment, ...]:
        """One: the walk at 0."""
        return (Moment(Now(0, 0), 0),)

    def spread(
        self, now: Now, ahead: np.ndarray, negligible: float = NEGLIGIBLE
    ) -> tuple[np.ndarray, np.ndarray]:
        """Chernoff's bound on the sum of so many steps, and no more than steps can add."""
        ahead = steps_ahead(ahead)
        lowest, highest = self.step.lowest * ahead, self.step.highest * ahead
        if self.step.sd == 0:
            return now.value + lowest, now.value + highest
        mean = self.step.mean * ahead
        below, above = (self._deviation(ahead, negligible, sign) for sign in (-1, 1))
        low = np.maximum(lowest, np.floor(mean - below).astype(np.int64))
        high = np.minimum(highest, np.ceil(mean + above).astype(np.int64))
        return now.value + low, now.value + high

    def _deviation(self, ahead: np.ndarray, negligible: float, sign: int) -> np.ndarray:
        """How far from its mean, on one side, a sum of steps is with half a negligible chance."""
        surprise = np.log(2 / negligible)
        tilts = np.geomspace(1e-5, 20, 80) / self.step.sd
        centred = sign * (self.step.offsets - self.step.mean)
        exponents = tilts[:, None] * centred
        most = exponents.max(axis=1)
        growth = most + np.log(np.exp(exponents - most[:, None]) @ self.step.chances)
        bound: np.ndarray = np.full(len(ahead), np.inf)
        for tilt, each in zip(tilts, growth, strict=True):
            np.minimum(bound, (surprise + ahead * each) / tilt, out=bound)
        return bound
