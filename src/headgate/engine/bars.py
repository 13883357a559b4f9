"""The bar a stored row has passed: the highest score given up since it came.

Kept as a stack of ever lower scores, each with the number of rows seen by then: a row's bar is the
first entry made after it came. A score no lower than those on top replaces them, since whoever was
there then is there now.
"""

import numpy as np

from headgate.compiling import inlined
from headgate.engine.layout import LEFT, Desk


@inlined
def raise_bar(desk: Desk, pool: int, score: float) -> None:
    """Note that a score was given up. O(1) over all."""
    own = desk.pools[pool]
    at = own.bars
    while at > 0 and desk.bars[pool, at - 1].score <= score:
        at -= 1
    entry = desk.bars[pool, at]
    entry.score = score
    entry.left = desk.sides[0].seen
    entry.right = desk.sides[1].seen
    own.bars = at + 1


@inlined
def bar_of(desk: Desk, row: int) -> float:
    """The row's bar; 0 where nothing was given up since it came. O(log entries)."""
    side = desk.links[row].side
    pool = desk.sides[side].pool
    sequence = desk.rows[row].sequence
    first, end = np.int64(0), desk.pools[pool].bars
    while first < end:
        middle = (first + end) // 2
        entry = desk.bars[pool, middle]
        seen = entry.left if side == LEFT else entry.right
        if seen > sequence:
            end = middle
        else:
            first = middle + 1
    if first == desk.pools[pool].bars:
        return 0.0
    return float(desk.bars[pool, first].score)
