"""How much memory a sample takes, and the sampling fraction that memory allows.

Formulas of the paper, and the same for matches that come by chance: then their number varies round
its mean, and a row waits for chosen matches that may never come.
"""

from collections.abc import Callable
from functools import partial
from math import sqrt
from statistics import NormalDist

import numpy as np

from headgate.models import AgeCurve, AgeCurves, Frequencies
from headgate.sampling.uniform import likely_most
from headgate.spec import Window
from headgate.spec.quantity import SECOND_US

OVER_BUDGET = 1e-3
"""The chance, at any moment, that a sample would take more than its budget."""
FINE = 0.002
"""Expected matches that differ by no more than this share are taken together."""
MOST_COUNTS = 1 << 14
"""Counts of matches beyond so many are taken together in stretches of equal length."""
STEPS = 60
"""Halvings of an interval; more than double precision can tell apart."""


def theorem_4_2(share: float, own: np.ndarray, matches: np.ndarray, rows_in_window: float) -> float:
    """Rows UNIFORM stores on average under the frequency model.

    Parameters
    ----------
    share
        The sampling fraction p.
    own
        The frequency of each key among the stored side's rows.
    matches
        The matches that a row of each key makes, r2 · W1 · f2.
    rows_in_window
        Rows of the side in its window, r1 · W1.

    Examples
    --------
    >>> round(theorem_4_2(0.5, np.array([1.0]), np.array([2.0]), 100), 3)
    62.5
    """
    some = matches > 0
    own, matches = own[some], matches[some]
    tails = 1 - share
    stored = 1 - tails * (1 - tails**matches) / (share * matches)
    return float(rows_in_window * (own * stored).sum())


def theorem_4_3(share: float, curve: AgeCurve, rate: float) -> float:
    """Rows UNIFORM stores on average under the age model; ``rate`` in rows a microsecond.

    Examples
    --------
    >>> round(theorem_4_3(0.5, AgeCurve(1, [1, 1]), rate=100), 3)
    125.0
    """
    most = round(curve.total)
    place = np.arange(1, most + 1)
    ages = np.array([curve.age_of(min(float(n), curve.total)) for n in place])
    return float(rate * (share * (1 - share) ** (most - place) * ages).sum())


def stored_by_key(
    share: float, own: np.ndarray, matches: np.ndarray, rows_in_window: float
) -> float:
    """As `theorem_4_2`, for matches that come by chance and coins for all that are likely.

    A row is stored at an age if the last of its n coins that shows heads is later than the matches
    it has made by then, which are Poisson.
    """
    return _need_by_key(own, matches, rows_in_window)(share)


