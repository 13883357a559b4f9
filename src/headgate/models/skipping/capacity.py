"""Memory limits in the form that the optimisers take."""

import numpy as np

from headgate.models.skipping.workload import ROUNDING, Workload

Rows = float | tuple[float, float] | None
"""The most rows stored: both sides together, each side's own, or no limit."""


def stored_per_share(workload: Workload, rows: Rows) -> np.ndarray:
    """Rows stored if a whole class is, one row per limit; classes of the left side come first.

    Examples
    --------
    >>> join = Workload([8, 2], [1, 9], windows=(10, 1), update=1, produce=0, budget=5)
    >>> stored_per_share(join, 100).tolist()
    [[80.0, 20.0, 1.0, 9.0]]
    >>> stored_per_share(join, (50, 50)).tolist()
    [[80.0, 20.0, 0.0, 0.0], [0.0, 0.0, 1.0, 9.0]]
    """
    left, right = (
        rate * window for rate, window in zip(workload.rates, workload.windows, strict=True)
    )
    if not isinstance(rows, tuple):
        return np.concatenate([left, right])[np.newaxis]
    none = np.zeros(workload.classes)
    return np.array([np.concatenate([left, none]), np.concatenate([none, right])])


def rows_fit(stored: np.ndarray, limits: np.ndarray) -> bool:
    """Whether so many rows are within the limits, but for rounding."""
    return bool(np.all(stored <= limits * (1 + ROUNDING)))


def fits(stored: tuple[float, float], rows: Rows) -> bool:
    """Whether so many rows of each side are within the limit."""
    if rows is None:
        return True
    per_side = isinstance(rows, tuple)
    held = np.array(stored) if per_side else np.array([sum(stored)])
    return rows_fit(held, np.atleast_1d(np.array(rows, np.float64)))
