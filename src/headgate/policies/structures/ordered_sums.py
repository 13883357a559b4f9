"""Sums that do not depend on how what is added up is cut into parts."""

import numpy as np


def in_order(total: float, values: np.ndarray) -> float:
    """The sum of numbers, added one after the other."""
    if not len(values):
        return total
    return float(np.cumsum(np.concatenate([[total], values]))[-1])
