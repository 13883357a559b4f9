"""A linear trend: independent values around a line."""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from headgate.models.process.noise import Noise
from headgate.models.process.process import NEGLIGIBLE, Moment, Now, Process, lattice, steps_ahead
from headgate.models.process.process_fit import ProcessFit, fitted_noise, log_chance, whole
from headgate.spec import SpecError

PHASES = 64
SEARCHED = 8192
ROUNDING = 1e-9


@dataclass(frozen=True)
class LinearTrend(Process):
    """Independent noise around a line: X at step t is slope · t + intercept, rounded, plus noise.

    Halves are rounded up, so that a line of whole slope looks the same from every step.

    Frames are exact where the slope is a fraction with a denominator of at most 64: one for every
    step until the line meets the lattice in the same way again, hence one for a whole slope. For
    other slopes the fraction of the line is rounded to 64 phases; the line of a moment is then off
    by one value at no more than one step in 64.

    Parameters
    ----------
    slope, intercept
        The line, in values a step and at step 0.
    noise
        How far values fall from it.

    Examples
    --------
    >>> trend = LinearTrend(1, -1, Noise.uniform(1))
    >>> trend.chance(np.array([4, 5, 8]), Now(5, 4), np.array([1, 2])).round(3).tolist()
    [[0.333, 0.333, 0.0], [0.0, 0.333, 0.0]]
    >>> trend.frame(np.array([5]), np.array([4])), len(trend.moments())
    ((array([4]), array([0], dtype=int32)), 1)

    References
    ----------
    Xie, Yang and Chen, SIGMOD 2005, sections 7.3 and 7.4.
    """

    slope: float
    intercept: float
    noise: Noise

    markov: ClassVar[bool] = False

    def __post_init__(self) -> None:
        for name, number in (("slope", self.slope), ("intercept", self.intercept)):
            if not np.isfinite(number):
                raise SpecError(f"linear trend: {name}={number!r} is not a finite number")
        if not isinstance(self.noise, Noise):
            raise SpecError(f"linear trend: noise={self.noise!r} is not a Noise: Noise.uniform(10)")

    def line(self, step: np.ndarray) -> np.ndarray:
        """The line on the lattice at each step."""
        # A half that a rounding error has put below the half must go up like any other.
        exact = self.slope * np.asarray(step, np.float64) + self.intercept
        line: np.ndarray = np.floor(exact + 0.5 + ROUNDING).astype(np.int64)
        return line

    def chance(self, values: np.ndarray, now: Now, ahead: np.ndarray) -> np.ndarray:
        """The chance of the noise that the value takes."""
        centre = self.line(now.step + steps_ahead(ahead))
        return self.noise.chance(lattice(values) - centre[:, None])

    def simulate(self, steps: int, seed: int) -> np.ndarray:
        """The line with noise drawn for each step."""
        noise = self.noise.sample(steps, np.random.default_rng(seed))
        values: np.ndarray = self.line(np.arange(steps)) + noise
        return values

    @classmethod
    def fit(cls, values: Any, noise: str = "normal") -> ProcessFit:
        """The line of least squares; a slope that may well be whole is taken to be whole.

        Parameters
        ----------
        values
            Whole numbers, one a step.
        noise
            ``"normal"``, ``"uniform"`` within the farthest residual, or ``"empirical"``.

        Examples
        --------
        >>> true = LinearTrend(1, -3, Noise.normal(3.3, 10))
        >>> LinearTrend.fit(true.simulate(5000, seed=1)).process
        LinearTrend(slope=1.0, intercept=-3.02..., noise=Noise(-29 … 29, mean 0, ... 3.28))
        """
        given = whole(values, 3, "linear trend")
        step = np.arange(len(given))
        centred = step - step.mean()
        slope = float(centred @ given / (centred @ centred))
        off = given - given.mean() - slope * centred
        error = float(np.sqrt(off @ off / (len(given) - 2) / (centred @ centred)))
        if abs(slope - np.rint(slope)) <= 2 * error:
            slope = float(np.rint(slope)) + 0.0  # never −0
        intercept = float(given.mean() - slope * step.mean())
        bare = cls(slope, intercept, Noise.uniform(0))
        residuals = given - bare.line(step)
        found, parameters = fitted_noise(residuals, noise, "linear trend")
        likelihood = log_chance(found.chance(residuals[1:]))
        rmse = float(np.sqrt(np.mean((residuals[1:] - found.mean) ** 2)))
        return ProcessFit(cls(slope, intercept, found), likelihood, parameters + 2, rmse)

    def frame(self, step: np.ndarray, value: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The origin is the line; the moment is how it meets the lattice."""
        step = np.asarray(step, np.int64)
        origin = self.line(step)
        if self._denominator is not None:
            return origin, (step % self._denominator).astype(np.int32)
        return origin, self._phase(step, origin).astype(np.int32)

    def moments(self) -> tuple[Moment, ...]:
        """The line at each way of meeting the lattice."""
        steps = self._representatives
        return tuple(
            Moment(Now(int(step), int(line)), int(line))
            for step, line in zip(steps, self.line(steps), strict=True)
        )

    def spread(
        self, now: Now, ahead: np.ndarray, negligible: float = NEGLIGIBLE
    ) -> tuple[np.ndarray, np.ndarray]:
        """The line, less and plus the noise's bounds."""
        centre = self.line(now.step + steps_ahead(ahead))
        return centre + self.noise.lowest, centre + self.noise.highest

    def settles(self, values: np.ndarray) -> tuple[int, int] | None:
        """At once, if there is no slope."""
        return (1, 1) if self.slope == 0 else None

    def season_length(self) -> int | None:
        """None: the chance of a value depends on the step."""
        return 1 if self.slope == 0 else None

    @property
    def rounds(self) -> int | None:
        """Steps after which the line's offset from the lattice repeats; None if never."""
        return self._denominator

    @cached_property
    def _denominator(self) -> int | None:
        near = Fraction(self.slope).limit_denominator(PHASES)
        return near.denominator if abs(float(near) - self.slope) < 1e-12 else None

    def _phase(self, step: np.ndarray, origin: np.ndarray) -> np.ndarray:
        """The phase of the line: its offset from the lattice, in steps of 1/64."""
        above = self.slope * step + self.intercept - origin + 0.5
        phase: np.ndarray = np.clip(np.floor(above * PHASES), 0, PHASES - 1)
        return phase

    @cached_property
    def _representatives(self) -> np.ndarray:
        if self._denominator is not None:
            return np.arange(self._denominator)
        # The step at which the line is nearest the middle of each phase.
        steps = np.arange(SEARCHED)
        above = self.slope * steps + self.intercept - self.line(steps) + 0.5
        middles = (np.arange(PHASES) + 0.5) / PHASES
        nearest: np.ndarray = np.abs(above[:, None] - middles).argmin(axis=0)
        return nearest
