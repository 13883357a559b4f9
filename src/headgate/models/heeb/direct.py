"""HEEB (heuristic of estimated expected benefit): H of a value, summed over the future."""

import numpy as np

from headgate.models.heeb.sums import check_sum, total_benefit
from headgate.models.process import Now, Process
from headgate.models.survival import Survival


def estimated_benefit(
    process: Process,
    now: Now,
    values: np.ndarray,
    survival: Survival,
    caching: bool = False,
    window: int | None = None,
    rate: float = 1.0,
) -> np.ndarray:
    """H of each value: what a row with it is expected to yield while it is stored.

    Parameters
    ----------
    process
        The stream that the rows wait for.
    now
        The step, and the value that stream has shown at it.
    values
        Values of the rows.
    survival
        The estimate of how long rows stay.
    caching
        Count only the first reference to a value, as when rows can be fetched again.
    window
        Steps until the rows' window has passed; without one, the sum ends with the survival.
    rate
        Rows of the stream a step.

    Examples
    --------
    >>> from headgate.models.process import LinearTrend, Noise
    >>> from headgate.models.survival import ExponentialLife, FixedLife
    >>> trend = LinearTrend(1, 0, Noise.uniform(1))
    >>> estimated_benefit(trend, Now(5, 5), np.array([4, 5, 6, 7]), FixedLife(10)).round(3).tolist()
    [0.0, 0.333, 0.667, 1.0]
    >>> life = ExponentialLife(2)
    >>> estimated_benefit(trend, Now(5, 5), np.array([7, 8]), life, caching=True).round(3).tolist()
    [0.317, 0.192]

    References
    ----------
    Xie, Yang and Chen, On Joining and Caching Stochastic Streams, SIGMOD 2005, section 5.3.
    Windows truncate the sum and rates scale it, as its technical report suggests.
    """
    check_sum(survival, caching, rate)
    ascending, places = np.unique(np.asarray(values, np.int64), return_inverse=True)
    totals = total_benefit(process, [now], ascending, survival, caching, [window])
    benefit: np.ndarray = totals[0, 0][places] * rate
    return benefit
