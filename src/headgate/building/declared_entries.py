"""The functions that the library of machine code has, with the types of their arguments.

Types are given by example: an empty array stands for all arrays of its dtype and dimensions. What
Python calls and is not listed here is compiled when called.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from headgate.columns import hashing, numbering
from headgate.compiling import Compiled, Score
from headgate.kernel import (
    advance,
    ages_by_row,
    departure,
    event_order,
    key_draw,
    layout,
    meetings,
    watched,
)
from headgate.kernel.probe import indexes, ranges, windows
from headgate.learning import key_tally, watch_room
from headgate.models import benefit, keeping_index, visits
from headgate.policies import ALL_POLICIES, age, chance, heeb
from headgate.policies.kinds import KINDS
from headgate.policies.kinds.history_score import HistoryKind, HistoryScore, rescore_stored
from headgate.policies.kinds.kind import Block, no_score
from headgate.policies.offline import queues
from headgate.policies.structures import coins, heap, lists, thresholds
from headgate.profiles import match_counts
from headgate.sizing import needs
from headgate.studies.ijoin import plans
from headgate.studies.sigmod05 import past
from headgate.trials import draw, local_share, stretch_tally, stretches


class DeclaredEntry(NamedTuple):
    """A function, and arguments of the types it takes."""

    function: Compiled
    examples: tuple[Any, ...]


def vector(kind: Any) -> np.ndarray:
    """Stands for one-dimensional arrays of a kind."""
    return np.empty(0, kind)


def matrix(kind: Any) -> np.ndarray:
    """Stands for two-dimensional arrays of a kind."""
    return np.empty((0, 0), kind)


INTEGER, REAL, UNSIGNED = 0, 0.0, np.uint64(0)
INTEGERS, SHORTS, BYTES = vector(np.int64), vector(np.int32), vector(np.uint8)
HASHES, REALS, FLAGS = vector(np.uint64), vector(np.float64), vector(np.bool_)
REAL_ROWS, INTEGER_ROWS = matrix(np.float64), matrix(np.int64)
FOUR_WAYS = np.empty((0, 0, 0, 0))
LINKS, ROWS = vector(layout.LINK), vector(layout.ROW)
SLOTS, SPOTS = vector(numbering.SLOT), vector(ranges.SPOT)

ARRAYS = layout.Arrays(
    links=LINKS,
    rows=ROWS,
    sides=vector(layout.SIDE),
    pools=vector(layout.POOL),
    terms=vector(layout.TERMS),
    newest=vector(layout.HEAD),
    side_rows=SHORTS,
    heap=matrix(heap.ENTRY),
    groups=vector(lists.GROUP),
    ages=INTEGER_ROWS,
    thresholds=matrix(thresholds.THRESHOLD),
    own=tuple(kind.no_arrays() for kind in KINDS),
    worth=layout.Worth(INTEGERS, REAL_ROWS, REAL_ROWS, matrix(np.int32), REAL_ROWS),
    lives=REAL_ROWS,
    ranges=ranges.no_ranges(),
    changes=vector(windows.CHANGE),
    tally=INTEGER_ROWS,
    settling=layout.Settling(vector(layout.GONE), INTEGER_ROWS, matrix(np.int32), SHORTS, SHORTS),
    meetings=meetings.no_meetings(),
    by_row=ages_by_row.no_ages_by_row(),
)
WINDOWS = indexes.empty_windows((0, 0), (0, 0), (0, 0), 2)
BLOCK = Block(vector(layout.PAIR), REALS, INTEGERS, INTEGER)
GROUP = event_order.Group(
    side=INTEGER,
    arriving=INTEGER,
    first_number=INTEGER,
    place=INTEGERS,
    time=INTEGERS,
    sequence=INTEGERS,
    mark=INTEGERS,
    code=SHORTS,
    size=INTEGERS,
    matches=SHORTS,
    touched=INTEGERS,
    recent=REALS,
    state=BYTES,
    met=REALS,
    made=REALS,
    score=REALS,
    group=SHORTS,
    skip=BYTES,
    fate=BYTES,
)
WHOLE_ENDS = ranges.Ends(INTEGER, INTEGER, INTEGER, INTEGER, False)
REAL_ENDS = ranges.Ends(INTEGER, INTEGER, REAL, REAL, False)
FACTS = stretch_tally._Facts(
    left_time=INTEGERS,
    right_time=INTEGERS,
    code=SHORTS,
    is_thinned=FLAGS,
    weight=REAL_ROWS,
    edges=INTEGERS,
    left_counts=BYTES,
    right_counts=BYTES,
)
KEYED_ROWS = match_counts.KeyedRows(INTEGERS, SHORTS, INTEGERS, REALS, FLAGS)

TALLY = key_tally.KeyTally(
    places=SHORTS,
    counts=REAL_ROWS,
    stands_for=REAL_ROWS,
    cells=BYTES,
    tail=BYTES,
    least=INTEGER,
    earlier=REAL,
    before=INTEGER,
    found=INTEGERS,
)

COUNTED = key_tally.ArrivalsToCount(SHORTS, INTEGER, INTEGER, key_tally.Fetched(SHORTS, BYTES))


def sweep(value: np.ndarray, ends: ranges.Ends, at_least: Any) -> DeclaredEntry:
    """The sweep over values of one type, compared by one function."""
    return DeclaredEntry(ranges._sweep, (SPOTS, SHORTS, value, INTEGERS, INTEGERS, ends, at_least))


ENTRIES: tuple[DeclaredEntry, ...] = (
    # First what takes longest to compile, so that the rest is compiled beside it.
    DeclaredEntry(advance.advance, (ARRAYS, WINDOWS, BLOCK, INTEGER)),
    DeclaredEntry(advance.restore, (ARRAYS,)),
    DeclaredEntry(departure.let_go_behind_watermark, (ARRAYS,)),
    DeclaredEntry(meetings.spend_all, (ARRAYS,)),
    DeclaredEntry(coins.take_up, (ARRAYS, coins.Coins(vector(coins.FLIP), REALS))),
    DeclaredEntry(rescore_stored, (ARRAYS, HistoryKind.no_arrays(), INTEGER)),
    DeclaredEntry(event_order.fill, (LINKS, ROWS, SHORTS, GROUP)),
    DeclaredEntry(
        event_order.number_arrivals,
        (INTEGERS, INTEGERS, BYTES, (INTEGER, INTEGER), INTEGERS, INTEGERS),
    ),
    DeclaredEntry(event_order.read_histories, (ROWS, INTEGERS, SHORTS, INTEGERS, REALS)),
    DeclaredEntry(event_order.queue_by_side, (LINKS, ROWS, SHORTS, INTEGER)),
    DeclaredEntry(key_tally.find_levels, (HASHES, SHORTS, INTEGER, BYTES, BYTES, SHORTS)),
    DeclaredEntry(key_tally.raise_cells, (HASHES, BYTES, BYTES)),
    DeclaredEntry(ranges._group_by_code, (INTEGERS, SHORTS, INTEGERS, SHORTS)),
    sweep(INTEGERS, WHOLE_ENDS, ranges._at_least_whole),
    sweep(REALS, REAL_ENDS, ranges._at_least_real),
    sweep(REALS, REAL_ENDS, ranges._at_least_or_nan),
    DeclaredEntry(numbering._number, (INTEGERS, SHORTS, SLOTS, INTEGER, INTEGER)),
    DeclaredEntry(numbering._move, (SLOTS, SLOTS)),
    DeclaredEntry(hashing._add_numbers, (INTEGERS, HASHES)),
    DeclaredEntry(hashing._add_texts, (BYTES, INTEGERS, HASHES)),
    DeclaredEntry(chance._draw, (UNSIGNED, BYTES, INTEGERS, REALS)),
    DeclaredEntry(watched._choose, (UNSIGNED, REAL, INTEGER, INTEGERS, FLAGS)),
    DeclaredEntry(
        watch_room._draw_coming,
        (
            *(BYTES, INTEGERS, FLAGS, INTEGERS),
            watch_room.Lot(UNSIGNED, REAL, (False, False), (INTEGER, INTEGER)),
            INTEGER_ROWS,
        ),
    ),
    DeclaredEntry(key_draw._fill_lots, (HASHES, INTEGERS, INTEGER, UNSIGNED, REALS)),
    DeclaredEntry(age._cut_straight, (REALS, REALS, REALS, INTEGERS)),
    DeclaredEntry(heeb._smooth, (REAL_ROWS, REAL)),
    DeclaredEntry(
        visits._solve_backwards,
        (REALS, np.empty((0, 0, 0)), REAL_ROWS, INTEGER, REAL, REAL_ROWS),
    ),
    DeclaredEntry(benefit._renew, (REAL_ROWS, np.empty((0, 0, 0)))),
    DeclaredEntry(
        keeping_index.fill_indices,
        (
            keeping_index.Matching(FOUR_WAYS, FOUR_WAYS),
            REAL_ROWS,
            keeping_index.Aging(REALS, REAL_ROWS, INTEGERS),
            FOUR_WAYS,
            FOUR_WAYS,
        ),
    ),
    DeclaredEntry(
        key_tally.add_up,
        (INTEGERS, COUNTED, HASHES, TALLY, INTEGER),
    ),
    DeclaredEntry(key_tally.find_marks, (HASHES, HASHES, SHORTS, SHORTS)),
    DeclaredEntry(key_tally.age_cells, (BYTES, REAL, INTEGER, UNSIGNED, INTEGER)),
    DeclaredEntry(
        queues._name_rows, (INTEGERS, INTEGERS, INTEGERS, INTEGERS, INTEGERS, INTEGERS, INTEGER)
    ),
    DeclaredEntry(stretches._where, (INTEGERS, INTEGERS, INTEGERS, INTEGERS, BYTES)),
    DeclaredEntry(
        stretch_tally._add, (INTEGERS, INTEGERS, REALS, FACTS, REALS, REALS, REALS, REALS)
    ),
    DeclaredEntry(local_share._count, (INTEGERS, INTEGER, INTEGER, INTEGERS)),
    DeclaredEntry(draw._count, (HASHES, FLAGS, INTEGERS)),
    DeclaredEntry(
        draw._take,
        (HASHES, FLAGS, UNSIGNED, UNSIGNED, REAL, REALS, UNSIGNED, INTEGER, BYTES),
    ),
    DeclaredEntry(match_counts._count, (KEYED_ROWS, KEYED_ROWS, INTEGERS, INTEGERS, REALS, REALS)),
    DeclaredEntry(needs._count, (INTEGERS, INTEGER, INTEGER, INTEGERS)),
    DeclaredEntry(
        past.follow,
        (INTEGER, INTEGERS, INTEGERS, INTEGERS, REALS, INTEGER_ROWS, INTEGERS, INTEGERS, INTEGERS),
    ),
    DeclaredEntry(
        plans.follow,
        (
            *(INTEGER, REALS, INTEGERS, INTEGERS, INTEGERS, REALS, REALS, REAL, REAL),
            *(REAL_ROWS, REAL_ROWS, INTEGER_ROWS, INTEGERS, INTEGERS),
        ),
    ),
)

SCORES: tuple[Score, ...] = (
    no_score,
    *(policy.rescore for policy in ALL_POLICIES if issubclass(policy, HistoryScore)),
)


def functions() -> Iterator[tuple[str, str]]:
    """Module and name of all functions that are declared."""
    parts: list[Compiled | Score] = [*(entry.function for entry in ENTRIES), *SCORES]
    for part in parts:
        yield part.function.__module__, part.function.__name__
