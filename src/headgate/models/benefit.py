"""Expected cumulative benefit of keeping a row, and dominance between rows.

B(1), B(2), … is the benefit expected of a row over the next step, the next two, and so on. A row
whose B is nowhere below another's is never the worse one to keep, whatever the future.
"""

import numpy as np

from headgate.compiling import compiled
from headgate.models.process import Now, Process
from headgate.spec import SpecError

ROUNDING = 1e-12


def joining_benefit(
    process: Process, now: Now, values: np.ndarray, horizon: int, rate: float = 1.0
) -> np.ndarray:
    """Matches expected of a row with each value by each step, of shape (horizon, values).

    Parameters
    ----------
    process
        The stream that the rows wait for.
    now
        The step, and the value that stream has shown at it.
    values
        Values of the rows.
    horizon
        Steps ahead.
    rate
        Rows of the stream per step.

    Examples
    --------
    >>> from headgate.models.process import LinearTrend, Noise
    >>> trend = LinearTrend(1, 0, Noise.uniform(1))
    >>> joining_benefit(trend, Now(5, 5), np.array([5, 7]), 4).round(2).T.tolist()
    [[0.33, 0.33, 0.33, 0.33], [0.33, 0.67, 1.0, 1.0]]

    References
    ----------
    Xie, Yang and Chen, On Joining and Caching Stochastic Streams, SIGMOD 2005, Lemma 1.
    """
    ahead = _ahead(horizon)
    benefit: np.ndarray = np.cumsum(process.chance(_whole(values), now, ahead), axis=0) * rate
    return benefit


def first_reference(process: Process, now: Now, values: np.ndarray, horizon: int) -> np.ndarray:
    """The chance that each value first comes at each step ahead, of shape (horizon, values).

    Exact for independent values. For others by the renewal equation, which takes chances as those
    of a Markov process; where noise is narrower than the lattice an AR(1) seen rounded is not quite
    one, and what falls below 0 is taken as 0.

    Examples
    --------
    >>> from headgate.models.process import Noise, RandomWalk
    >>> coin = RandomWalk(0, Noise.of({-1: 1, 1: 1}))
    >>> first_reference(coin, Now(0, 0), np.array([0, 1]), 4).tolist()
    [[0.0, 0.5], [0.5, 0.0], [0.0, 0.125], [0.125, 0.0]]
    """
    ahead, values = _ahead(horizon), _whole(values)
    chances = process.chance(values, now, ahead)
    if not process.markov:
        unseen = np.cumprod(1 - chances, axis=0)
        chances[1:] *= unseen[:-1]
        return chances
    seasons = process.season_length() or 1
    reached = min(seasons, horizon)
    back = [process.returns(values, now.step + first, ahead) for first in range(reached)]
    firsts = np.array(chances)
    _renew(firsts, np.ascontiguousarray(np.stack(back)))
    return firsts


def caching_benefit(process: Process, now: Now, values: np.ndarray, horizon: int) -> np.ndarray:
    """The chance that each value is referenced by each step, of shape (horizon, values).

    Examples
    --------
    >>> from headgate.models.process import Stationary
    >>> caching_benefit(Stationary({1: 0.5, 2: 0.5}), Now(0, 1), np.array([1]), 3).T.tolist()
    [[0.5, 0.75, 0.875]]

    References
    ----------
    Xie, Yang and Chen, SIGMOD 2005, Corollary 1.
    """
    return np.cumsum(first_reference(process, now, values, horizon), axis=0)


def dominates(one: np.ndarray, other: np.ndarray) -> bool:
    """Whether a benefit is nowhere below another: its row is safe to keep instead (Theorem 1).

    Differences that rounding may have made count as none.

    Examples
    --------
    >>> dominates(np.array([1, 2, 2]), np.array([0, 2, 2]))
    True
    """
    return bool(np.all(np.asarray(one) >= np.asarray(other) - ROUNDING))


def strongly_dominates(one: np.ndarray, other: np.ndarray) -> bool:
    """Whether a benefit is above another at every step: only its row is right to keep.

    Examples
    --------
    >>> strongly_dominates(np.array([1, 2, 2]), np.array([0, 2, 2]))
    False
    """
    return bool(np.all(np.asarray(one) > np.asarray(other) + ROUNDING))


def dominated_subset(benefits: np.ndarray, most: int) -> np.ndarray:
    """The largest set of at most ``most`` candidates that all others dominate: safe to evict.

    Parameters
    ----------
    benefits
        The benefit of each candidate by each step, of shape (candidates, horizon).
    most
        How many may be evicted.

    Returns
    -------
    numpy.ndarray
        The places of the set's candidates, ascending; none if no set is safe.

    Examples
    --------
    Between the first two it depends on how long they stay; the third is below both.

    >>> dominated_subset(np.array([[2, 2, 2], [1, 2, 3], [0, 1, 1]]), 2).tolist()
    [2]

    References
    ----------
    Xie, Yang and Chen, SIGMOD 2005, Corollary 2.
    """
    benefits = np.asarray(benefits, np.float64)
    if benefits.ndim != 2:
        raise SpecError("benefits: give an array of shape (candidates, horizon)")
    count = len(benefits)
    # A candidate that does not dominate every member must be a member too.
    draws_in = np.array(
        [np.any(benefits < each - ROUNDING, axis=1) for each in benefits], bool
    ).reshape(count, count)
    # Members of a smaller safe set pull in fewer candidates than all others do. So in this order
    # every safe set is a prefix, up to candidates with equal benefits.
    order = np.argsort(draws_in.sum(axis=1), kind="stable")
    drawn = draws_in[np.ix_(order, order)]
    last = np.where(drawn.any(axis=1), count - 1 - drawn[:, ::-1].argmax(axis=1), -1)
    farthest = np.maximum.accumulate(last) if count else last
    sizes = np.arange(1, count + 1)
    safe = sizes[(farthest < sizes) & (sizes <= most)]
    return np.sort(order[: safe[-1] if len(safe) else 0])


def _whole(values: np.ndarray) -> np.ndarray:
    return np.atleast_1d(np.asarray(values, np.int64))


def _ahead(horizon: int) -> np.ndarray:
    if horizon != int(horizon) or horizon < 1:
        raise SpecError(f"horizon={horizon!r} is not a number of steps, 1 or more")
    return np.arange(1, int(horizon) + 1)


@compiled
def _renew(firsts: np.ndarray, back: np.ndarray) -> None:
    """Turn visit probabilities into first-visit probabilities by removing repeat visits.

    ``back[s, k - 1]`` is the chance to be back k steps after a visit s steps ahead, modulo seasons.
    """
    horizon, columns = firsts.shape
    seasons = back.shape[0]
    for column in range(columns):
        for at in range(horizon):
            total = firsts[at, column]
            for before in range(at):
                returned = back[(before + 1) % seasons, at - before - 1, column]
                total -= firsts[before, column] * returned
            firsts[at, column] = max(total, 0.0)