def _need_by_key(
    own: np.ndarray, matches: np.ndarray, rows_in_window: float
) -> Callable[[float], float]:
    """Rows stored as a function of the share; keys that differ little are taken together."""
    from scipy.special import gammainc

    some = matches > 0
    levels, level = np.unique(np.round(np.log(matches[some]) / FINE), return_inverse=True)
    weights = np.bincount(level, weights=own[some], minlength=len(levels))
    spent, left = [np.empty(0)], [np.empty(0)]
    for expected, weight in zip(np.exp(levels * FINE).tolist(), weights.tolist(), strict=True):
        most = int(likely_most(np.array([expected]))[0])
        length = -(-most // MOST_COUNTS)
        first = np.arange(0, most, length)
        counts = np.minimum(length, most - first)
        made = first + (counts - 1) / 2
        # The time a Poisson process spends at each count, as a share of the window.
        spent.append(weight * counts * gammainc(made + 1, expected) / expected)
        left.append(most - made)
    times, coins = np.concatenate(spent), np.concatenate(left)
    return lambda share: rows_in_window * float((times * (1 - (1 - share) ** coins)).sum())


def stored_by_age(share: float, curve: AgeCurve, rate: float, most: int | None = None) -> float:
    """As `theorem_4_3`, for matches that come by chance; ``most`` coins, or all that are likely."""
    from scipy.special import gammaln, xlogy

    if curve.total <= 0:
        return 0.0
    most = int(likely_most(np.array([curve.total]))[0]) if most is None else most
    made = np.arange(most)
    middle = (curve.cumulative[1:] + curve.cumulative[:-1]) / 2
    chance = np.exp(xlogy(made, middle[:, None]) - middle[:, None] - gammaln(made + 1))
    stored = (chance * (1 - (1 - share) ** (most - made))).sum(axis=1)
    return float(rate * curve.width * stored.sum())


def stored_rows(
    model: Frequencies | AgeCurves, rates: tuple[float, float], windows: tuple[Window, Window]
) -> Callable[[float], float]:
    """Rows of both sides that UNIFORM stores on average, by share; rates in rows a second."""
    needs: list[Callable[[float], float]] = []
    for side, window in enumerate(windows):
        if not window.span:
            continue
        if isinstance(model, AgeCurves):
            rate = rates[side] / SECOND_US
            needs.append(partial(stored_by_age, curve=model[side], rate=rate))
            continue
        own, other = (model.left, model.right) if side == 0 else (model.right, model.left)
        seconds = window.span / SECOND_US
        matches = other.look_up(own.columns) * rates[1 - side] * seconds
        needs.append(_need_by_key(own.share, matches, rates[side] * seconds))
    return lambda share: sum(need(share) for need in needs)


def fraction_for(
    model: Frequencies | AgeCurves,
    rows: int,
    rates: tuple[float, float],
    windows: tuple[Window, Window],
) -> float:
    """The sampling fraction at which memory hardly ever runs full; windows in time.

    Rows come and go independently, so how many are stored varies like a Poisson number.

    Examples
    --------
    >>> from headgate.spec import TimeWindow
    >>> shares = {key: 0.1 for key in range(10)}
    >>> model = Frequencies.of_mappings(shares, shares)
    >>> minute = TimeWindow(60 * SECOND_US)
    >>> 0 < fraction_for(model, 100, (10.0, 0.5), (minute, TimeWindow(0))) < 1
    True
    """
    stored = stored_rows(model, rates, windows)
    return most_share(lambda share: surely_enough(stored(share)), rows)


def surely_enough(mean: float) -> float:
    """Rows of memory that hardly ever run full, where so many are stored on average.

    Examples
    --------
    >>> round(surely_enough(100))
    131
    """
    return mean + NormalDist().inv_cdf(1 - OVER_BUDGET) * sqrt(mean)


def most_share(needs: Callable[[float], float], rows: float) -> float:
    """The greatest share whose need of memory, rising with it, is met.

    Examples
    --------
    >>> round(most_share(lambda share: 200 * share, 50), 6)
    0.25
    """
    if needs(1.0) <= rows:
        return 1.0
    low, high = 0.0, 1.0
    for _ in range(STEPS):
        middle = (low + high) / 2
        low, high = (middle, high) if needs(middle) <= rows else (low, middle)
    return max(low, 1e-12)


def clipped_shares(sizes: np.ndarray, own: np.ndarray, share_of_rows: float) -> np.ndarray:
    """PPS-CLUSTER's inclusion probabilities: proportional to size, at most 1, solved for memory.

    Parameters
    ----------
    sizes
        The matches a row of each key makes.
    own
        The frequency of each key among the rows to store.
    share_of_rows
        The part of the window's rows that memory holds.

    Examples
    --------
    >>> clipped_shares(np.array([9.0, 1.0]), np.array([0.5, 0.5]), 0.6).round(6).tolist()
    [1.0, 0.2]
    """
    if share_of_rows >= own[sizes > 0].sum():
        return (sizes > 0).astype(np.float64)
    order = np.argsort(-sizes, kind="stable")
    size, weight = sizes[order], own[order]
    certain = np.concatenate([[0.0], np.cumsum(weight)])
    rest = np.cumsum((weight * size)[::-1])[::-1]
    # With the k largest taken for certain, the others' constant follows; the first k that fits.
    constants = np.maximum(share_of_rows - certain[:-1], 0) / rest
    fits = constants * size <= 1
    constant = constants[int(np.argmax(fits))]
    return np.asarray(np.minimum(1.0, constant * sizes))
