"""Scores that are piecewise linear functions of a row's age.

Rows of one side and importance form a list, oldest first. Within a linear piece of the score, the
row of lowest score is at one end, so an eviction looks at one row per piece.
"""

from abc import abstractmethod
from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar, NamedTuple

import numpy as np

from headgate.compiling import compiled
from headgate.policies.kinds.kind import Given, Kind
from headgate.policies.kinds.plain_score import PlainRow, PlainScore, ScoreMoment
from headgate.policies.policy import Policy
from headgate.policies.structures import lists, marks
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

    pieces: np.ndarray  # PIECE (side, then side once the score fell; piece)
    edges: np.ndarray  # int64 (group, piece): youngest stored row of that age; not for the first
    fallen: marks.Marks  # listed rows whose score fell, by position; where scores fall


@compiled
def tie(row: int, slope: float) -> np.int64:
    """Order among equal scores: the older row is evicted first, unless scores rise with age."""
    return np.int64(-row) if slope > 0 else np.int64(row)


@compiled
def score_at(piece: Any, age: int) -> float:
    """The score of an age within a piece, where importance is 1."""
    return float(piece.start + piece.slope * (age - piece.age))


@compiled
def curve_of(arrays: Any, side: int, group: int) -> Any:
    """The place of a group's pieces: its side, and after both sides those of rows that fell."""
    if arrays.terms[0].falls and 4 * group >= (2 * side + 1) * arrays.groups.size:
        return np.int64(side + 2)
    return np.int64(side)


@compiled
def moved_edge(arrays: Any, own: Ages, curve: int, group: int, at: int, now: int) -> np.int64:
    """The youngest stored row at least as old as a piece, from the last edge on. Amortised O(1)."""
    rows = arrays.rows
    age = own.pieces[curve, at].age
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
            curve = curve_of(arrays, side, number)
            for at in range(pieces):
                piece = own.pieces[curve, at]
                beyond = np.int64(NONE)
                if at + 1 < pieces:
                    beyond = moved_edge(arrays, own, curve, number, at + 1, now)
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


@compiled
def enter(arrays: Any, own: Ages, row: int) -> None:
    """Insert a row into its list, which is in event order."""
    lists.join(arrays, row, False)
    if curve_of(arrays, np.int64(arrays.links[row].side), arrays.rows[row].group) >= 2:
        marks.take(own.fallen, row)


@compiled
def leave(arrays: Any, own: Ages, row: int) -> None:
    """Remove a row from its list; edges at it move to the next older row."""
    group = arrays.rows[row].group
    for piece in range(1, own.edges.shape[1]):
        if own.edges[group, piece] == row:
            own.edges[group, piece] = arrays.rows[row].elder
    lists.leave(arrays, row)
    if curve_of(arrays, np.int64(arrays.links[row].side), group) >= 2:
        marks.free(own.fallen, row)


@compiled
def fall(arrays: Any, own: Ages, row: int) -> None:
    """Move a row to the list of those whose score fell.

    O(log rows), for rows of equal importance: the next older row there is found in a bitmap.
    """
    group = arrays.rows[row].group + arrays.groups.size // 4
    pool = arrays.sides[arrays.links[row].side].pool
    if not (arrays.links[row].alive and arrays.pools[pool].ranked):
        arrays.rows[row].group = group
        return
    leave(arrays, own, row)
    arrays.rows[row].group = group
    elder = marks.last_taken(own.fallen, row)
    while elder >= 0 and arrays.rows[elder].group != group:
        elder = marks.last_taken(own.fallen, elder - 1)
    lists.insert_after(arrays, row, np.int64(NONE) if elder < 0 else elder)
    marks.take(own.fallen, row)


@compiled
def build(arrays: Any, own: Ages, pool: int) -> None:
    """Insert all stored rows of a pool."""
    for row in range(arrays.rows.size):
        if arrays.links[row].alive and arrays.sides[arrays.links[row].side].pool == pool:
            enter(arrays, own, row)


@compiled
def standing(arrays: Any, own: Ages, row: int) -> tuple[float, np.int64]:
    """The score of an arrival by its age, which is above 0 for a late row."""
    newcomer = arrays.rows[row]
    curve = curve_of(arrays, np.int64(arrays.links[row].side), newcomer.group)
    age = (arrays.terms[0].clock >> 1) - newcomer.time
    at = 0
    while at + 1 < own.pieces.shape[1] and age >= own.pieces[curve, at + 1].age:
        at += 1
    piece = own.pieces[curve, at]
    score = arrays.groups[newcomer.group].weight * score_at(piece, age)
    return score, tie(row, piece.slope)


@compiled
def forget(arrays: Any, own: Ages, definition: int) -> None:
    """Clear the lists, to be rebuilt."""
    own.edges[:] = NONE
    own.fallen.words[:] = 0


class PlainAgeScore(PlainScore):
    """Age scores in plain Python."""

    def worth(self, row: PlainRow, now: ScoreMoment) -> tuple[float, int]:
        """Among equals the older row is evicted first; the younger where scores rise with age."""
        age = now.time - row.time
        of_side = self.policy.fallen_pieces if self.has_fallen(row) else self.policy.pieces
        first, *more = of_side(row.side, self.terms.windows[row.side])
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
    worst, standing, forget, fall = worst_by_age, standing, forget, fall

    @staticmethod
    def arrays(given: Given) -> Ages:
        """The pieces of both sides."""
        policy, sides = given.policy, tuple(enumerate(given.windows))
        curves = [policy.pieces(*side) for side in sides]
        if policy.falls:
            curves += [policy.fallen_pieces(*side) for side in sides]
        pieces = np.zeros((len(curves), max(len(curve) for curve in curves)), PIECE)
        pieces["age"] = np.inf
        for which, told in enumerate(curves):
            for place, piece in enumerate(told):
                pieces[which, place] = tuple(piece)
        edges = np.full((2 * given.levels, pieces.shape[1]), NONE, np.int64)
        return Ages(pieces, edges, marks.no_marks(len(given.rows) if policy.falls else 0))

    @staticmethod
    @cache
    def no_arrays() -> Ages:
        """No pieces."""
        return Ages(np.zeros((2, 0), PIECE), np.zeros((0, 0), np.int64), marks.no_marks(0))


@dataclass(frozen=True)
class AgeScore(Policy):
    """Base of policies whose score is a piecewise linear function of age."""

    kind: ClassVar[type[Kind]] = AgeKind

    @abstractmethod
    def pieces(self, side: int, window: Window) -> tuple[Piece, ...]:
        """The score's pieces for rows of a side, the first from age 0."""

    def fallen_pieces(self, side: int, window: Window) -> tuple[Piece, ...]:
        """The score's pieces for rows that have met a partner, or may have lost one."""
        return self.pieces(side, window)
