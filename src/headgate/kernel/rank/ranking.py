"""Who is worth least: the stored row to shed, for each kind of score.

Each kind has a structure over the stored rows of a pool: a heap for scores that belong to a row
(fixed, history), lists in event order for scores of age or of value and time, rows sorted by value
for scores along a curve. The structure is built when memory first runs full, and kept up to date
from then on.
"""

from typing import Any

import numpy as np

from headgate.compiling import compiled, inlined
from headgate.kernel.layout import NONE, Arrays
from headgate.kernel.marks import NOWHERE
from headgate.kernel.rank import curves, lists, residence
from headgate.kernel.rank import heap as heaps
from headgate.kernel.rank.priority import resident
from headgate.policies.policy import Kind

AGE, VALUE, CURVE = int(Kind.AGE), int(Kind.VALUE), int(Kind.CURVE)
RESIDENCE = int(Kind.RESIDENCE)
LAST = np.int64(1 << 62)
Worst = tuple[np.int64, float, np.int64]
"""A row (or NONE), its score, and its order among equal scores."""


@inlined
def enter(arrays: Arrays, row: int) -> None:
    """Enter a stored row into its policy's structure."""
    kind = arrays.terms[0].kind
    if kind in (AGE, VALUE):
        lists.join(arrays, row)
    elif kind == CURVE:
        curves.enter(arrays, row)
    elif kind == RESIDENCE:
        residence.enter(resident(arrays), row)
    else:
        heaps.enter(arrays, arrays.sides[arrays.links[row].side].pool, row)


@inlined
def leave(arrays: Arrays, row: int) -> None:
    """Take a row that is no longer stored out of its policy's structure."""
    kind = arrays.terms[0].kind
    if kind == AGE:
        group = arrays.rows[row].group
        for piece in range(1, arrays.edges.shape[1]):
            if arrays.edges[group, piece] == row:
                arrays.edges[group, piece] = arrays.rows[row].elder
    if kind in (AGE, VALUE):
        lists.leave(arrays, row)
    elif kind == CURVE:
        curves.leave(arrays, row)


@compiled
def build(arrays: Arrays, pool: int) -> None:
    """Make the structure over the pool's stored rows. O(rows), once a step."""
    arrays.pools[pool].ranked = 1
    kind = arrays.terms[0].kind
    if kind == RESIDENCE:
        residence.begin(resident(arrays), pool)
        return
    size = np.int64(0)
    for row in range(arrays.rows.size):
        if not arrays.links[row].alive or arrays.sides[arrays.links[row].side].pool != pool:
            continue
        if kind in (AGE, VALUE):
            lists.join(arrays, row)
        elif kind == CURVE:
            curves.enter(arrays, row)
        else:
            arrays.heap[pool, heaps.ROOT + size].score = arrays.rows[row].score
            arrays.heap[pool, heaps.ROOT + size].row = row
            size += 1
    arrays.pools[pool].heap_size = size
    heaps.heapify(arrays.heap[pool], size)


@inlined
def remaining(arrays: Arrays, row: int) -> int:
    """How much of its window a row has left, in the window's own unit."""
    side = arrays.sides[arrays.links[row].side]
    now = side.seen if side.by_rows else arrays.terms[0].clock >> 1
    return arrays.links[row].mark + side.span - now


@inlined
def tie(row: int, slope: float) -> np.int64:
    """Order among equal scores: the elder goes first, unless scores rise with age."""
    return np.int64(-row) if slope > 0 else np.int64(row)


@inlined
def score_at(piece: Any, age: int) -> float:
    """The score of an age within a piece, where importance is 1."""
    return piece.start + piece.slope * (age - piece.age)


@inlined
def moved_edge(arrays: Arrays, side: int, group: int, at: int, now: int) -> np.int64:
    """The youngest stored row at least as old as a piece: on from where it was. O(1) a row."""
    rows = arrays.rows
    age = arrays.pieces[side, at].age
    edge = arrays.edges[group, at]
    younger = np.int64(arrays.groups[group].eldest if edge == NONE else rows[edge].younger)
    while younger != NONE and now - rows[younger].time >= age:
        edge = younger
        younger = np.int64(rows[edge].younger)
    arrays.edges[group, at] = edge
    return edge


@compiled
def worst_by_age(arrays: Arrays, pool: int) -> Worst:
    """Each piece of each group offers its eldest row where scores fall, else its youngest."""
    now = arrays.terms[0].clock >> 1
    least, least_order, worst = np.inf, LAST, np.int64(NONE)
    pieces = arrays.pieces.shape[1]
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
                piece = arrays.pieces[side, at]
                beyond = np.int64(NONE)
                if at + 1 < pieces:
                    beyond = moved_edge(arrays, side, number, at + 1, now)
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
def value_order(arrays: Arrays, row: int) -> np.int64:
    """Order among equal value scores: the elder goes first, by the window's own scale."""
    own = arrays.links[row]
    if arrays.sides[own.side].by_rows:
        return np.int64(2 * own.mark + own.side)
    return np.int64(row)


