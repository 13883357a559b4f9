"""Who is worth least: the stored row to shed, for each kind of score.

Each kind has a structure over the stored rows of a pool: a heap for scores that belong to a row
(fixed, history), lists in event order for scores of age or of value and time, a shelf by value for
scores along a curve. The structure is built when memory first runs full, and kept up to date from
then on.
"""

from typing import Any

import numpy as np

from headgate.compiling import compiled, inlined
from headgate.engine import curves, lists, residence
from headgate.engine import heap as heaps
from headgate.engine.layout import NONE, Desk
from headgate.engine.marks import NOWHERE
from headgate.engine.priority import resident
from headgate.policies.base import Kind

AGE, VALUE, CURVE = int(Kind.AGE), int(Kind.VALUE), int(Kind.CURVE)
RESIDENCE = int(Kind.RESIDENCE)
LAST = np.int64(1 << 62)
Worst = tuple[np.int64, float, np.int64]
"""A row (or NONE), its score, and its order among equal scores."""


@inlined
def enter(desk: Desk, row: int) -> None:
    """Enter a stored row into its policy's structure."""
    kind = desk.terms[0].kind
    if kind in (AGE, VALUE):
        lists.join(desk, row)
    elif kind == CURVE:
        curves.enter(desk, row)
    elif kind == RESIDENCE:
        residence.enter(resident(desk), row)
    else:
        heaps.enter(desk, desk.sides[desk.links[row].side].pool, row)


@inlined
def leave(desk: Desk, row: int) -> None:
    """Take a row that is no longer stored out of its policy's structure."""
    kind = desk.terms[0].kind
    if kind == AGE:
        group = desk.rows[row].group
        for piece in range(1, desk.edges.shape[1]):
            if desk.edges[group, piece] == row:
                desk.edges[group, piece] = desk.rows[row].elder
    if kind in (AGE, VALUE):
        lists.leave(desk, row)
    elif kind == CURVE:
        curves.leave(desk, row)


@compiled
def build(desk: Desk, pool: int) -> None:
    """Make the structure over the pool's stored rows. O(rows), once a step."""
    desk.pools[pool].ranked = 1
    kind = desk.terms[0].kind
    if kind == RESIDENCE:
        residence.begin(resident(desk), pool)
        return
    size = np.int64(0)
    for row in range(desk.rows.size):
        if not desk.links[row].alive or desk.sides[desk.links[row].side].pool != pool:
            continue
        if kind in (AGE, VALUE):
            lists.join(desk, row)
        elif kind == CURVE:
            curves.enter(desk, row)
        else:
            desk.heap[pool, heaps.ROOT + size].score = desk.rows[row].score
            desk.heap[pool, heaps.ROOT + size].row = row
            size += 1
    desk.pools[pool].heap_size = size
    heaps.heapify(desk.heap[pool], size)


@inlined
def remaining(desk: Desk, row: int) -> int:
    """How much of its window a row has left, in the window's own unit."""
    side = desk.sides[desk.links[row].side]
    now = side.seen if side.by_rows else desk.terms[0].clock >> 1
    return desk.links[row].mark + side.span - now


@inlined
def tie(row: int, slope: float) -> np.int64:
    """Order among equal scores: the elder goes first, unless scores rise with age."""
    return np.int64(-row) if slope > 0 else np.int64(row)


@inlined
def score_at(piece: Any, age: int) -> float:
    """The score of an age within a piece, where importance is 1."""
    return piece.start + piece.slope * (age - piece.age)


@inlined
def moved_edge(desk: Desk, side: int, group: int, at: int, now: int) -> np.int64:
    """The youngest stored row at least as old as a piece: on from where it was. O(1) a row."""
    rows = desk.rows
    age = desk.pieces[side, at].age
    edge = desk.edges[group, at]
    younger = np.int64(desk.groups[group].eldest if edge == NONE else rows[edge].younger)
    while younger != NONE and now - rows[younger].time >= age:
        edge = younger
        younger = np.int64(rows[edge].younger)
    desk.edges[group, at] = edge
    return edge


@compiled
def worst_by_age(desk: Desk, pool: int) -> Worst:
    """Each piece of each group offers its eldest row where scores fall, else its youngest."""
    now = desk.terms[0].clock >> 1
    least, least_order, worst = np.inf, LAST, np.int64(NONE)
    pieces = desk.pieces.shape[1]
    groups = desk.groups.size // 2
    for side in range(2):
        if desk.sides[side].pool != pool:
            continue
        for number in range(side * groups, (side + 1) * groups):
            group = desk.groups[number]
            edge = np.int64(group.youngest)
            if edge == NONE:
                continue
            for at in range(pieces):
                piece = desk.pieces[side, at]
                beyond = np.int64(NONE)
                if at + 1 < pieces:
                    beyond = moved_edge(desk, side, number, at + 1, now)
                if edge == beyond:
                    continue
                row = edge
                if not piece.slope > 0:
                    row = np.int64(group.eldest if beyond == NONE else desk.rows[beyond].younger)
                score = group.weight * score_at(piece, now - desk.rows[row].time)
                order = tie(row, piece.slope)
                if score < least or (score == least and order < least_order):
                    least, least_order, worst = score, order, row
                edge = beyond
    return worst, least, least_order


