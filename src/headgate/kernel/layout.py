"""The flat arrays the kernel works on, and what each of them means.

Row positions are places in *event order*: stored and arriving rows of a step together, sorted by
(time, side, sequence). Everything the kernel says, it says in positions. Memory is slow and windows
are large, so what a probe reads of a row lies in one small record (`LINK`), the rest in another.
"""

from enum import IntEnum, IntFlag
from typing import Any, NamedTuple

import numpy as np

from headgate.kernel.probe.ranges import Ranges
from headgate.policies.structures.count import Count as Count
from headgate.policies.structures.no_row import NONE as NONE

LEFT, RIGHT = 0, 1
NULL_KEY = -1

LINK = np.dtype(
    [
        ("mark", "i8"),  # place on its window's own scale: time, or sequence for a row window
        ("older_mark", "i8"),  # of the next row in the chain, which then need not be looked at
        ("older", "i4"),  # next older row of its key and side, where those are chained
        ("size", "i4"),  # bytes it takes when stored
        ("side", "u1"),  # LEFT or RIGHT
        ("alive", "u1"),  # 1 while stored
        ("arriving", "u1"),  # 0 for a row stored by an earlier step
        ("watch", "u1"),  # see `Watch`
        ("indexed", "u1"),  # 1 while in an index that is told when rows leave
        ("ripe", "u1"),  # residence: 0 while young; in the heap, set aside, or not even priced
        ("skip", "u1"),  # what is not done with an arrival; bits of `Skip`
    ],
    align=True,
)

ROW = np.dtype(
    [
        ("time", "i8"),  # microseconds
        (
            "score",
            "f8",
        ),  # fixed and history scores: what the row is worth; `observes`: when it left
        ("touched", "i8"),  # history: time of arrival or of the last match; `observes`: its offset
        ("recent", "f8"),  # residence: matches, as they counted when the row was last touched
        ("matches", "i4"),  # partners met so far (history scores, and where the policy observes)
        ("code", "i4"),  # equal exactly for equal keys; NULL_KEY matches nothing
        ("side_index", "i4"),  # place among its side's rows in order of mark
        ("group", "i4"),  # side and level of importance; value scores: and class. A list of its own
        ("elder", "i4"),  # neighbours in that list
        ("younger", "i4"),
        ("met", "f8"),  # watched rows: what partners so far were worth, whether or not the row
        ("made", "f8"),  # was stored; and those of them that made a pair
        ("sequence", "i8"),  # counts the rows of its side
    ],
    align=True,
)

HEAD = np.dtype([("mark", "i8"), ("row", "i8")], align=True)

SIDE = np.dtype(
    [
        ("span", "i8"),  # window length in microseconds or rows
        ("by_rows", "i8"),  # 1 for a row window
        ("index", "i8"),  # what the window is kept in: see `indexes/windows.py`
        ("pool", "i8"),  # which pool its rows draw on
        ("seen", "i8"),  # rows of the side so far
        ("pointer", "i8"),  # rows of side_rows before it have been let go
        ("eldest", "i8"),  # no row of side_rows before it is stored
        ("end", "i8"),  # where the side's rows end in side_rows
        ("bucket_us", "i8"),  # length of a bucket of age, for what watched rows meet
    ],
    align=True,
)

POOL = np.dtype(
    [
        ("most_rows", "i8"),
        ("most_bytes", "i8"),
        ("rows", "i8"),  # stored now
        ("bytes", "i8"),
        ("ranked", "i8"),  # 1 once the policy's structure exists
        ("heap_size", "i8"),
        ("thresholds", "i8"),  # samples: entries in use
    ],
    align=True,
)

