"""Hierarchical bitmap: one bit per place, and levels above that summarise 64 bits in one.

The next or previous set place is found by climbing to a level with a set bit and descending to it:
O(log n) to the base of 64, most often one word.
"""

from typing import Any, NamedTuple

import numpy as np

from headgate.compiling import compiled, leading_zeros, trailing_zeros

NOWHERE = np.int64(1 << 62)


class Marks(NamedTuple):
    """A set of places."""

    words: np.ndarray  # int64, 64 bits each: what is taken; then level after level of summaries
    levels: np.ndarray  # int64: where each level begins in words, and where the last one ends


def no_marks(places: int) -> Marks:
    """An empty bitmap of ``places`` places.

    Examples
    --------
    >>> marks = no_marks(200)
    >>> take(marks, 70)
    >>> int(next_taken(marks, 3, 200)), int(last_taken(marks, 199)), int(last_taken(marks, 69))
    (70, 70, -1)
    """
    sizes = [max(1, -(-places // 64))]
    while sizes[-1] > 1:
        sizes.append(-(-sizes[-1] // 64))
    levels = np.concatenate([[0], np.cumsum(sizes)])
    return Marks(np.zeros(levels[-1], np.int64), levels.astype(np.int64))


@compiled
def take(marks: Marks, place: int) -> None:
    """Mark a place as taken."""
    at = np.int64(place)
    for level in range(marks.levels.size - 1):
        word = marks.levels[level] + (at >> 6)
        before = marks.words[word]
        marks.words[word] = before | (np.int64(1) << (at & 63))
        if before != 0:
            break
        at >>= 6


@compiled
def free(marks: Marks, place: int) -> None:
    """Mark a place as free."""
    at = np.int64(place)
    for level in range(marks.levels.size - 1):
        word = marks.levels[level] + (at >> 6)
        marks.words[word] &= ~(np.int64(1) << (at & 63))
        if marks.words[word] != 0:
            break
        at >>= 6


@compiled
def next_taken(marks: Marks, place: int, end: int) -> Any:
    """The first taken place from ``place`` on; ``end`` or more when none is before it."""
    at, level = np.int64(place), 0
    while level < marks.levels.size - 1:
        base = marks.levels[level]
        if base + (at >> 6) >= marks.levels[level + 1]:
            return NOWHERE
        word = marks.words[base + (at >> 6)] & (np.int64(-1) << (at & 63))
        if word != 0:
            at = (at & ~np.int64(63)) | trailing_zeros(word)
            while level > 0:
                level -= 1
                at = (at << 6) | trailing_zeros(marks.words[marks.levels[level] + at])
            return at
        at = (at >> 6) + 1
        level += 1
        if level == 1 and at << 6 >= end:
            return NOWHERE
    return NOWHERE


@compiled
def last_taken(marks: Marks, place: int) -> Any:
    """The last taken place up to ``place``, itself included; -1 when there is none."""
    at, level = np.int64(place), 0
    while level < marks.levels.size - 1 and at >= 0:
        word = marks.words[marks.levels[level] + (at >> 6)] & (
            np.int64(-1) if (at & 63) == 63 else (np.int64(1) << ((at & 63) + 1)) - 1
        )
        if word != 0:
            at = (at & ~np.int64(63)) | (63 - leading_zeros(word))
            while level > 0:
                level -= 1
                at = (at << 6) | (63 - leading_zeros(marks.words[marks.levels[level] + at]))
            return at
        at = (at >> 6) - 1
        level += 1
    return np.int64(-1)
