"""Scores of a row's key and remaining window: class weight × remaining window.

Rows of one side, class and importance form a list, oldest first; the oldest has the lowest score,
or in an anti join, whose rows are to have no match, the youngest.
"""

import math
from abc import abstractmethod
from dataclasses import dataclass, field
from functools import cache
from typing import Any, ClassVar, NamedTuple

import numpy as np

from headgate.compiling import compiled
from headgate.policies.kinds.kind import Given, Kind
from headgate.policies.kinds.plain_score import PlainRow, PlainScore, ScoreMoment
from headgate.policies.policy import ONLY_PAIRS, Arrivals, Policy
from headgate.policies.structures import lists
from headgate.policies.structures.no_row import LAST, NONE
from headgate.spec import Brings

FIRST, ALONE, NOTHING = int(Brings.FIRST), int(Brings.ALONE), int(Brings.NOTHING)


class ValueArrays(NamedTuple):
    """The kind's own arrays."""

    brings: np.ndarray  # int64, by side: see `Brings`
    matches: np.ndarray  # float64, by side: expected of weight × remaining window 1; 0 if not known


@compiled
def remaining(arrays: Any, row: int) -> int:
    """The rest of a row's window, in the window's own unit."""
    side = arrays.sides[arrays.links[row].side]
    now = side.seen if side.by_rows else arrays.terms[0].clock >> 1
    return arrays.links[row].mark + side.span - now


@compiled
def value_order(arrays: Any, own: ValueArrays, row: int) -> np.int64:
    """Order among equal scores: the older row first, by the window's own scale; the younger where
    rows are to stay to the end."""
    link = arrays.links[row]
    order = np.int64(row)
    if arrays.sides[link.side].by_rows:
        order = np.int64(2 * link.mark + link.side)
    return -order if own.brings[link.side] == ALONE else order


@compiled
def is_by_kind(own: ValueArrays, side: int) -> bool:
    """Whether rows of a side bring something else than class weight × remaining window."""
    brings = own.brings[side]
    if brings == FIRST:
        return bool(own.matches[side] > 0.0)
    return bool(brings == ALONE) or bool(brings == NOTHING)


@compiled
def brought(own: ValueArrays, side: int, value: float) -> float:
    """What a row brings to the kind of join, by its class weight × remaining window."""
    brings, matches = own.brings[side], own.matches[side]
    if brings == FIRST and matches > 0.0:
        return -math.expm1(-matches * value) / matches
    if brings == ALONE:
        return -value
    if brings == NOTHING:
        return -np.inf
    return float(value)


@compiled
def value_of(arrays: Any, own: ValueArrays, row: int) -> float:
    """The score: class weight × remaining window, or what that brings to the kind of join."""
    value = arrays.groups[arrays.rows[row].group].weight * remaining(arrays, row)
    return brought(own, np.int64(arrays.links[row].side), value)


@compiled
def worst_by_value(arrays: Any, own: ValueArrays, pool: int) -> tuple[np.int64, float, np.int64]:
    """The lowest score among the oldest (or youngest) rows of each class and side. O(classes)."""
    least, least_order, worst = np.inf, LAST, np.int64(NONE)
    classes = arrays.groups.size // 2
    for side in range(2):
        if arrays.sides[side].pool != pool:
            continue
        from_youngest = own.brings[side] == ALONE
        by_pairs = not is_by_kind(own, side)
        for at in range(side * classes, (side + 1) * classes):
            group = arrays.groups[at]
            row = np.int64(group.youngest if from_youngest else group.eldest)
            if row == NONE:
                continue
            value = group.weight * remaining(arrays, row)
            score = float(value) if by_pairs else brought(own, side, value)
            # Ties are rare: only there does the order matter.
            if score > least:
                continue
            order = value_order(arrays, own, row)
            if score < least or (score == least and order < least_order):
                least, least_order, worst = score, order, row
    return worst, least, least_order


@compiled
def enter(arrays: Any, own: Any, row: int) -> None:
    """Insert a row into its list, by the window's own scale."""
    lists.join(arrays, row, True)


@compiled
def leave(arrays: Any, own: Any, row: int) -> None:
    """Remove a row from its list."""
    lists.leave(arrays, row)


@compiled
def build(arrays: Any, own: Any, pool: int) -> None:
    """Insert all stored rows of a pool."""
    for row in range(arrays.rows.size):
        if arrays.links[row].alive and arrays.sides[arrays.links[row].side].pool == pool:
            enter(arrays, own, row)


@compiled
def standing(arrays: Any, own: Any, row: int) -> tuple[float, np.int64]:
    """The score of an arrival, by its remaining window."""
    return value_of(arrays, own, row), value_order(arrays, own, row)


class PlainValueScore(PlainScore):
    """Value scores in plain Python."""

    def redefine(self, definition: int) -> None:
        """Recompute the classes, which may depend on importance."""
        classes = self.policy.classify(self.arrivals(definition))
        self._weights = [float(weight) for weight in self.policy.class_weights()[classes]]

    def worth(self, row: PlainRow, now: ScoreMoment) -> tuple[float, int]:
        """The present score; the older of equals is evicted first, by the window's own scale."""
        remaining = row.end - (now.seen[row.side] if row.by_rows else now.time)
        order = 2 * row.sequence + row.side if row.by_rows else row.position
        weight = self._weights[row.position] * self.importance(row, now.definition)
        value = weight * remaining
        brings, matches = self.policy.brings[row.side], self.policy.matches_a_unit[row.side]
        if brings == Brings.ALONE:
            return -value, -order
        if brings == Brings.FIRST and matches > 0:
            value = -math.expm1(-matches * value) / matches
        return (-math.inf if brings == Brings.NOTHING else value), order


class ValueKind(Kind):
    """One list per class."""

    name = "value"
    uses_heap = False
    plain = PlainValueScore
    enter, leave, build = enter, leave, build
    worst, standing = worst_by_value, standing

    @staticmethod
    def arrays(given: Given) -> ValueArrays:
        """What rows of each side bring."""
        policy = given.policy
        return ValueArrays(np.array(policy.brings, np.int64), np.array(policy.matches_a_unit))

    @staticmethod
    @cache
    def no_arrays() -> ValueArrays:
        """Nothing."""
        return ValueArrays(np.zeros(2, np.int64), np.zeros(2))

    @staticmethod
    def classes(policy: "ValueScore", arrivals: Arrivals) -> tuple[np.ndarray, np.ndarray]:
        """The policy's classes and their weights."""
        return policy.classify(arrivals), policy.class_weights()


@dataclass(frozen=True)
class ValueScore(Policy):
    """Base of policies that score class weight × remaining window."""

    brings: tuple[Brings, Brings] = field(default=ONLY_PAIRS, repr=False, kw_only=True)
    """What rows of each side bring to the join."""
    matches_a_unit: tuple[float, float] = field(default=(0.0, 0.0), repr=False, kw_only=True)
    """By side: matches expected of weight × remaining window 1; 0 where that is not known."""

    kind: ClassVar[type[Kind]] = ValueKind
    weighs_importance: ClassVar[bool] = True

    @abstractmethod
    def class_weights(self) -> np.ndarray:
        """The weights of the classes, ascending; few, since an eviction looks at each."""

    @abstractmethod
    def classify(self, arrivals: Arrivals) -> np.ndarray:
        """The class of each arriving row."""
