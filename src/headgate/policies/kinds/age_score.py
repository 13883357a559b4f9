"""Scores that are piecewise linear functions of a row's age.

Rows of one side and importance form a list, oldest first. Within a linear piece of the score, the
row of lowest score is at one end, so an eviction looks at one row per piece.
"""

from abc import abstractmethod
from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar, NamedTuple

import numpy as np

from headgate.compiling import compiled, inlined
from headgate.policies.kinds.kind import Given, Kind
from headgate.policies.kinds.plain_score import Moment, PlainRow, PlainScore
from headgate.policies.policy import Policy
from headgate.policies.structures import lists
from headgate.policies.structures.no_row import LAST, NONE
from headgate.spec import Window

PIECE = np.dtype(
    [
        ("age", "f8"),  # age at which the piece begins; infinite where a side has fewer pieces
        ("start", "f8"),  # score there
        ("slope", "f8"),  # change of score per microsecond of age
    ],
    align=True,
)


class Piece(NamedTuple):
    """A stretch of ages, from ``age`` on, over which a score is linear."""

    age: float
    start: float  # score at that age
    slope: float  # change of score per microsecond


class Ages(NamedTuple):
    """The kind's own arrays."""

    pieces: np.ndarray  # PIECE (side, piece)
    edges: np.ndarray  # int64 (group, piece): youngest stored row of that age; not for the first


@inlined
def tie(row: int, slope: float) -> np.int64:
    """Order among equal scores: the older row is evicted first, unless scores rise with age."""
    return np.int64(-row) if slope > 0 else np.int64(row)


@inlined
def score_at(piece: Any, age: int) -> float:
    """The score of an age within a piece, where importance is 1."""
    return float(piece.start + piece.slope * (age - piece.age))


@inlined
def moved_edge(arrays: Any, own: Ages, side: int, group: int, at: int, now: int) -> np.int64:
    """The youngest stored row at least as old as a piece, from the last edge on. Amortised O(1)."""
    rows = arrays.rows
    age = own.pieces[side, at].age
    edge = own.edges[group, at]
    younger = np.int64(arrays.groups[group].eldest if edge == NONE else rows[edge].younger)
    while younger != NONE and now - rows[younger].time >= age:
        edge = younger
        younger = np.int64(rows[edge].younger)
    own.edges[group, at] = edge
    return np.int64(edge)


@compiled
def worst_by_age(arrays: Any, own: Ages, pool: int) -> tuple[np.int64, float, np.int64]:
    """The lowest score: per piece and group, the oldest row if scores fall, else the youngest."""
    now = arrays.terms[0].clock >> 1
    least, least_order, worst = np.inf, LAST, np.int64(NONE)
    pieces = own.pieces.shape[1]
    groups = arrays.groups.size // 2
    for side in range(2):
        if arrays.sides[side].pool != pool:
            continue
        for number in range(side * groups, (side + 1) * groups):
            group = arrays.groups[number]
            edge = np.int64(group.youngest)
            if edge == NONE:
                continue
            for at in range(pieces):
                piece = own.pieces[side, at]
                beyond = np.int64(NONE)
                if at + 1 < pieces:
                    beyond = moved_edge(arrays, own, side, number, at + 1, now)
                if edge == beyond:
                    continue
                row = edge
                if not piece.slope > 0:
                    row = np.int64(group.eldest if beyond == NONE else arrays.rows[beyond].younger)
                score = group.weight * score_at(piece, now - arrays.rows[row].time)
                order = tie(row, piece.slope)
                if score < least or (score == least and order < least_order):
                    least, least_order, worst = score, order, row
                edge = beyond
    return worst, least, least_order


@inlined
def enter(arrays: Any, own: Ages, row: int) -> None:
    """Insert a row into its list, which is in event order."""
    lists.join(arrays, row, False)


@inlined
def leave(arrays: Any, own: Ages, row: int) -> None:
    """Remove a row from its list; edges at it move to the next older row."""
    group = arrays.rows[row].group
    for piece in range(1, own.edges.shape[1]):
        if own.edges[group, piece] == row:
            own.edges[group, piece] = arrays.rows[row].elder
    lists.leave(arrays, row)


@inlined
def build(arrays: Any, own: Ages, pool: int) -> None:
    """Insert all stored rows of a pool."""
    for row in range(arrays.rows.size):
        if arrays.links[row].alive and arrays.sides[arrays.links[row].side].pool == pool:
            enter(arrays, own, row)


@inlined
def standing(arrays: Any, own: Ages, row: int) -> tuple[float, np.int64]:
    """The score of an arrival by its age, which is above 0 for a late row."""
    newcomer = arrays.rows[row]
    side = arrays.links[row].side
    age = (arrays.terms[0].clock >> 1) - newcomer.time
    at = 0
    while at + 1 < own.pieces.shape[1] and age >= own.pieces[side, at + 1].age:
        at += 1
    piece = own.pieces[side, at]
    score = arrays.groups[newcomer.group].weight * score_at(piece, age)
    return score, tie(row, piece.slope)


@inlined
def forget(arrays: Any, own: Ages, definition: int) -> None:
    """Clear the lists, to be rebuilt."""
    own.edges[:] = NONE


class PlainAgeScore(PlainScore):
    """Age scores in plain Python."""

    def worth(self, row: PlainRow, now: Moment) -> tuple[float, int]:
        """Among equals the older row is evicted first; the younger where scores rise with age."""
        age = now.time - row.time
        first, *more = self.policy.pieces(row.side, self.terms.windows[row.side])
        piece = [first, *(piece for piece in more if age >= piece.age)][-1]
        score = piece.start + piece.slope * (age - piece.age)
        order = -row.position if piece.slope > 0 else row.position
        return self.importance(row, now.definition) * score, order


class AgeKind(Kind):
    """Lists in event order, with one edge per piece."""

    name = "age"
    uses_heap = False
    plain = PlainAgeScore
    enter, leave, build = enter, leave, build
    worst, standing, forget = worst_by_age, standing, forget

    @staticmethod
    def arrays(given: Given) -> Ages:
        """The pieces of both sides."""
        by_side = [given.policy.pieces(side, given.windows[side]) for side in (0, 1)]
        pieces = np.zeros((2, max(len(side) for side in by_side)), PIECE)
        pieces["age"] = np.inf
        for side, told in enumerate(by_side):
            for place, piece in enumerate(told):
                pieces[side, place] = tuple(piece)
        return Ages(pieces, np.full((2 * given.levels, pieces.shape[1]), NONE, np.int64))

    @staticmethod
    @cache
    def no_arrays() -> Ages:
        """No pieces."""
        return Ages(np.zeros((2, 0), PIECE), np.zeros((0, 0), np.int64))


@dataclass(frozen=True)
class AgeScore(Policy):
    """Base of policies whose score is a piecewise linear function of age."""

    kind: ClassVar[type[Kind]] = AgeKind

    @abstractmethod
    def pieces(self, side: int, window: Window) -> tuple[Piece, ...]:
        """The score's pieces for rows of a side, the first from age 0."""
