"""Importance of a pair, from that of its rows."""

from typing import Any

from headgate.compiling import compiled
from headgate.spec.importance.combine import Combine

LEFT = 0
NONE, OF_LEFT, OF_RIGHT = int(Combine.NONE), int(Combine.LEFT), int(Combine.RIGHT)
MIN, PRODUCT, SUM = int(Combine.MIN), int(Combine.PRODUCT), int(Combine.SUM)


@compiled
def pair_worth(arrays: Any, probe: int, partner: int) -> Any:
    """The importance of a pair; 1 where all count alike."""
    combine = arrays.terms[0].combine
    if combine == NONE:
        return 1.0
    own = arrays.worth.importance[arrays.terms[0].definition]
    left, right = own[probe], own[partner]
    if arrays.links[probe].side != LEFT:
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
