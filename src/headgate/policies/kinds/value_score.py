"""Scores of a row's key and remaining window: class weight × remaining window.

Rows of one side, class and importance form a list, oldest first; the oldest has the lowest score.
"""

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from headgate.compiling import compiled, inlined
from headgate.policies.kinds.kind import Kind
from headgate.policies.kinds.plain_score import Moment, PlainRow, PlainScore, as_arrivals
from headgate.policies.policy import Arrivals, Policy
from headgate.policies.structures import lists
from headgate.policies.structures.no_row import LAST, NONE


@inlined
def remaining(arrays: Any, row: int) -> int:
    """The rest of a row's window, in the window's own unit."""
    side = arrays.sides[arrays.links[row].side]
    now = side.seen if side.by_rows else arrays.terms[0].clock >> 1
    return arrays.links[row].mark + side.span - now


@inlined
def value_order(arrays: Any, row: int) -> np.int64:
    """Order among equal scores: the older row first, by the window's own scale."""
    own = arrays.links[row]
    if arrays.sides[own.side].by_rows:
        return np.int64(2 * own.mark + own.side)
    return np.int64(row)


@compiled
def worst_by_value(arrays: Any, own: Any, pool: int) -> tuple[np.int64, float, np.int64]:
    """The lowest score among the oldest rows of each class and side. O(classes)."""
    least, least_order, worst = np.inf, LAST, np.int64(NONE)
    classes = arrays.groups.size // 2
    for side in range(2):
        if arrays.sides[side].pool != pool:
            continue
        for at in range(side * classes, (side + 1) * classes):
            row = np.int64(arrays.groups[at].eldest)
            if row == NONE:
                continue
            score = arrays.groups[at].weight * remaining(arrays, row)
            order = value_order(arrays, row)
            if score < least or (score == least and order < least_order):
                least, least_order, worst = score, order, row
    return worst, least, least_order


@inlined
def enter(arrays: Any, own: Any, row: int) -> None:
    """Insert a row into its list, by the window's own scale."""
    lists.join(arrays, row, True)


@inlined
def leave(arrays: Any, own: Any, row: int) -> None:
    """Remove a row from its list."""
    lists.leave(arrays, row)


@inlined
def build(arrays: Any, own: Any, pool: int) -> None:
    """Insert all stored rows of a pool."""
    for row in range(arrays.rows.size):
        if arrays.links[row].alive and arrays.sides[arrays.links[row].side].pool == pool:
            enter(arrays, own, row)


@inlined
def standing(arrays: Any, own: Any, row: int) -> tuple[float, np.int64]:
    """The score of an arrival, by its remaining window."""
    weight = arrays.groups[arrays.rows[row].group].weight
    return weight * remaining(arrays, row), value_order(arrays, row)


class PlainValueScore(PlainScore):
    """Value scores in plain Python."""

    def redefine(self, definition: int) -> None:
        """Recompute the classes, which may depend on importance."""
        classes = self.policy.classify(as_arrivals(self.rows, definition))
        self._weights = [float(weight) for weight in self.policy.class_weights()[classes]]

    def worth(self, row: PlainRow, now: Moment) -> tuple[float, int]:
        """The present score; the older of equals is evicted first, by the window's own scale."""
        remaining = row.end - (now.seen[row.side] if row.by_rows else now.time)
        order = 2 * row.sequence + row.side if row.by_rows else row.position
        weight = self._weights[row.position] * self.importance(row, now.definition)
        return weight * remaining, order


class ValueKind(Kind):
    """One list per class."""

    name = "value"
    uses_heap = False
    plain = PlainValueScore
    enter, leave, build = enter, leave, build
    worst, standing = worst_by_value, standing

    @staticmethod
    def classes(policy: "ValueScore", arrivals: Arrivals) -> tuple[np.ndarray, np.ndarray]:
        """The policy's classes and their weights."""
        return policy.classify(arrivals), policy.class_weights()


@dataclass(frozen=True)
class ValueScore(Policy):
    """Base of policies that score class weight × remaining window."""

    kind: ClassVar[type[Kind]] = ValueKind
    weighs_importance: ClassVar[bool] = True

    @abstractmethod
    def class_weights(self) -> np.ndarray:
        """The weights of the classes, ascending; few, since an eviction looks at each."""

    @abstractmethod
    def classify(self, arrivals: Arrivals) -> np.ndarray:
        """The class of each arriving row."""
