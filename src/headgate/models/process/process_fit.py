"""A process fitted to values, and how well it explains them."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from headgate.models.process.noise import Noise
from headgate.models.process.process import Process
from headgate.spec import SpecError

SURELY_NOT = 1e-300
NOISES = ("normal", "uniform", "empirical")


@dataclass(frozen=True)
class ProcessFit:
    """A process with the parameters that explain some values best.

    Parameters
    ----------
    process
        The process.
    log_likelihood
        Of every value after the first, given those before it: the same values for every process,
        so that fits compare.
    parameters
        How many numbers were fitted.
    rmse
        Root mean square error of the one-step prediction.

    Examples
    --------
    >>> import numpy as np
    >>> from headgate.models import best_fit
    >>> steps = np.random.default_rng(1).integers(-1, 2, 500)
    >>> type(best_fit(np.cumsum(steps))[0].process).__name__
    'RandomWalk'
    """

    process: Process
    log_likelihood: float
    parameters: int
    rmse: float

    @property
    def aic(self) -> float:
        """Akaike's information criterion; the lower the better."""
        return 2.0 * self.parameters - 2.0 * self.log_likelihood

    def __str__(self) -> str:
        return (
            f"{self.process!r}: AIC {self.aic:,.1f} with {self.parameters} parameters, "
            f"next value within {self.rmse:.4g} (root mean square)"
        )


def observed(values: Any, least: int, what: str) -> np.ndarray:
    """Values to fit as float64, checked."""
    array = np.asarray(values, np.float64)
    if array.ndim != 1 or len(array) < least:
        raise SpecError(f"{what}: a fit needs a list of at least {least} values")
    if not np.all(np.isfinite(array)):
        raise SpecError(f"{what}: values to fit must be finite; leave gaps out")
    return array


def whole(values: Any, least: int, what: str) -> np.ndarray:
    """Values to fit as int64, refused if they are not on the lattice."""
    array = observed(values, least, what)
    if np.any(array != np.rint(array)):
        raise SpecError(
            f"{what}: values to fit must be whole numbers; scale finer ones, 21.5 to 215 tenths"
        )
    return array.astype(np.int64)


def fitted_noise(residuals: np.ndarray, kind: str, what: str) -> tuple[Noise, int]:
    """Noise around zero for whole residuals, and the number of its parameters."""
    if kind == "uniform":
        return Noise.uniform(int(np.abs(residuals).max())), 1
    if kind == "empirical":
        values, counts = np.unique(residuals, return_counts=True)
        return Noise.of(dict(zip(values.tolist(), counts.tolist(), strict=True))), len(values) - 1
    if kind == "normal":
        # Rounding adds 1/12 to a variance (Sheppard), which discretising would add again.
        return Noise.normal(float(np.sqrt(max(residuals.var() - 1 / 12, 1e-2)))), 1
    raise SpecError(f"{what}: noise={kind!r} is not one of {', '.join(NOISES)}")


def log_chance(chances: np.ndarray) -> float:
    """The summed log-probability; impossible values get a tiny probability instead of 0."""
    return float(np.log(np.maximum(chances, SURELY_NOT)).sum())
