"""Redefinition of importance within a step.

Rows come with their importance under every definition that holds at some time of the step. A
definition holds from an event time on: all stored rows are rescored before the first arrival at or
after it. This costs O(rows) per redefinition, and nothing where there is none.
"""

import numpy as np

from headgate.compiling import compiled
from headgate.kernel import ranking, settling
from headgate.kernel.layout import Arrays


@compiled
def is_due(arrays: Arrays) -> bool:
    """Whether the next definition of importance has taken effect."""
    at = arrays.terms[0].definition
    if at >= arrays.worth.changes.size:
        return False
    return bool(arrays.worth.changes[at] <= arrays.terms[0].clock >> 1)


@compiled
def redefine(arrays: Arrays) -> None:
    """Rescore all rows by the definition that holds now."""
    terms = arrays.terms[0]
    while is_due(arrays):
        terms.definition += 1
    scores, groups = arrays.worth.score, arrays.worth.group
    for row in range(arrays.rows.size):
        if scores.shape[1]:
            arrays.rows[row].score = scores[terms.definition, row]
        if groups.shape[1]:
            arrays.rows[row].group = groups[terms.definition, row]
    ranking.forget(arrays)
    if terms.falls:
        for row in range(arrays.rows.size):
            if arrays.links[row].alive and settling.cannot_be_alone(arrays, row):
                ranking.fall(arrays, row)


def definition_at(changes: tuple[int, ...], time: np.ndarray) -> np.ndarray:
    """Which definition holds at each time.

    Examples
    --------
    >>> definition_at((10, 20), np.array([9, 10, 25])).tolist()
    [0, 1, 2]
    """
    return np.searchsorted(np.array(changes, np.int64), time, side="right")