@inlined
def value_order(desk: Desk, row: int) -> np.int64:
    """Order among equal value scores: the elder goes first, by the window's own scale."""
    own = desk.links[row]
    if desk.sides[own.side].by_rows:
        return np.int64(2 * own.mark + own.side)
    return np.int64(row)


@compiled
def worst_by_value(desk: Desk, pool: int) -> Worst:
    """Each class of each side offers its eldest row. O(classes)."""
    least, least_order, worst = np.inf, LAST, np.int64(NONE)
    classes = desk.groups.size // 2
    for side in range(2):
        if desk.sides[side].pool != pool:
            continue
        for at in range(side * classes, (side + 1) * classes):
            row = np.int64(desk.groups[at].eldest)
            if row == NONE:
                continue
            score = desk.groups[at].weight * remaining(desk, row)
            order = value_order(desk, row)
            if score < least or (score == least and order < least_order):
                least, least_order, worst = score, order, row
    return worst, least, least_order


@compiled
def worst_by_curve(desk: Desk, pool: int) -> Worst:
    """Each piece of each class of age offers a row of each level. O(pieces · levels · log rows)."""
    least, least_order, worst = np.inf, LAST, np.int64(NONE)
    atlas = desk.atlas
    levels = desk.groups.size // 2
    for side in range(2):
        own = desk.sides[side]
        if own.pool != pool:
            continue
        curves.grow_older(desk, side)
        for age in range(atlas.classes[side]):
            pieces = 1 if own.frame == NONE else atlas.pieces[side, own.frame, age]
            for piece in range(pieces):
                begin, end = curves.stretch_of(desk, side, age, piece)
                if begin == end:
                    continue
                rising = own.frame == NONE or atlas.rising[side, own.frame, age, piece] != 0
                for level in range(levels):
                    row = curves.worst_within(desk, level, age, begin, end, rising)
                    if row == NOWHERE:
                        continue
                    offset = desk.shelf.value[row] - own.origin
                    score = 0.0
                    if own.frame != NONE:
                        weight = desk.groups[side * levels + level].weight
                        score = weight * curves.worth(desk, side, age, offset)
                    order = curves.order_of(row, offset, rising)
                    if score < least or (score == least and order < least_order):
                        least, least_order, worst = score, order, row
    return worst, least, least_order


@inlined
def worst_by_score(desk: Desk, pool: int) -> Worst:
    """The top of the heap."""
    heaps.drop_stale(desk, pool)
    if desk.pools[pool].heap_size == 0:
        return np.int64(NONE), np.inf, LAST
    top = desk.heap[pool, heaps.ROOT]
    return top.row, top.score, top.row


@inlined
def worst_stored(desk: Desk, pool: int) -> Worst:
    """The pool's stored row worth least (or NONE), its score, and its order among equal scores."""
    if not desk.pools[pool].ranked:
        build(desk, pool)
    if desk.terms[0].kind == AGE:
        return worst_by_age(desk, pool)
    if desk.terms[0].kind == VALUE:
        return worst_by_value(desk, pool)
    if desk.terms[0].kind == CURVE:
        return worst_by_curve(desk, pool)
    if desk.terms[0].kind == RESIDENCE:
        return residence.worst(resident(desk), pool)
    return worst_by_score(desk, pool)


@compiled
def forget(desk: Desk) -> None:
    """Drop the structures, since scores have changed; they are built again when needed."""
    desk.pools[0].ranked = 0
    desk.pools[1].ranked = 0
    for group in range(desk.groups.size):
        desk.groups[group].eldest = NONE
        desk.groups[group].youngest = NONE
    desk.edges[:] = NONE
    desk.shelf.stored.words[:] = 0


@inlined
def eldest(desk: Desk, pool: int) -> np.int64:
    """The pool's oldest stored row, or NONE. O(1) over all."""
    oldest = np.int64(NONE)
    for side in range(2):
        own = desk.sides[side]
        if own.pool != pool:
            continue
        at = own.eldest
        while at < own.end and not desk.links[desk.side_rows[at]].alive:
            at += 1
        own.eldest = at
        if at < own.end:
            row = np.int64(desk.side_rows[at])
            if oldest == NONE or row < oldest:
                oldest = row
    return oldest


@inlined
def standing(desk: Desk, row: int) -> tuple[float, np.int64]:
    """A newcomer's score, and its order among equal scores."""
    kind = desk.terms[0].kind
    newcomer = desk.rows[row]
    side = desk.links[row].side
    if kind == AGE:
        age = (desk.terms[0].clock >> 1) - newcomer.time
        at = 0
        while at + 1 < desk.pieces.shape[1] and age >= desk.pieces[side, at + 1].age:
            at += 1
        piece = desk.pieces[side, at]
        score = desk.groups[newcomer.group].weight * score_at(piece, age)
        return score, tie(row, piece.slope)
    if kind == VALUE:
        return desk.groups[newcomer.group].weight * remaining(desk, row), value_order(desk, row)
    if kind == CURVE:
        return curves.judge(desk, row, side, curves.age_class(desk, row, side))
    return newcomer.score, np.int64(row)
