"""Base of autoregressive processes: a normal future around a mean that depends on the present.

The process itself is real; values are seen rounded to the lattice. The present value is taken as
the real one, which is as good as exact where the noise is wider than the lattice.
"""

from abc import abstractmethod
from functools import cached_property
from typing import ClassVar

import numpy as np

from headgate.models.process.noise import normal_chance, stretch_chances
from headgate.models.process.process import NEGLIGIBLE, Moment, Now, Process, lattice, steps_ahead

FARTHEST = 5.0
"""Standard deviations from the mean up to which present values have moments of their own."""
EXACT = 1e-15


class Gaussian(Process):
    """X at t is m(t) + φ (X at t − 1 − m(t − 1)) + normal noise, with m periodic."""

    markov: ClassVar[bool] = True
    most_presents: ClassVar[int]

    phi: float
    sigma: float

    @abstractmethod
    def mean(self, step: np.ndarray) -> np.ndarray:
        """What the value is at each step in the long run, on average."""

    @abstractmethod
    def season_length(self) -> int:
        """The period of the mean, in steps."""

    @abstractmethod
    def _seasons(self) -> np.ndarray:
        """The steps of the period that have moments of their own."""

    @property
    def sd(self) -> float:
        """The standard deviation of values in the long run, around their mean."""
        return float(self.sigma / np.sqrt(1 - self.phi**2))

    def future(
        self, step: int, value: np.ndarray, ahead: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Mean and standard deviation so many steps ahead; a row a step, a column a value."""
        ahead = steps_ahead(ahead)
        leaning = self.phi ** ahead.astype(np.float64)
        deviation = np.asarray(value, np.float64) - self.mean(np.array([step]))
        mean = self.mean(step + ahead)[:, None] + leaning[:, None] * deviation
        return mean, (self.sd * np.sqrt(1 - leaning**2))[:, None]

    def chance(self, values: np.ndarray, now: Now, ahead: np.ndarray) -> np.ndarray:
        """The normal probability of the interval that rounds to each value."""
        mean, sd = self.future(now.step, np.array([now.value]), ahead)
        values = lattice(values)
        if len(values) > 1 and np.all(np.diff(values) == 1):
            return stretch_chances(values[0] - mean[:, 0], sd[:, 0], len(values))
        return normal_chance(values - mean, sd)

    def returns(self, values: np.ndarray, step: int, ahead: np.ndarray) -> np.ndarray:
        """The same for each value after itself."""
        values = lattice(values)
        mean, sd = self.future(step, values, ahead)
        return normal_chance(values - mean, sd)

    def simulate(self, steps: int, seed: int) -> np.ndarray:
        """The real process from its long-run distribution on, rounded."""
        noise = np.random.default_rng(seed).standard_normal(steps)
        deviation, real = 0.0, np.empty(steps)
        for step in range(steps):
            deviation = self.phi * deviation + (self.sigma if step else self.sd) * noise[step]
            real[step] = deviation
        rounded: np.ndarray = np.floor(real + self.mean(np.arange(steps)) + 0.5).astype(np.int64)
        return rounded

    def frame(self, step: np.ndarray, value: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The nearest moment, shifted so that what is expected at the next step is the same.

        Where φ is negative deviations change sign every step, and no shift is right for long: the
        moment is taken as it is, shifted with the season alone.
        """
        step, value = np.asarray(step, np.int64), np.asarray(value, np.int64)
        season = self._nearest_season[step % self.season_length()]
        mean = self.mean(step)
        presents = self._presents
        at = np.searchsorted((presents[1:] + presents[:-1]) / 2, value - mean)
        moment = season * len(presents) + at
        chosen, origin = self._moment_deviations[moment], self._moment_origins[moment]
        moved = mean - self._moment_means[moment] + max(self.phi, 0.0) * (value - mean - chosen)
        return origin + np.floor(moved + 0.5).astype(np.int64), moment.astype(np.int32)

    def moments(self) -> tuple[Moment, ...]:
        """Present values in a grid, for each of some seasons."""
        made = []
        for step in self._seasons():
            mean = float(self.mean(np.array([step]))[0])
            origin = int(np.floor(mean + 0.5))
            made += [
                Moment(Now(int(step), int(np.floor(mean + present + 0.5))), origin)
                for present in self._presents
            ]
        return tuple(made)

    def spread(
        self, now: Now, ahead: np.ndarray, negligible: float = NEGLIGIBLE
    ) -> tuple[np.ndarray, np.ndarray]:
        """The normal distribution cut at its tails."""
        mean, sd = self.future(now.step, np.array([now.value]), ahead)
        from scipy.special import ndtri  # slow to import

        wide = -ndtri(negligible / 2) * sd[:, 0] + 0.5
        low, high = np.floor(mean[:, 0] - wide), np.ceil(mean[:, 0] + wide)
        return low.astype(np.int64), high.astype(np.int64)

    def settles(self, values: np.ndarray) -> tuple[int, int] | None:
        """When the dependence on the present value is negligible."""
        if self.phi == 0:
            return 1, self.season_length()
        means = self.mean(np.arange(self.season_length()))
        present = lattice(values)
        farthest = self.sd
        if len(present):
            farthest = max(present.max() - means.min(), means.max() - present.min(), self.sd)
        steps = np.log(EXACT * self.sd / farthest) / np.log(abs(self.phi))
        return int(np.ceil(steps)) + 1, self.season_length()

    @cached_property
    def _presents(self) -> np.ndarray:
        """Deviations from the mean that have moments of their own."""
        wide = FARTHEST * self.sd
        whole = 2 * int(np.ceil(wide)) + 1
        if whole <= self.most_presents:
            return np.arange(whole) - (whole - 1) / 2
        return np.linspace(-wide, wide, self.most_presents)

    @cached_property
    def _nearest_season(self) -> np.ndarray:
        """For each step of the period, which of the seasons with moments is nearest."""
        period, seasons = self.season_length(), self._seasons()
        apart = np.abs(np.arange(period)[:, None] - seasons)
        nearest: np.ndarray = np.minimum(apart, period - apart).argmin(axis=1)
        return nearest

    @cached_property
    def _moment_means(self) -> np.ndarray:
        return self.mean(np.array([moment.now.step for moment in self.moments()]))

    @cached_property
    def _moment_deviations(self) -> np.ndarray:
        values = np.array([moment.now.value for moment in self.moments()])
        deviations: np.ndarray = values - self._moment_means
        return deviations

    @cached_property
    def _moment_origins(self) -> np.ndarray:
        return np.array([moment.origin for moment in self.moments()], np.int64)


def check_phi(phi: float, sigma: float, what: str) -> str | None:
    """What is wrong with the parameters, if anything."""
    if not (np.isfinite(phi) and abs(phi) < 1):
        return f"{what}: phi={phi!r} is not between −1 and 1; where it is 1, use RandomWalk"
    if not (np.isfinite(sigma) and sigma > 0):
        return f"{what}: sigma={sigma!r} is not a positive number"
    return None
