"""The counters of a running join."""

from enum import IntEnum


class Count(IntEnum):
    """The kernel's counters, per side."""

    PAIRS = 0  # pairs made by arrivals of this side
    ADMITTED = 1
    REFUSED = 2  # arrivals not stored: every stored row scored higher
    SHED = 3  # stored rows evicted within their window
    EXPIRED = 4  # stored rows whose window passed
    RETIRED = 5  # evicted past their window, while a late row could still have matched
    NULL_KEYS = 6  # rows that match nothing: a null key, or no value for the predicate
    UNNEEDED = 7  # arrivals that can bring nothing more, or doubles: not stored, nothing lost
    PEAK_ROWS = 8  # most rows stored after any arrival; both sides, in the LEFT cell
    PEAK_BYTES = 9
    UNCHOSEN = 10  # rows without a further match in the sample
    RECOMPUTED = 11  # residence: how often all priorities were computed; by pool, not side
    UNPROBED = 12  # arrivals that did not probe, for lack of CPU time
    UNSTORED = 13  # arrivals not stored for the same reason
    SATISFIED = 14  # semi, anti: left rows that left, or were not stored, having met a partner
    UNMATCHED = 15  # rows put out without a partner: they certainly have none
    UNDECIDED = 16  # rows given up without a partner, that may have one
