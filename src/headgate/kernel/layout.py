"""Layout of the flat arrays that the kernel works on.

A row's position is its index in *event order*: stored and arriving rows of a step together, sorted
by (time, side, sequence). The kernel reports everything in positions. Memory is slow and windows
are large, so what a probe reads of a row is in one small record (`LINK`), the rest in another.
"""

from enum import IntEnum, IntFlag
from typing import Any, NamedTuple

import numpy as np

from headgate.kernel.ages_by_row import AgesByRow
from headgate.kernel.meetings import Meetings
from headgate.kernel.probe.ranges import Ranges
from headgate.policies.structures.count import Count as Count
from headgate.policies.structures.no_row import NONE as NONE

LEFT, RIGHT = 0, 1
NULL_KEY = -1

LINK = np.dtype(
    [
        ("mark", "i8"),  # place on its window's own scale: time, or sequence for a row window
        ("older_mark", "i8"),  # mark of the next row in the chain, which need then not be read
        ("older", "i4"),  # next older row of its key and side, in chains
        ("size", "i4"),  # bytes it takes when stored
        ("side", "u1"),  # LEFT or RIGHT
        ("alive", "u1"),  # 1 while stored
        ("arriving", "u1"),  # 0 for a row stored by an earlier step
        ("watch", "u1"),  # see `WatchState`
        ("indexed", "u1"),  # 1 while in an index that must be notified of removals
        ("ripe", "u1"),  # residence: 0 while young; in the heap, set aside, or not scored
        ("skip", "u1"),  # work skipped for an arrival; bits of `Skip`
        ("fate", "u1"),  # outer, semi and anti joins: bits of `Fate`
    ],
    align=True,
)

ROW = np.dtype(
    [
        ("time", "i8"),  # microseconds
        (
            "score",
            "f8",
        ),  # fixed and history scores: the score; `observes`: when the row left
        ("touched", "i8"),  # history: time of arrival or of the last match; `observes`: its offset
        ("recent", "f8"),  # residence: decayed matches as of `touched`
        ("matches", "i4"),  # partners met so far (history scores, and where the policy observes)
        ("code", "i4"),  # equal exactly for equal keys; NULL_KEY matches nothing
        ("side_index", "i4"),  # place among its side's rows in order of mark
        ("group", "i4"),  # list of rows: side and level of importance; value scores: and class
        ("elder", "i4"),  # neighbours in that list
        ("younger", "i4"),
        ("met", "f8"),  # watched rows: worth of all partners so far, whether or not the row
        ("made", "f8"),  # was stored; and of the partners that made a pair
        ("sequence", "i8"),  # counts the rows of its side
    ],
    align=True,
)

HEAD = np.dtype([("mark", "i8"), ("row", "i8")], align=True)

SIDE = np.dtype(
    [
        ("span", "i8"),  # window length in microseconds or rows
        ("by_rows", "i8"),  # 1 for a row window
        ("index", "i8"),  # the window's index: its place in `INDEXES`
        ("pool", "i8"),  # memory pool of its rows
        ("seen", "i8"),  # rows of the side so far
        ("pointer", "i8"),  # rows of side_rows before it have been removed
        ("due", "i8"),  # as long as the clock is not past it, none at the pointer is to be removed
        ("eldest", "i8"),  # no row of side_rows before it is stored
        ("end", "i8"),  # where the side's rows end in side_rows
        ("bucket_us", "i8"),  # length of an age bucket, to count the matches of watched rows
    ],
    align=True,
)

