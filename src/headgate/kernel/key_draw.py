"""Keys drawn at random, anew in every stretch of time, so that all rows of a drawn key are known.

Whether a row could have met one that came before it, and was given up since, is known only where
all rows of its key are noted. Keys are drawn by their hash, for both sides alike. A key drawn once
and for all would be followed forever, or never; so they are drawn again in every *block* of time,
and a key in a block is a *cluster*: its rows are drawn together.
"""

from typing import NamedTuple

import numpy as np

from headgate.compiling import compiled
from headgate.policies.chance import as_chance, mix, scrambled

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)


class KeyDraw(NamedTuple):
    """Which keys are drawn, and which of their rows.

    Examples
    --------
    >>> hashes = np.arange(3, dtype=np.uint64)
    >>> draw = KeyDraw(0, 0.5, 1.0, block_us=10, sides=(True, False), hashes=hashes)
    >>> time = np.array([0, 0, 0, 10, 10, 10])
    >>> draw.chooses(0, np.zeros(6), np.tile(np.arange(3), 2), time).tolist()
    [True, True, True, True, False, False]
    """

    seed: int
    share: float
    """The chance of a key in a block."""
    within: float
    """The chance of a row of a key that is drawn."""
    block_us: int
    sides: tuple[bool, bool]
    """Sides whose rows are asked for."""
    hashes: np.ndarray
    """Stable hashes (uint64) of the keys, by code."""

    def chooses(
        self, side: int, drawn: np.ndarray, code: np.ndarray, time: np.ndarray
    ) -> np.ndarray:
        """Whether each row of a side is chosen, given its own random number; none without a key."""
        chosen = np.zeros(len(code), np.bool_)
        if not self.sides[side]:
            return chosen
        # There are no hashes at all where every row so far has a null in its key.
        keyed = np.flatnonzero(code >= 0)
        lots = self.lots_at(self.hashes[code[keyed]], time[keyed])
        chosen[keyed] = (drawn[keyed] < self.within) & (lots < self.share)
        return chosen

    def clusters(self, hashes: np.ndarray, time: np.ndarray) -> np.ndarray:
        """A random word (uint64) for each key in the block of a time."""
        block = (time // self.block_us).astype(np.int64).view(np.uint64)
        return scrambled(hashes + block * _GOLDEN + np.uint64(self.seed % (1 << 64)))

    def lots_at(self, hashes: np.ndarray, time: np.ndarray) -> np.ndarray:
        """The random number of each key in the block of a time, as of `lots` and `clusters`."""
        lots = np.empty(len(hashes))
        words, times = np.ascontiguousarray(hashes), np.ascontiguousarray(time, np.int64)
        _fill_lots(words, times, self.block_us, np.uint64(self.seed % (1 << 64)), lots)
        return lots

    @staticmethod
    def lots(clusters: np.ndarray) -> np.ndarray:
        """The random number in [0, 1) by which a cluster is drawn."""
        return as_chance(scrambled(clusters))


@compiled
def _fill_lots(
    hashes: np.ndarray, time: np.ndarray, block_us: int, seed: int, lots: np.ndarray
) -> None:
    """Every batch draws all its rows several times over: in one pass, not in a dozen."""
    for row in range(hashes.size):
        block = np.uint64(time[row] // block_us)
        bits = mix(mix(hashes[row] + block * _GOLDEN + seed))
        lots[row] = np.float64(bits >> np.uint64(11)) * 2.0**-53
