"""Score curves as arrays for the kernel: tables, and where the curves turn.

They depend on the policy, not on the rows of a step, so they are built once and reused by all steps
with the same curves.
"""

from functools import cache
from typing import NamedTuple

import numpy as np


class Curves(NamedTuple):
    """The scores of a side's rows, looked up by frame, by class of age, and by offset."""

    table: np.ndarray  # float64 (frame, class, offset)
    lowest: int  # the first offset of the table; outside the table scores are 0
    grain: int  # an entry is for 2 ** grain offsets
    class_us: int  # how long an age class lasts; the last one goes on


END = np.int64(1 << 40)
"""Larger than every offset in a table."""
MOST_KEPT_TABLES = 8
"""Tables to cache; a learning policy has new curves at every step."""
_KEPT_TABLES: dict[tuple[int, int], tuple[Curves, Curves, "CurveTables"]] = {}
"""Cache by identity of the curves, which are kept alive with the entry so that ids stay valid."""


class CurveTables(NamedTuple):
    """The curves of both sides.

    A curve rises and falls in *pieces*, stretches of offsets over which it does one of the two, or
    is level.
    """

    table: np.ndarray  # float64 (side, frame, class, offset)
    lowest: np.ndarray  # int64 a side: the first offset of the table
    highest: np.ndarray  # int64 a side: the last
    grain: np.ndarray  # int64 a side: an entry is for 2 ** grain offsets
    first: np.ndarray  # int64 (side, frame, class, piece): where pieces begin; END beyond the last
    rising: np.ndarray  # uint8 (side, frame, class, piece)
    pieces: np.ndarray  # int64 (side, frame, class): how many
    classes: np.ndarray  # int64 a side: how many classes of age
    class_us: np.ndarray  # int64 a side: how long each lasts


@cache
def no_curve_tables() -> CurveTables:
    """For scores without curves."""
    nothing = Curves(np.zeros((1, 1, 1)), 0, 0, 1)
    return lay_out(nothing, nothing)


def curve_tables_of(left: Curves, right: Curves) -> CurveTables:
    """The tables of both sides' curves, from the cache if recently built."""
    key = id(left), id(right)
    known = _KEPT_TABLES.pop(key, None) or (left, right, lay_out(left, right))
    _KEPT_TABLES[key] = known
    if len(_KEPT_TABLES) > MOST_KEPT_TABLES:
        _KEPT_TABLES.pop(next(iter(_KEPT_TABLES)))  # the least recently used
    return known[2]


def lay_out(left: Curves, right: Curves) -> CurveTables:
    """One table for both sides, and the pieces of each curve. O(entries).

    A curve starts and ends at zero, so it rises first.

    Examples
    --------
    >>> bumpy = Curves(np.array([[[0.0, 1.0, 3.0, 3.0, 2.0, 2.5]]]), lowest=10, grain=0, class_us=1)
    >>> curve_tables = lay_out(bumpy, bumpy)
    >>> curve_tables.first[0, 0, 0, 1:-1].tolist(), curve_tables.rising[0, 0, 0].tolist()
    ([14, 15, 16], [1, 0, 1, 0])
    """
    both = left, right
    shape = tuple(max(one.table.shape[axis] for one in both) for axis in range(3))
    turns = [_turns(one.table) for one in both]
    most = 1 + max(int(side[2].max(initial=0)) for side in turns)
    table = np.zeros((2, *shape))
    first = np.full((2, *shape[:2], most + 1), END, np.int64)
    rising = np.zeros((2, *shape[:2], most), np.uint8)
    pieces = np.zeros((2, *shape[:2]), np.int64)
    for side, (one, (curve, entry, number, rises)) in enumerate(zip(both, turns, strict=True)):
        frames, ages, offsets = one.table.shape
        table[side, :frames, :ages, :offsets] = one.table
        first[side, :frames, :ages, 0] = -END
        rising[side, :frames, :ages, 0] = True
        frame, age = np.divmod(curve, ages)
        first[side, frame, age, number] = one.lowest + (entry << one.grain)
        rising[side, frame, age, number] = rises
        counts = np.bincount(curve, minlength=frames * ages) + 1
        pieces[side, :frames, :ages] = counts.reshape(frames, ages)
    return CurveTables(
        table=table,
        lowest=np.array([one.lowest for one in both], np.int64),
        highest=np.array(
            [one.lowest + (one.table.shape[2] << one.grain) - 1 for one in both], np.int64
        ),
        grain=np.array([one.grain for one in both], np.int64),
        first=first,
        rising=rising,
        pieces=pieces,
        classes=np.array([one.table.shape[1] for one in both], np.int64),
        class_us=np.array([one.class_us for one in both], np.int64),
    )


def _turns(table: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """The turns of the curves: curve, entry, number of the piece that begins, whether it rises."""
    curves = table.reshape(-1, table.shape[2])
    change = np.diff(curves, axis=1, append=0.0)
    curve, entry = np.nonzero(change)
    rises = change[curve, entry] > 0
    is_new = np.diff(curve, prepend=-1) > 0
    turns = np.flatnonzero(rises != (is_new | np.roll(rises, 1)))
    curve, entry, rises = curve[turns], entry[turns] + 1, rises[turns]
    number = np.arange(len(curve)) - np.searchsorted(curve, curve) + 1
    return curve, entry, number, rises
