"""A lazy heap per pool, for scores that are kept with the row.

A four-ary min-heap of (score, row). Rows removed elsewhere keep their entry until it reaches the
top or the heap is rebuilt; a rebuild happens when more than half of it is stale, so an eviction
costs O(log stored) however long the stream runs. Ties go to the row earlier in event order.

``arrays`` is an `Arrays`, or a part of one with its links, rows, pools and heap.
"""

from typing import Any

import numpy as np

from headgate.compiling import compiled, prefetch
from headgate.policies.structures.no_row import LAST, NONE

ENTRY = np.dtype([("score", "f8"), ("row", "i8")], align=True)

SLACK = 1024
"""Stale entries a heap may always carry, so that small heaps are not rebuilt all the time."""
ROOT: Any = np.int64(3)
"""Place of the least entry. The children of ``at`` then begin at ``4 * (at - 2)``: four entries in
one cache line, if the heap itself begins a line."""
LINE_BYTES = 64


def empty_heaps(most_rows: int) -> np.ndarray:
    """Two heaps for ``most_rows`` live rows each, as many stale entries, and the slack."""
    entries = -(-(ROOT + 2 * most_rows + SLACK + 8) // 4) * 4
    raw = np.empty(2 * entries * ENTRY.itemsize + LINE_BYTES, np.uint8)
    first = -raw.ctypes.data % LINE_BYTES
    return raw[first : first + 2 * entries * ENTRY.itemsize].view(ENTRY).reshape(2, entries)


@compiled
def sift_down(heap: np.ndarray, size: int, at: int, score: float, row: int) -> None:
    """Place (score, row) at or below ``at``, moving lesser children up. O(log size)."""
    end = ROOT + size
    while True:
        child = 4 * (at - 2)
        if child >= end:
            break
        below = 4 * (child - 2)
        if below + 12 < end:
            for line in range(4):
                prefetch(heap, below + 4 * line)
        least = child
        least_score = heap[child].score
        for other in range(child + 1, min(child + 4, end)):
            other_score = heap[other].score
            if other_score < least_score or (
                other_score == least_score and heap[other].row < heap[least].row
            ):
                least = other
                least_score = other_score
        if least_score > score or (least_score == score and heap[least].row > row):
            break
        heap[at].score = least_score
        heap[at].row = heap[least].row
        at = least
    heap[at].score = score
    heap[at].row = row


@compiled
def sift_up(heap: np.ndarray, at: int, score: float, row: int) -> None:
    """Place (score, row) at or above ``at``, moving greater parents down. O(1) on average."""
    while at > ROOT:
        parent = at // 4 + 2
        if heap[parent].score < score or (heap[parent].score == score and heap[parent].row < row):
            break
        heap[at].score = heap[parent].score
        heap[at].row = heap[parent].row
        at = parent
    heap[at].score = score
    heap[at].row = row


@compiled
def heapify(heap: np.ndarray, size: int) -> None:
    """Restore the heap order of entries in arbitrary order. O(size)."""
    for at in range((ROOT + size - 1) // 4 + 2, ROOT - 1, -1):
        if at < ROOT + size:
            sift_down(heap, size, at, heap[at].score, heap[at].row)


@compiled
def drop_top(arrays: Any, pool: int) -> None:
    """Remove the least entry. O(log size)."""
    heap = arrays.heap[pool]
    last = arrays.pools[pool].heap_size - 1
    arrays.pools[pool].heap_size = last
    if last > 0:
        moved = heap[ROOT + last]
        sift_down(heap, last, ROOT, moved.score, moved.row)


@compiled
def drop_stale(arrays: Any, pool: int) -> None:
    """Drop entries from the top until the least one is a live row with its present score.

    A row whose score rose since it was inserted is inserted again; one whose score fell was
    inserted again at that time.
    """
    heap = arrays.heap[pool]
    own = arrays.pools[pool]
    while own.heap_size > 0:
        row = heap[ROOT].row
        entered = heap[ROOT].score
        alive = arrays.links[row].alive
        score = arrays.rows[row].score
        if alive and entered == score:
            return
        if alive and entered < score:
            sift_down(heap, own.heap_size, ROOT, score, row)
        else:
            drop_top(arrays, pool)


@compiled
def rebuild(arrays: Any, pool: int) -> None:
    """Keep one entry per live row. O(size), amortised by the stale entries dropped."""
    heap = arrays.heap[pool]
    kept = ROOT
    for at in range(ROOT, ROOT + arrays.pools[pool].heap_size):
        row = heap[at].row
        if arrays.links[row].alive == 1:
            arrays.links[row].alive = 2
            heap[kept].row = row
            heap[kept].score = arrays.rows[row].score
            kept += 1
    for at in range(ROOT, kept):
        arrays.links[heap[at].row].alive = 1
    arrays.pools[pool].heap_size = kept - ROOT
    heapify(heap, kept - ROOT)


@compiled
def enter(arrays: Any, pool: int, row: int) -> None:
    """Insert a row with its present score, replacing the top entry if that is stale."""
    heap = arrays.heap[pool]
    own = arrays.pools[pool]
    if own.heap_size >= 2 * own.rows + SLACK:
        rebuild(arrays, pool)
    score = arrays.rows[row].score
    if own.heap_size > 0 and not arrays.links[heap[ROOT].row].alive:
        sift_down(heap, own.heap_size, ROOT, score, row)
    else:
        own.heap_size += 1
        sift_up(heap, ROOT + own.heap_size - 1, score, row)
    # The next row to evict:
    prefetch(arrays.links, heap[ROOT].row)
    prefetch(arrays.rows, heap[ROOT].row)


@compiled
def build(arrays: Any, pool: int) -> None:
    """Insert all stored rows of a pool. O(rows)."""
    size = np.int64(0)
    for row in range(arrays.rows.size):
        if arrays.links[row].alive and arrays.sides[arrays.links[row].side].pool == pool:
            arrays.heap[pool, ROOT + size].score = arrays.rows[row].score
            arrays.heap[pool, ROOT + size].row = row
            size += 1
    arrays.pools[pool].heap_size = size
    heapify(arrays.heap[pool], size)


@compiled
def worst(arrays: Any, pool: int) -> tuple[np.int64, float, np.int64]:
    """The live row of least score (or NONE), its score, and its order among equals."""
    drop_stale(arrays, pool)
    if arrays.pools[pool].heap_size == 0:
        return np.int64(NONE), np.inf, LAST
    top = arrays.heap[pool, ROOT]
    return top.row, top.score, top.row
