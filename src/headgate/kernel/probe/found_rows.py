"""Turns the rows that an index has found into pairs: keeps those stored and within the window."""

from typing import Any, NamedTuple

import numpy as np

from headgate.compiling import compiled
from headgate.kernel.watching import OPEN

NOTHING, ONE = np.int64(0), np.int64(1)


class FoundRows(NamedTuple):
    """Rows found by an index, and the least and greatest mark within the window."""

    rows: np.ndarray  # int64
    number: Any  # how many
    reach: Any
    limit: Any


@compiled
def list_found(
    links: np.ndarray, found: FoundRows, row: int, pairs: np.ndarray, made: Any, count_only: int
) -> tuple[Any, Any]:
    """Write a pair for each row found that is stored and within the window.

    Returns the new end, or -1 when ``pairs`` is full, and how many watched rows matched; these
    are then the first in ``found``. Writes nothing unless all pairs fit.
    """
    rows = found.rows
    fitting = stored = np.int64(0)
    for at in range(found.number):
        candidate = links[rows[at]]
        if found.reach <= candidate.mark <= found.limit:
            rows[fitting] = rows[at]
            fitting += ONE
            stored += np.int64(candidate.alive)
    if count_only == NOTHING and made + stored > pairs.size:
        return np.int64(-1), np.int64(0)
    watched = np.int64(0)
    for at in range(fitting):
        partner = rows[at]
        candidate = links[partner]
        if candidate.alive:
            if count_only == NOTHING:
                pairs[made].probe = row
                pairs[made].partner = partner
            made += ONE
        if candidate.watch == OPEN:
            rows[watched] = partner
            watched += ONE
    return made, watched
