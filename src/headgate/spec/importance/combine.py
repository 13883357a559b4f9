"""Combines the importance of two rows into that of their pair."""

from enum import IntEnum

import numpy as np


class Combine(IntEnum):
    """How row importances combine, as a number that compiled code can branch on.

    Examples
    --------
    >>> Combine.MIN, int(Combine.MIN)
    (<Combine.MIN: 3>, 3)
    """

    NONE = 0
    """No importance is given: every pair counts 1."""
    LEFT = 1
    """Only rows of the left have importance: a pair is worth what its left row is."""
    RIGHT = 2
    MIN = 3
    PRODUCT = 4
    SUM = 5
    MAX = 6


COMBINATIONS = {
    "min": Combine.MIN,
    "product": Combine.PRODUCT,
    "sum": Combine.SUM,
    "max": Combine.MAX,
}
"""What a user may ask for where both sides have importance."""


def pair_importance(code: Combine, left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """The importance of pairs, from those of their left and of their right rows.

    Examples
    --------
    >>> left, right = np.array([2.0, 3.0]), np.array([5.0, 0.5])
    >>> pair_importance(Combine.MIN, left, right).tolist()
    [2.0, 0.5]
    >>> pair_importance(Combine.LEFT, left, right).tolist()
    [2.0, 3.0]
    """
    if code == Combine.NONE:
        return np.ones(len(left), np.float64)
    if code == Combine.LEFT:
        return np.array(left, np.float64)
    if code == Combine.RIGHT:
        return np.array(right, np.float64)
    function = {
        Combine.MIN: np.minimum,
        Combine.PRODUCT: np.multiply,
        Combine.SUM: np.add,
        Combine.MAX: np.maximum,
    }[code]
    return np.asarray(function(left, right), np.float64)
