"""Incremental H: from step to step and value to value, for independent values and L_exp."""

import numpy as np

from headgate.models.process import LinearTrend, Now
from headgate.spec import SpecError

Numbers = np.ndarray | float


def next_joining(h: Numbers, chance_now: Numbers, alpha: float) -> np.ndarray:
    """H of a join at this step, from H at the step before and the chance the value had now.

    Each use multiplies the error of H by e^(1/α): recompute the sum after some multiples of α.

    Examples
    --------
    A stream that shows the value with chance 1/2 at every step has the same H at all of them:

    >>> h = 0.5 / np.expm1(1 / 3)
    >>> bool(np.isclose(next_joining(h, 0.5, alpha=3), h))
    True

    References
    ----------
    Xie, Yang and Chen, On Joining and Caching Stochastic Streams, SIGMOD 2005, Corollary 3.
    """
    found: np.ndarray = np.exp(1 / alpha) * np.asarray(h, np.float64) - chance_now
    return found


def next_caching(h: Numbers, chance_now: Numbers, alpha: float) -> np.ndarray:
    """H of caching at this step, from H at the step before and the chance the value had now.

    For a row that was not referenced now. The corollary covers α = ∞, L = 1, as well; a value that
    was certain to come now says nothing of later steps, and its H is not a number.

    Examples
    --------
    >>> float(next_caching(0.75, 0.5, alpha=np.inf))
    0.5

    References
    ----------
    Xie, Yang and Chen, SIGMOD 2005, Corollary 4.
    """
    chance = np.asarray(chance_now, np.float64)
    left = np.exp(1 / alpha) * np.asarray(h, np.float64) - chance
    with np.errstate(divide="ignore", invalid="ignore"):
        found: np.ndarray = np.where(chance < 1, left / (1 - chance), np.nan)
    return found


def by_value(
    process: LinearTrend,
    now: Now,
    known_value: int,
    known_h: float,
    value: int,
    alpha: float,
    caching: bool = False,
) -> float:
    """H of a value from H of another: both meet the same trend, some steps apart.

    Parameters
    ----------
    process
        The trend, not flat; the values' distance must be a whole number of its steps.
    now
        The step at which both are wanted.
    known_value, known_h
        A value and its H now.
    value
        The value to find H of.
    alpha
        Of `ExponentialLife`.
    caching
        Whether H counts first references alone.

    Examples
    --------
    >>> from headgate.models.heeb import estimated_benefit
    >>> from headgate.models.process import Noise
    >>> from headgate.models.survival import ExponentialLife
    >>> trend, now = LinearTrend(1, 0, Noise.uniform(2)), Now(5, 5)
    >>> known, wanted = estimated_benefit(trend, now, np.array([9, 6]), ExponentialLife(3))
    >>> bool(np.isclose(by_value(trend, now, 9, known, 6, alpha=3), wanted))
    True

    References
    ----------
    Xie, Yang and Chen, SIGMOD 2005, Corollary 5.
    """
    apart = (known_value - value) / process.slope if process.slope else 0.5
    if apart != np.rint(apart):
        raise SpecError(
            f"by_value: {known_value} and {value} are not a whole number of steps apart on a trend "
            f"of slope {process.slope:g}; compute H with estimated_benefit"
        )
    steps, h = int(apart), known_h
    # The known value some steps on is where the wanted one is now; before that, some steps back.
    for step in range(1, steps + 1):
        chance = _chance(process, now.step + step, known_value)
        forward = next_caching if caching else next_joining
        h = float(forward(h, chance, alpha))
    for step in range(0, steps, -1):
        chance = _chance(process, now.step + step, known_value)
        h = float(np.exp(-1 / alpha) * (chance + (1 - chance if caching else 1) * h))
    return h


def _chance(process: LinearTrend, step: int, value: int) -> float:
    return float(process.noise.chance(value - process.line(np.array([step])))[0])
