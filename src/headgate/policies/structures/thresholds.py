"""Sampling thresholds: for each stored row, the highest score evicted since it arrived.

Kept as a stack of decreasing scores, each with the number of rows seen by then: a row's threshold
is the first entry made after it arrived. A new score replaces the lower ones on top, since it
applies to every row that they apply to.
"""

from typing import Any

import numpy as np

from headgate.compiling import compiled

LEFT = 0
THRESHOLD = np.dtype(
    [
        ("score", "f8"),  # the highest evicted since the entry before
        ("left", "i8"),  # rows of each side so far at that time
        ("right", "i8"),
    ],
    align=True,
)


@compiled
def raise_threshold(arrays: Any, pool: int, score: float) -> None:
    """Record an evicted score. Amortised O(1)."""
    own = arrays.pools[pool]
    at = own.thresholds
    while at > 0 and arrays.thresholds[pool, at - 1].score <= score:
        at -= 1
    entry = arrays.thresholds[pool, at]
    entry.score = score
    entry.left = arrays.sides[0].seen
    entry.right = arrays.sides[1].seen
    own.thresholds = at + 1


@compiled
def threshold_of(arrays: Any, row: int) -> float:
    """The row's threshold; 0 where nothing was evicted since it arrived. O(log entries)."""
    side = arrays.links[row].side
    pool = arrays.sides[side].pool
    sequence = arrays.rows[row].sequence
    first, end = np.int64(0), arrays.pools[pool].thresholds
    while first < end:
        middle = (first + end) // 2
        entry = arrays.thresholds[pool, middle]
        seen = entry.left if side == LEFT else entry.right
        if seen > sequence:
            end = middle
        else:
            first = middle + 1
    if first == arrays.pools[pool].thresholds:
        return 0.0
    return float(arrays.thresholds[pool, first].score)
