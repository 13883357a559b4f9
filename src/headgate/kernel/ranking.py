"""Finds the stored row of lowest score, the next to evict, for every kind of score.

Each kind of score has a structure over the stored rows of a pool, built when memory first runs full
and maintained from then on. The kind implements the operations on it; this module generates the
branches that dispatch to them, from `KINDS`.
"""

from typing import Any

import numpy as np

from headgate.compiling import compiled, generated
from headgate.kernel.layout import NONE, Arrays
from headgate.policies.kinds import KINDS, Kind

Worst = tuple[np.int64, float, np.int64]
"""A row (or NONE), its score, and its order among equal scores."""


def branches(verb: str) -> Any:
    """Dispatch an operation on one number to the policy's kind, or to the default of `Kind`."""
    usual = getattr(Kind, verb)

    def as_usual(arrays: Arrays, number: int) -> Any:
        return usual(arrays, (), number)

    chosen = generated(as_usual)
    for place, kind in reversed(list(enumerate(KINDS))):
        if getattr(kind, verb) is not usual:
            chosen = _branch(place, getattr(kind, verb), chosen)
    return chosen


def _branch(place: int, verb: Any, others: Any) -> Any:
    def chosen(arrays: Arrays, number: int) -> Any:
        if arrays.terms[0].kind == place:
            return verb(arrays, arrays.own[place], number)
        return others(arrays, number)

    return generated(chosen)


def branches_of_pairs() -> Any:
    """Dispatch `Kind.on_pairs`."""
    usual = Kind.on_pairs

    def as_usual(arrays: Arrays, row: int, block: Any, first: int, end: int) -> Any:
        return usual(arrays, (), row, block, first, end)

    chosen = generated(as_usual)
    for place, kind in reversed(list(enumerate(KINDS))):
        if kind.on_pairs is not usual:
            chosen = _branch_of_pairs(place, kind.on_pairs, chosen)
    return chosen


def _branch_of_pairs(place: int, verb: Any, others: Any) -> Any:
    def chosen(arrays: Arrays, row: int, block: Any, first: int, end: int) -> Any:
        if arrays.terms[0].kind == place:
            return verb(arrays, arrays.own[place], row, block, first, end)
        return others(arrays, row, block, first, end)

    return generated(chosen)


enter = branches("enter")
leave = branches("leave")
standing = branches("standing")
fall = branches("fall")
on_arrival = branches("on_arrival")
on_admission = branches("on_admission")
on_removal = branches("on_removal")
on_pairs = branches_of_pairs()
_build = branches("build")
_worst = branches("worst")
_forget = branches("forget")


@compiled
def build(arrays: Arrays, pool: int) -> None:
    """Build the structure over the pool's stored rows. O(rows), once per step."""
    arrays.pools[pool].ranked = 1
    _build(arrays, pool)


@compiled
def worst_stored(arrays: Arrays, pool: int) -> Worst:
    """The pool's stored row of lowest score (or NONE), its score, and its order among equals."""
    if not arrays.pools[pool].ranked:
        build(arrays, pool)
    return _worst(arrays, pool)


@compiled
def forget(arrays: Arrays) -> None:
    """Drop the structures because scores have changed; they are rebuilt when needed."""
    arrays.pools[0].ranked = 0
    arrays.pools[1].ranked = 0
    for group in range(arrays.groups.size):
        arrays.groups[group].eldest = NONE
        arrays.groups[group].youngest = NONE
    _forget(arrays, arrays.terms[0].definition)


@compiled
def eldest(arrays: Arrays, pool: int) -> np.int64:
    """The pool's oldest stored row, or NONE. Amortised O(1)."""
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
