"""AR(1): values that revert to a mean."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from headgate.models.process.gaussian import Gaussian, check_phi
from headgate.models.process.noise import normal_chance
from headgate.models.process.process_fit import ProcessFit, log_chance, observed
from headgate.spec import SpecError


@dataclass(frozen=True)
class AutoRegressive(Gaussian):
    """AR(1): X at t is φ · X at t − 1, plus a constant, plus normal noise, seen rounded.

    Frames are approximate: there is a moment for each of at most 64 present values, evenly
    spaced over five standard deviations either way, and a present value between two of them has
    the frame of the nearest, shifted so that the next step is expected where it should be.

    Parameters
    ----------
    phi
        How much of a deviation is left after a step; between −1 and 1.
    constant
        What a step adds; the mean is constant / (1 − φ).
    sigma
        The standard deviation of the noise.

    Examples
    --------
    >>> warm = AutoRegressive(0.72, 5.59, 4.22)
    >>> float(warm.mean(np.array([0]))[0].round(2)), round(warm.sd, 2)
    (19.96, 6.08)
    >>> from headgate.models.process import Now
    >>> warm.chance(np.array([28]), Now(0, 31), np.array([1])).round(4).tolist()
    [[0.0943]]

    References
    ----------
    Xie, Yang and Chen, SIGMOD 2005, Theorem 3 and section 8 (REAL).
    """

    phi: float
    constant: float
    sigma: float

    most_presents: ClassVar[int] = 64

    def __post_init__(self) -> None:
        wrong = check_phi(self.phi, self.sigma, "AR(1)")
        if wrong:
            raise SpecError(wrong)
        if not np.isfinite(self.constant):
            raise SpecError(f"AR(1): constant={self.constant!r} is not a finite number")

    def mean(self, step: np.ndarray) -> np.ndarray:
        """The same at every step."""
        return np.full(np.shape(step), self.constant / (1 - self.phi))

    def season_length(self) -> int:
        """1: there is no season."""
        return 1

    def _seasons(self) -> np.ndarray:
        return np.zeros(1, np.int64)

    def scaled(self, factor: float) -> "AutoRegressive":
        """The same process in other units: from degrees to tenths with a factor of 10.

        Examples
        --------
        >>> AutoRegressive(0.5, 10, 4).scaled(10)
        AutoRegressive(phi=0.5, constant=100, sigma=40)
        """
        return AutoRegressive(self.phi, self.constant * factor, self.sigma * factor)

    @classmethod
    def fit(cls, values: Any) -> ProcessFit:
        """Least squares, which is maximum likelihood given the first value.

        Values may be finer than the lattice (the fit is then `scaled` to it); likelihoods of such
        fits are densities and do not compare with those of other processes.

        Examples
        --------
        >>> true = AutoRegressive(0.72, 55.9, 42.2)
        >>> AutoRegressive.fit(true.simulate(20_000, seed=1)).process
        AutoRegressive(phi=0.71..., constant=57..., sigma=41.9...)
        """
        given = observed(values, 4, "AR(1)")
        before, after = given[:-1], given[1:]
        centred = before - before.mean()
        if not centred @ centred:
            raise SpecError("AR(1): the values to fit are all the same; use Stationary")
        phi = float(centred @ after / (centred @ centred))
        constant = float(after.mean() - phi * before.mean())
        residuals = after - phi * before - constant
        rmse = float(np.sqrt(np.mean(residuals**2)))
        process = cls(phi, constant, rmse)
        return ProcessFit(process, gaussian_likelihood(given, residuals, rmse), 3, rmse)


def gaussian_likelihood(values: np.ndarray, residuals: np.ndarray, sigma: float) -> float:
    """The log-likelihood of normal residuals: probabilities on the lattice, else densities."""
    if np.array_equal(values, np.rint(values)):
        return log_chance(normal_chance(residuals, sigma))
    density = -0.5 * (residuals / sigma) ** 2 - np.log(sigma * np.sqrt(2 * np.pi))
    return float(density.sum())