TERMS = np.dtype(
    [
        ("clock", "i8"),  # event key (twice the time, plus the side) of the latest arrival
        ("watermark", "i8"),  # rows at or before it can no longer arrive
        ("keep_late", "i8"),  # rows past their window may still meet an out-of-order row
        ("waiting", "i8"),  # how many changes the indexes have yet to hear of
        ("ranged", "i8"),  # rows have places in `ranges`, by key and value
        ("count_only", "i8"),  # count pairs, do not list them
        ("kind", "i8"),  # of the policy's score: its place in `KINDS`
        ("reads_partners", "i8"),  # the kind looks at the rows that an arrival pairs with
        (
            "observes",
            "i8",
        ),  # curve scores: matches, offset at arrival and time of leaving are noted
        ("samples", "i8"),  # pairs come with the threshold their row has passed
        ("seed", "u8"),  # of the coins
        ("unique", "i8"),  # a row whose key is stored on its side already is not stored
        ("takes_newcomers", "i8"),  # an arrival is stored, whatever it is worth
        ("refuses_equals", "i8"),  # an arrival worth no more than the least stored is refused
        ("combine", "i8"),  # see `Combine`
        ("definition", "i8"),  # which of the definitions of importance holds now
        ("fairness", "f8"),  # share of decisions that give up the oldest row
        ("paced", "i8"),  # processor time is short: arrivals probe while there is credit
        ("credit", "f8"),  # seconds of work earned and not yet done
        ("earns", "f8"),  # an arrival
        ("arriving_costs", "f8"),  # seconds: looking at an arrival
        ("storing_costs", "f8"),  # storing it, and letting it go
        ("pairing_costs", "f8"),  # making a pair
        ("looks", "f8"),  # share of the probes left out that are made for the watched rows alone
        ("missing", "i8"),  # such a probe is under way: how many it stands for
        ("stands_for", "f8"),  # rows that came, for each of those that were let in
    ],
    align=True,
)

PAIR = np.dtype([("probe", "i4"), ("partner", "i4")], align=True)


class Worth(NamedTuple):
    """What rows matter, by definition of importance; and the scores that follow from it."""

    changes: np.ndarray  # int64: the event times from which the second, third … definition holds
    importance: np.ndarray  # float64 (definition, row); no rows where all count alike
    score: np.ndarray  # float64 (definition, row): fixed scores; no rows where they never change
    group: np.ndarray  # int32 (definition, row): the lists of age, value and curve scores


class Arrays(NamedTuple):
    """Everything the kernel works on."""

    links: np.ndarray  # LINK, in event order
    rows: np.ndarray  # ROW, in event order
    sides: np.ndarray  # SIDE, two
    pools: np.ndarray  # POOL, two
    terms: np.ndarray  # TERMS, one
    newest: np.ndarray  # HEAD, at twice the code plus the side: the key's newest row
    side_rows: np.ndarray  # int32: positions of the left rows by mark, then of the right rows
    heap: np.ndarray  # ENTRY (pool, place)
    groups: np.ndarray  # GROUP: those of the left side, then as many of the right
    ages: np.ndarray  # int64 (side, bucket): partners that watched rows met at that age
    thresholds: np.ndarray  # THRESHOLD (pool, place): ever lower scores, see `thresholds.py`
    own: tuple[Any, ...]  # by place in `KINDS`: what a kind of score has beside these
    worth: Worth  # what is important
    lives: np.ndarray  # float64 (side, 2): sum of the lifetimes of rows that left, and of squares
    ranges: Ranges  # places by key and value, and the ordered index on them
    changes: np.ndarray  # CHANGE: rows the other indexes have yet to hear of (`indexes/windows.py`)
    tally: np.ndarray  # int64 (Count, side)


class Watch(IntEnum):
    """Whether a row is watched: followed through its whole window, stored or not.

    A watched row that is given up stays in its key's chain as a ghost: it makes no pair and takes
    no room among the stored rows, but what it would have met is counted.
    """

    NONE = 0
    OPEN = 1  # stored, or a ghost
    FINISHED = 2  # its window has passed
    GHOST = 3  # given up by an earlier step; becomes OPEN when this one takes it up


class Skip(IntFlag):
    """What is left skipped with an arrival for want of processor time."""

    PROBE = 1
    STORE = 2
