"""What a pair is worth, and what changes when importance is redefined.

Rows come with their importance under every definition that holds at some time of the step. A
definition holds from an event time on: the first arrival at or after it finds all stored rows
judged anew. That costs O(rows) a redefinition, and nothing where there is none.
"""

from typing import Any

import numpy as np

from headgate.compiling import compiled, inlined
from headgate.engine import ranking
from headgate.engine.layout import LEFT, Desk
from headgate.spec.importance.combine import Combine

NONE, OF_LEFT, OF_RIGHT = int(Combine.NONE), int(Combine.LEFT), int(Combine.RIGHT)
MIN, PRODUCT, SUM = int(Combine.MIN), int(Combine.PRODUCT), int(Combine.SUM)


@inlined
def pair_worth(desk: Desk, probe: int, partner: int) -> Any:
    """The importance of a pair; 1 where all count alike."""
    combine = desk.terms[0].combine
    if combine == NONE:
        return 1.0
    own = desk.worth.importance[desk.terms[0].definition]
    left, right = own[probe], own[partner]
    if desk.links[probe].side != LEFT:
        left, right = right, left
    if combine == OF_LEFT:
        return left
    if combine == OF_RIGHT:
        return right
    if combine == MIN:
        return min(left, right)
    if combine == PRODUCT:
        return left * right
    if combine == SUM:
        return left + right
    return max(left, right)


@inlined
def is_due(desk: Desk) -> bool:
    """Whether another definition of importance holds by now."""
    at = desk.terms[0].definition
    if at >= desk.worth.changes.size:
        return False
    return bool(desk.worth.changes[at] <= desk.terms[0].clock >> 1)


@compiled
def redefine(desk: Desk) -> None:
    """Judge all rows by the definition that holds now."""
    terms = desk.terms[0]
    while is_due(desk):
        terms.definition += 1
    scores, groups = desk.worth.score, desk.worth.group
    for row in range(desk.rows.size):
        if scores.shape[1]:
            desk.rows[row].score = scores[terms.definition, row]
        if groups.shape[1]:
            desk.rows[row].group = groups[terms.definition, row]
    ranking.forget(desk)


def definition_at(changes: tuple[int, ...], time: np.ndarray) -> np.ndarray:
    """Which definition holds at each time.

    Examples
    --------
    >>> definition_at((10, 20), np.array([9, 10, 25])).tolist()
    [0, 1, 2]
    """
    return np.searchsorted(np.array(changes, np.int64), time, side="right")
