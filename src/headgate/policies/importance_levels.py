"""Levels of importance: rows of about the same importance are ranked together.

Where a score changes over time, no order of all rows lasts; but rows of equal importance keep the
order of the unweighted score. So importances are rounded to few levels, each with its own list.
"""

import numpy as np

STEPS = 4
"""Levels from a power of 2 to the next: rounding changes an importance by 9 % at most."""
_ROOTS = 2.0 ** (np.arange(STEPS) / STEPS - 1)
"""The levels from ½ to below 1 …"""
_BETWEEN = 2.0 ** ((np.arange(STEPS) + 0.5) / STEPS - 1)
"""… and the boundaries at which rounding goes to the next."""
MOST = 2.0**200
"""Importances above it, or below its inverse, are clipped."""


def importance_levels(importance: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The level of each row, int32, and the importance each level stands for, ascending.

    A row's importance is rounded to a power of the fourth root of 2, independent of other rows;
    powers of 2 are unchanged, and anything not above 0 becomes 0. Only levels that occur are
    returned. The array may have any shape.

    Examples
    --------
    >>> level, weights = importance_levels(np.array([3.0, 0.0, 1.0, 2.9]))
    >>> level.tolist(), weights.round(3).tolist()
    ([2, 0, 1, 2], [0.0, 1.0, 2.828])
    """
    if np.all(importance == 1.0):
        return np.zeros(importance.shape, np.int32), np.ones(1)
    some = importance > 0
    # Powers and comparisons are exact, so equal importances always get the same level.
    share, exponent = np.frexp(np.clip(importance, 1 / MOST, MOST))
    notch = np.where(some, STEPS * exponent + np.searchsorted(_BETWEEN, share), 0)
    lowest = int(notch.min(where=some, initial=0)) - 1
    notch = np.where(some, notch, lowest) - lowest
    present = np.bincount(notch.ravel()) > 0
    notches = np.flatnonzero(present)
    exponents, steps = np.divmod(notches + lowest, STEPS)
    weights = np.where(notches > 0, np.ldexp(_ROOTS[steps], exponents), 0.0)
    return (np.cumsum(present) - 1)[notch].astype(np.int32), weights
