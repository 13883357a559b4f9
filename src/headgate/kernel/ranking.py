"""Who is worth least: the stored row to shed, whatever the kind of score.

Each kind has a structure over the stored rows of a pool, built when memory first runs full and kept
up to date from then on. What is to be done for it, the kind says in its verbs; here are the
branches that lead to them, made from `KINDS`.
"""

from typing import Any

import numpy as np

from headgate.compiling import compiled, generated, inlined
from headgate.kernel.layout import NONE, Arrays
from headgate.policies.kinds import KINDS, Kind

Worst = tuple[np.int64, float, np.int64]
"""A row (or NONE), its score, and its order among equal scores."""


def branches(verb: str) -> Any:
    """A verb of one number: that of the policy's kind, or the usual where the kind has none."""
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
    """The same for `Kind.on_pairs`."""
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
on_arrival = branches("on_arrival")
on_admission = branches("on_admission")
on_removal = branches("on_removal")
on_pairs = branches_of_pairs()
_build = branches("build")
_worst = branches("worst")
_forget = branches("forget")


@compiled
def build(arrays: Arrays, pool: int) -> None:
    """Make the structure over the pool's stored rows. O(rows), once a step."""
    arrays.pools[pool].ranked = 1
    _build(arrays, pool)


@inlined
def worst_stored(arrays: Arrays, pool: int) -> Worst:
    """The pool's stored row worth least (or NONE), its score, and its order among equal scores."""
    if not arrays.pools[pool].ranked:
        build(arrays, pool)
    return _worst(arrays, pool)


@compiled
def forget(arrays: Arrays) -> None:
    """Drop the structures, since scores have changed; they are built again when needed."""
    arrays.pools[0].ranked = 0
    arrays.pools[1].ranked = 0
    for group in range(arrays.groups.size):
        arrays.groups[group].eldest = NONE
        arrays.groups[group].youngest = NONE
    _forget(arrays, arrays.terms[0].definition)


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