NOT_KNOWN = -(1 << 63)
"""When the next row of a side is due, before anybody has looked."""

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
        ("waiting", "i8"),  # changes not yet applied to the indexes
        ("ranged", "i8"),  # rows have places in `ranges`, by key and value
        ("count_only", "i8"),  # count pairs, do not list them
        ("kind", "i8"),  # of the policy's score: its place in `KINDS`
        ("reads_partners", "i8"),  # the kind of score reads the partners of an arrival
        (
            "observes",
            "i8",
        ),  # curve scores: matches, offset at arrival and time of leaving are noted
        ("samples", "i8"),  # pairs come with the sampling threshold of their stored row
        ("seed", "u8"),  # of the random draws
        ("unique", "i8"),  # a row whose key is stored on its side already is not stored
        ("takes_newcomers", "i8"),  # every arrival is stored, whatever its score
        ("refuses_equals", "i8"),  # refuse an arrival that only ties with the lowest stored row
        ("combine", "i8"),  # see `Combine`
        ("definition", "i8"),  # current definition of importance
        ("fairness", "f8"),  # share of evictions that take the oldest row
        ("paced", "i8"),  # CPU time is limited: arrivals probe while there is credit
        ("credit", "f8"),  # seconds of work earned and not yet spent
        ("earns", "f8"),  # seconds of credit per arrival
        ("arriving_costs", "f8"),  # seconds to process an arrival
        ("storing_costs", "f8"),  # seconds to store and later remove it
        ("pairing_costs", "f8"),  # seconds to make a pair
        ("looks", "f8"),  # share of skipped probes still made, for the watched rows only
        ("missing", "i8"),  # in such a probe: how many skipped probes it stands for
        ("stands_for", "f8"),  # rows that came per row admitted to the step
        ("looks_at_pairs", "i8"),  # 0 where pairs change nothing: neither scores nor who is stored
        ("settles", "i8"),  # 1 for a join that is not inner; the fields below are then read
        ("outer", "i8"),  # sides whose rows come out without a partner: 1 left, 2 right
        ("frees_left", "i8"),  # a left row that has met a partner leaves: semi, anti
        ("shows_met", "i8"),  # and comes out then: semi
        ("shows_undecided", "i8"),  # undecided rows come out, too
        ("falls", "i8"),  # rows that cannot come out alone any more are worth less
        ("supersedes", "i8"),  # of right rows of a key only the newest is needed: semi, anti
        ("superseded", "i8"),  # entries of `Settling.superseded`
        ("retired", "i8"),  # and how many of them were gone through
        ("gone", "i8"),  # entries of `Settling.gone` not yet handed out
    ],
    align=True,
)

GONE = np.dtype([("row", "i4"), ("certain", "i4")], align=True)
PAIR = np.dtype([("probe", "i4"), ("partner", "i4")], align=True)


class Worth(NamedTuple):
    """Importance of rows under each definition, and the scores that depend on it."""

    changes: np.ndarray  # int64: the event times from which the second, third … definition holds
    importance: np.ndarray  # float64 (definition, row); empty where all count alike
    score: np.ndarray  # float64 (definition, row): fixed scores; empty if they never change
    group: np.ndarray  # int32 (definition, row): the lists of age, value and curve scores
    fallen: np.ndarray  # float64 (definition, row): fixed scores once they fell; empty if none do


class Settling(NamedTuple):
    """What joins other than inner ones keep beside the rows; empty for inner joins."""

    gone: np.ndarray  # GONE: rows that come out alone, since the last were handed out
    given_up: np.ndarray  # int64 (side, slot): the latest mark given up, see `settling.py`
    slots: np.ndarray  # int32 (code, 2): a key's slots
    latest: np.ndarray  # int32 (code): the newest right row that was stored; where rows supersede
    superseded: np.ndarray  # int32: right rows with a newer one of their key, in order of that one


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
    own: tuple[Any, ...]  # by place in `KINDS`: further arrays of each kind of score
    worth: Worth  # importance
    lives: np.ndarray  # float64 (side, 2): sum of lifetimes of removed rows, and of squares
    ranges: Ranges  # places by key and value, and the ordered index on them
    changes: np.ndarray  # CHANGE: pending updates of the indexes (`probe/windows.py`)
    tally: np.ndarray  # int64 (Count, side)
    settling: Settling  # rows without a partner
    meetings: Meetings  # what watched rows met, by class of row
    by_row: AgesByRow  # and each of them, by age


class WatchState(IntEnum):
    """State of a watched row, which is followed through its whole window, stored or not.

    A watched row that is evicted stays in its key's chain as a ghost: it makes no pair and takes
    no room among the stored rows, but the matches it would have made are counted.
    """

    NONE = 0
    OPEN = 1  # stored, or a ghost
    FINISHED = 2  # its window has passed
    GHOST = 3  # evicted by an earlier step; becomes OPEN when this step loads it


class Fate(IntFlag):
    """What is known of a row's partners in an outer, semi or anti join."""

    MATCHED = 1  # it has met one
    DOUBTFUL = 2  # when it came, one that it could have met may have been given up already
    CERTAIN = 4  # it has come out as a row that certainly has none
    COUNTED = 8  # watched rows: whether it came out is part of the evidence on recall
    PRECEDED = 16  # watched rows: when it came, a row that it meets had come, stored or not


class Skip(IntFlag):
    """Work skipped for an arrival to stay within the CPU budget."""

    PROBE = 1
    STORE = 2
