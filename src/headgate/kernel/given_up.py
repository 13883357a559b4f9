"""The filters of given-up keys between steps, and where each key stands in them."""

import numpy as np

from headgate.kernel import layout
from headgate.kernel.settling import NEVER
from headgate.kernel.step_input import StepInput
from headgate.kernel.step_progress import StepProgress
from headgate.kernel.terms import Terms
from headgate.policies.chance import scrambled
from headgate.spec import How

HALF_BITS = np.uint64(32)
LOW_HALF = np.uint64((1 << 32) - 1)


def settling_for(given: StepInput, total: int) -> layout.Settling:
    """What a step needs to settle its rows; empty arrays for an inner join."""
    terms = given.terms
    none = np.empty(0, np.int32)
    if terms.how == How.INNER:
        return layout.Settling(
            np.empty(0, layout.GONE),
            np.empty((2, 0), np.int64),
            np.empty((0, 2), np.int32),
            none,
            none,
        )
    filters = np.stack([filter_of(terms, given.progress, side) for side in (0, 1)])
    hashes = hashes_of_codes(given.codes) if given.hashes is None else given.hashes
    return layout.Settling(
        np.empty(total, layout.GONE),
        filters,
        slots_of(hashes, terms.filter_slots),
        np.full(given.codes, layout.NONE, np.int32) if terms.supersedes else none,
        np.empty(total, np.int32) if terms.supersedes else none,
    )


def needs_filter(how: How, side: int) -> bool:
    """Whether it matters which rows of a side were given up: to unmatched rows of the other."""
    return how.outer[1 - side]


def slots_of(hashes: np.ndarray, slots: int) -> np.ndarray:
    """The two slots of each hash, among so many.

    Examples
    --------
    >>> slots_of(np.array([(3 << 32) + 9], np.uint64), 8).tolist()
    [[1, 3]]
    """
    halves = np.stack([hashes & LOW_HALF, hashes >> HALF_BITS], axis=1)
    return (halves % np.uint64(slots)).astype(np.int32)


def hashes_of_codes(codes: int) -> np.ndarray:
    """Hashes of codes that are the same in every step (SplitMix64)."""
    word = np.arange(1, codes + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    return scrambled(word)


def filter_of(terms: Terms, progress: StepProgress, side: int) -> np.ndarray:
    """A side's filter as the last step left it.

    One of another size, since the budget has changed, no longer tells keys apart: in its place
    comes one that says of every key that it was given up when any was last.
    """
    kept = np.frombuffer(progress.given_up[side], np.int64)
    if len(kept) == terms.filter_slots:
        return kept
    return np.full(terms.filter_slots, kept.max(initial=NEVER), np.int64)


def filters_after(terms: Terms, filters: np.ndarray) -> tuple[bytes, bytes]:
    """Both filters, for the next step; empty where none is needed."""
    left, right = (
        filters[side].tobytes() if needs_filter(terms.how, side) else b"" for side in (0, 1)
    )
    return left, right
