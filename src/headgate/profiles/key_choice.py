"""Chooses which keys to examine when there are too many rows to examine all.

The heaviest keys are always taken: they make most of the matches, and a sample that missed one
would be far off. Each other key is drawn with the same probability, by its hash, and its matches
are weighted by the inverse of that probability.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from headgate.columns.hashing import share_of
from headgate.profiles.facts import Both
from headgate.profiles.skew import KeyCounts

AIM = 0.9
"""Target share of the row limit: the number of rows of the drawn keys is random."""
SMALLER = 0.7
SMALLER_SHARES = 60
CERTAIN_PART = 0.5
"""The part of the rows that keys taken for certain may have."""
HEAVY_PART = 0.001
"""A key with less than this part of the rows is not worth taking for certain."""

RowsAt = Callable[[list[float], np.ndarray], np.ndarray]
"""How many rows the keys have that would be taken, for each share and the certain hashes."""


@dataclass(frozen=True)
class KeyChoice:
    """Keys that are always taken, and the share of the others that is drawn."""

    share: float = 1.0
    wanted: float = 1.0
    """The share that was meant to be drawn; less was, where heavy keys would not fit."""
    certain: np.ndarray = field(default_factory=lambda: np.empty(0, np.uint64))
    """Hashes of the keys taken for certain."""

    def drawn(self, hashes: np.ndarray) -> np.ndarray:
        """Whether the draw alone would take each key: these keys are an unbiased sample."""
        return share_of(hashes, self.share)

    def weight(self, hashes: np.ndarray) -> np.ndarray:
        """How many keys each taken key stands for."""
        return np.where(np.isin(hashes, self.certain), 1.0, 1.0 / self.share)

    def taken(self, hashes: np.ndarray) -> np.ndarray:
        """Whether each key is taken."""
        taken: np.ndarray = self.drawn(hashes) | np.isin(hashes, self.certain)
        return taken


EVERY_KEY = KeyChoice()


def choose(keys: Both[KeyCounts], most_rows: int, rows_at: RowsAt) -> KeyChoice:
    """Choose as many keys as stay within the given number of rows."""
    total = keys.left.rows + keys.right.rows
    if total <= most_rows:
        return EVERY_KEY
    certain, their_rows = certain_keys(keys, most_rows)
    wanted = AIM * (most_rows - their_rows) / max(total - their_rows, 1)
    shares = [wanted * SMALLER**step for step in range(SMALLER_SHARES)]
    fits = rows_at(shares, certain) <= most_rows
    return KeyChoice(shares[int(np.argmax(fits))], wanted, certain)


def certain_keys(keys: Both[KeyCounts], most_rows: int) -> tuple[np.ndarray, int]:
    """The hashes of keys to take always, and how many rows they are known to have."""
    hashes, place = np.unique(
        np.concatenate([keys.left.hashes, keys.right.hashes]), return_inverse=True
    )
    counts = np.bincount(place, np.concatenate([keys.left.counts, keys.right.counts]))
    order = np.argsort(-counts, kind="stable")
    room = CERTAIN_PART * most_rows
    order = order[(counts[order] >= HEAVY_PART * most_rows) & (counts[order] <= room)]
    order = order[np.cumsum(counts[order]) <= room]
    return hashes[order], int(counts[order].sum())


def rows_by_hash(hashes: np.ndarray, rows: np.ndarray) -> RowsAt:
    """The rows that would be taken, from the hash and the number of rows of every key."""

    def rows_at(shares: list[float], certain: np.ndarray) -> np.ndarray:
        others = ~np.isin(hashes, certain)
        order = np.argsort(hashes[others])
        ranked = hashes[others][order]
        so_far = np.concatenate([[0], np.cumsum(rows[others][order])])
        ends = [int(np.count_nonzero(share_of(ranked, share))) for share in shares]
        taken: np.ndarray = so_far[ends] + rows[~others].sum()
        return taken

    return rows_at
