"""Importance in levels: rows that matter about as much are ranked together.

Where a score changes all the time, no order of rows lasts; but among rows of one importance it is
the order of the score itself. So importances are rounded to few levels, and each has its own list.
"""

import numpy as np

STEPS = 4
"""Levels from a power of 2 to the next: rounding changes an importance by 9 % at most."""
_ROOTS = 2.0 ** (np.arange(STEPS) / STEPS - 1)
"""The levels from ½ on, below 1 …"""
_BETWEEN = 2.0 ** ((np.arange(STEPS) + 0.5) / STEPS - 1)
"""… and where rounding goes on to the next."""
MOST = 2.0**200
"""What is more, or less than one over it, is not told apart."""


def importance_levels(importance: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The level of each row, int32, and the importance each level stands for, ascending.

    A row's importance is rounded to a power of the fourth root of 2, whatever others there are;
    powers of 2 stay what they are, and so does 0, for which all stands that is not above it. The
    levels are those that rows are in. The array may have any shape.

    Examples
    --------
    >>> level, weights = importance_levels(np.array([3.0, 0.0, 1.0, 2.9]))
    >>> level.tolist(), weights.round(3).tolist()
    ([2, 0, 1, 2], [0.0, 1.0, 2.828])
    """
    if np.all(importance == 1.0):
        return np.zeros(importance.shape, np.int32), np.ones(1)
    some = importance > 0
    # Powers and comparisons are exact, so that equal importances are never rounded apart.
    share, exponent = np.frexp(np.clip(importance, 1 / MOST, MOST))
    notch = np.where(some, STEPS * exponent + np.searchsorted(_BETWEEN, share), 0)
    lowest = int(notch.min(where=some, initial=0)) - 1
    notch = np.where(some, notch, lowest) - lowest
    present = np.bincount(notch.ravel()) > 0
    notches = np.flatnonzero(present)
    exponents, steps = np.divmod(notches + lowest, STEPS)
    weights = np.where(notches > 0, np.ldexp(_ROOTS[steps], exponents), 0.0)
    return (np.cumsum(present) - 1)[notch].astype(np.int32), weights