@compiled
def worst_by_value(arrays: Arrays, pool: int) -> Worst:
    """Each class of each side offers its eldest row. O(classes)."""
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


@compiled
def worst_by_curve(arrays: Arrays, pool: int) -> Worst:
    """Each piece of each class of age offers a row of each level. O(pieces · levels · log rows)."""
    least, least_order, worst = np.inf, LAST, np.int64(NONE)
    curve_tables = arrays.curve_tables
    levels = arrays.groups.size // 2
    for side in range(2):
        own = arrays.sides[side]
        if own.pool != pool:
            continue
        curves.grow_older(arrays, side)
        for age in range(curve_tables.classes[side]):
            pieces = 1 if own.frame == NONE else curve_tables.pieces[side, own.frame, age]
            for piece in range(pieces):
                begin, end = curves.stretch_of(arrays, side, age, piece)
                if begin == end:
                    continue
                rising = own.frame == NONE or curve_tables.rising[side, own.frame, age, piece] != 0
                for level in range(levels):
                    row = curves.worst_within(arrays, level, age, begin, end, rising)
                    if row == NOWHERE:
                        continue
                    offset = arrays.sorted_values.value[row] - own.origin
                    score = 0.0
                    if own.frame != NONE:
                        weight = arrays.groups[side * levels + level].weight
                        score = weight * curves.worth(arrays, side, age, offset)
                    order = curves.order_of(row, offset, rising)
                    if score < least or (score == least and order < least_order):
                        least, least_order, worst = score, order, row
    return worst, least, least_order


@inlined
def worst_by_score(arrays: Arrays, pool: int) -> Worst:
    """The top of the heap."""
    heaps.drop_stale(arrays, pool)
    if arrays.pools[pool].heap_size == 0:
        return np.int64(NONE), np.inf, LAST
    top = arrays.heap[pool, heaps.ROOT]
    return top.row, top.score, top.row


@inlined
def worst_stored(arrays: Arrays, pool: int) -> Worst:
    """The pool's stored row worth least (or NONE), its score, and its order among equal scores."""
    if not arrays.pools[pool].ranked:
        build(arrays, pool)
    if arrays.terms[0].kind == AGE:
        return worst_by_age(arrays, pool)
    if arrays.terms[0].kind == VALUE:
        return worst_by_value(arrays, pool)
    if arrays.terms[0].kind == CURVE:
        return worst_by_curve(arrays, pool)
    if arrays.terms[0].kind == RESIDENCE:
        return residence.worst(resident(arrays), pool)
    return worst_by_score(arrays, pool)


@compiled
def forget(arrays: Arrays) -> None:
    """Drop the structures, since scores have changed; they are built again when needed."""
    arrays.pools[0].ranked = 0
    arrays.pools[1].ranked = 0
    for group in range(arrays.groups.size):
        arrays.groups[group].eldest = NONE
        arrays.groups[group].youngest = NONE
    arrays.edges[:] = NONE
    arrays.sorted_values.stored.words[:] = 0


@inlined
def eldest(arrays: Arrays, pool: int) -> np.int64:
    """The pool's oldest stored row, or NONE. O(1) over all."""
    oldest = np.int64(NONE)
    for side in range(2):
        own = arrays.sides[side]
        if own.pool != pool:
            continue
        at = own.eldest
        while at < own.end and not arrays.links[arrays.side_rows[at]].alive:
            at += 1
        own.eldest = at
        if at < own.end:
            row = np.int64(arrays.side_rows[at])
            if oldest == NONE or row < oldest:
                oldest = row
    return oldest


@inlined
def standing(arrays: Arrays, row: int) -> tuple[float, np.int64]:
    """A newcomer's score, and its order among equal scores."""
    kind = arrays.terms[0].kind
    newcomer = arrays.rows[row]
    side = arrays.links[row].side
    if kind == AGE:
        age = (arrays.terms[0].clock >> 1) - newcomer.time
        at = 0
        while at + 1 < arrays.pieces.shape[1] and age >= arrays.pieces[side, at + 1].age:
            at += 1
        piece = arrays.pieces[side, at]
        score = arrays.groups[newcomer.group].weight * score_at(piece, age)
        return score, tie(row, piece.slope)
    if kind == VALUE:
        return arrays.groups[newcomer.group].weight * remaining(arrays, row), value_order(
            arrays, row
        )
    if kind == CURVE:
        return curves.judge(arrays, row, side, curves.age_class(arrays, row, side))
    return newcomer.score, np.int64(row)
