"""The flat arrays the kernel works on, and what each of them means.

Row positions are places in *event order*: stored and arriving rows of a step together, sorted by
(time, side, sequence). Everything the kernel says, it says in positions. Memory is slow and windows
are large, so what a probe reads of a row lies in one small record (`LINK`), the rest in another.
"""

from enum import IntEnum, IntFlag
from typing import NamedTuple

import numpy as np

from headgate.kernel.probe.ranges import Ranges
from headgate.kernel.rank.curve_tables import CurveTables
from headgate.kernel.rank.curves import SortedValues

LEFT, RIGHT = 0, 1
NULL_KEY = -1
NONE = -1

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
        ("green", "i8"),  # residence: rows of side_rows before it may be given up
        ("end", "i8"),  # where the side's rows end in side_rows
        ("bucket_us", "i8"),  # length of a bucket of age, for what watched rows meet
        ("origin", "i8"),  # curve scores: where the other stream has got to
        ("frame", "i8"),  # and which curves hold there; NONE before it has said anything
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
        ("decisions", "i8"),  # residence: since priorities were last computed
        ("apart", "i8"),  # ripe rows then kept out of the heap, perhaps fewer by now
        ("kept_below", "f8"),  # the priority above which they were
        ("bound", "f8"),  # and the one for the next time
        ("as_of", "i8"),  # the time by then
        ("decay", "f8"),  # and how fast matches lost weight
        ("made", "f8"),  # residence: importance of pairs made since the last decision
        ("made_before", "f8"),  # and between the last two
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
        ("kind", "i8"),  # of the policy's score
        ("parameter", "f8"),  # of a history score
        (
            "observes",
            "i8",
        ),  # curve scores: matches, offset at arrival and time of leaving are noted
        ("samples", "i8"),  # pairs come with the threshold their row has passed
        ("seed", "u8"),  # of the coins
        ("share", "f8"),  # and their chance
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

ENTRY = np.dtype([("score", "f8"), ("row", "i8")], align=True)

GROUP = np.dtype([("weight", "f8"), ("eldest", "i4"), ("youngest", "i4")], align=True)

PIECE = np.dtype(
    [
        ("age", "f8"),  # age at which the piece begins; infinite where a side has fewer pieces
        ("start", "f8"),  # score there
        ("slope", "f8"),  # change of score per microsecond of age
    ],
    align=True,
)

RESIDENCE = np.dtype(
    [
        ("maturity_us", "i8"),  # see `policies.policy.Residence`; negative: by the expected stay
        ("unproductive_us", "i8"),
        ("decay", "f8"),
        ("penalty", "f8"),
        ("initial", "f8"),
        ("every", "i8"),
        ("epsilon", "f8"),
        ("began", "i8"),  # time of the very first arrival
        ("importance", "f8"),  # of all arrivals together
    ],
    align=True,
)

PAIR = np.dtype([("probe", "i4"), ("partner", "i4")], align=True)

THRESHOLD = np.dtype(
    [
        ("score", "f8"),  # the highest given up since the entry before
        ("left", "i8"),  # rows of each side so far at that time
        ("right", "i8"),
    ],
    align=True,
)

FLIP = np.dtype(
    [
        ("most", "i4"),  # matches the row is expected to make at most
        ("next", "i4"),  # the next of them that is chosen
        ("draw", "i4"),  # how many coins that took
    ],
    align=True,
)


class Worth(NamedTuple):
    """What rows matter, by definition of importance; and the scores that follow from it."""

    changes: np.ndarray  # int64: the event times from which the second, third … definition holds
    importance: np.ndarray  # float64 (definition, row); no rows where all count alike
    score: np.ndarray  # float64 (definition, row): fixed scores; no rows where there is one
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
    pieces: np.ndarray  # PIECE (side, piece)
    edges: np.ndarray  # int64 (group, piece): youngest stored row as old, from the second piece on
    ages: np.ndarray  # int64 (side, bucket): partners that watched rows met at that age
    thresholds: np.ndarray  # BAR (pool, place): ever lower scores, see `thresholds.py`
    flips: np.ndarray  # FLIP, in event order, where coins are flipped
    curve_tables: CurveTables  # the curves, for curve scores
    sorted_values: SortedValues  # rows by value, for the same
    residence: np.ndarray  # RESIDENCE, one
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


class Count(IntEnum):
    """What the kernel counts, per side."""

    PAIRS = 0  # pairs made by arrivals of this side
    ADMITTED = 1
    REFUSED = 2  # arrivals not stored: everything stored was worth more
    SHED = 3  # stored rows given up within their window
    EXPIRED = 4  # stored rows whose window passed
    RETIRED = 5  # given up past their window, while a late row could still have matched
    NULL_KEYS = 6  # rows that match nothing: a null key, or no value for the predicate
    UNNEEDED = 7  # arrivals that no later row can match, or doubles: not stored, nothing lost
    PEAK_ROWS = 8  # most rows stored after any arrival; both sides, in the LEFT cell
    PEAK_BYTES = 9
    UNCHOSEN = 10  # rows of whose matches to come none is in the sample
    RECOMPUTED = 11  # residence: how often all priorities were computed; by pool, not side
    UNPROBED = 12  # arrivals that did not look for partners, for want of processor time
    UNSTORED = 13  # arrivals not stored for the same reason
