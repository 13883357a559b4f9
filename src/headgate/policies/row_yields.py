"""What a stored row brings for the memory it takes, by key or by age, in each kind of join.

Rows of a key are taken to find partners at random, so many a microsecond. A row that leaves at its
first partner takes memory until then; one that is to come out without a partner must stay to the
end of its window, and the nearer that is, the less it still takes.
"""

import numpy as np

from headgate.models import AgeCurve
from headgate.spec import Brings

LEAST_SCORE = -1e300
"""Of rows that bring nothing."""
LEAST_WAITING = 1e-3
"""A share of rows that are thought to be without a partner at any age, so that none is sure."""


def rate_by_key(brings: Brings, rate: np.ndarray, window: float) -> np.ndarray:
    """Result rows a microsecond that a row brings whose key comes so often on the other side.

    Examples
    --------
    A row of an anti join is worth less, the more often its key comes; one of an outer join brings
    something either way:

    >>> rate = np.array([0.0, 0.1, 1.0])
    >>> rate_by_key(Brings.ALONE, rate, 10).tolist()
    [-0.0, -0.1, -1.0]
    >>> rate_by_key(Brings.EITHER, rate, 10).round(3).tolist()
    [0.1, 0.137, 1.0]
    """
    if brings == Brings.NOTHING:
        return np.full(len(rate), LEAST_SCORE)
    if brings == Brings.ALONE:
        # The chance to stay without a partner, by the time stored, falls with the rate: in whatever
        # unit that is given, the order is this.
        return -rate
    if brings == Brings.EITHER:
        either: np.ndarray = rate + np.exp(-rate * window) / max(window, 1.0)
        return either
    return rate


def rates_by_age(curve: AgeCurve, brings: Brings, of_first: bool) -> tuple[np.ndarray, np.ndarray]:
    """The most that a row brings a microsecond from each age on, at the beginning of each bucket of
    a curve and just before its end; see `AgeCurve.priorities`.

    ``of_first`` says that the curve is one of first matches already. That of all matches is taken
    for one of rows that meet others at random.

    Examples
    --------
    Of rows half of which meet somebody in their first second, those that have waited on are worth
    more: with one more second they are surely without a partner.

    >>> curve = AgeCurve(1_000_000, [0.5, 0.0])
    >>> starts, _ = rates_by_age(curve, Brings.ALONE, of_first=True)
    >>> (1e6 * starts).round(2).tolist()
    [0.4, 1.0]
    """
    if brings == Brings.PAIRS:
        return curve.priorities()
    if brings == Brings.NOTHING:
        return np.zeros(len(curve.matches)), np.zeros(len(curve.matches))
    total = curve.cumulative
    if brings == Brings.EITHER:
        alone = np.exp(total - total[-1])
        return _steepest(curve.ages.astype(np.float64), total, alone[:-1])
    waiting = 1 - total if of_first else np.exp(-total)
    waiting = np.maximum(waiting, LEAST_WAITING)
    stored = np.concatenate([[0.0], np.cumsum((waiting[1:] + waiting[:-1]) / 2 * curve.width)])
    if brings == Brings.FIRST:
        return _steepest(stored, 1 - waiting, np.zeros(len(curve.matches)))
    return _steepest(stored, np.zeros(len(total)), np.full(len(curve.matches), waiting[-1]))


def _steepest(
    stored: np.ndarray, brought: np.ndarray, at_end: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The steepest line from each bucket's beginning to what is brought ahead, over the time that
    is stored; and just before the bucket's end.

    ``at_end`` comes on top for a row, from the beginning of a bucket, that stays to the end.
    """
    starts = np.empty(len(at_end))
    for bucket in range(len(at_end)):
        ahead = brought[bucket + 1 :] - brought[bucket]
        ahead[-1] += at_end[bucket]
        starts[bucket] = (ahead / (stored[bucket + 1 :] - stored[bucket])).max()
    now = np.diff(brought) / np.diff(stored)
    last = 2 * starts[-1] if at_end[-1] > 0 else 0.0
    return starts, np.maximum(now, np.append(starts[1:], last))
