"""What a step of the twin has come to, asked for the way that `Step` is."""

import numpy as np

from headgate.kernel.layout import Count
from headgate.kernel.watched import Watched
from headgate.policies.kinds.plain_score import PlainRow


class PlainOutcome:
    """Pairs, counts and rows of a step, with so many buckets of age for what watched rows meet."""

    def __init__(self, buckets: int) -> None:
        self.pairs: list[tuple[int, int]] = []
        self.weights: list[float] = []
        self.worths: list[float] = []
        """The importance of each pair."""
        self.lives = [0.0, 0.0]
        """Of the rows that left: the sum of their lifetimes in seconds, and of the squares."""
        self.counts = np.zeros((len(Count), 2), np.int64)
        self.ages = np.zeros((2, buckets), np.int64)
        self.by_side: list[list[PlainRow]] = [[], []]
        """All rows of each side, by number."""
        self.held: list[PlainRow] = []
        """Those stored."""

    @property
    def stored_rows(self) -> int:
        """Rows stored at the end."""
        return len(self.held)

    @property
    def stored_bytes(self) -> int:
        """Bytes stored at the end."""
        return sum(row.size for row in self.held)

    def alive(self, side: int) -> np.ndarray:
        """For each row of a side, whether it is stored at the end."""
        return np.array([row in self.held for row in self.by_side[side]], bool)

    def histories(self, side: int) -> tuple[np.ndarray, np.ndarray]:
        """For each row of a side, its matches and when it was last touched."""
        rows = self.by_side[side]
        return np.array([row.matches for row in rows]), np.array([row.touched for row in rows])

    def recent(self, side: int) -> np.ndarray:
        """For each row of a side, its matches of late."""
        return np.array([row.recent for row in self.by_side[side]])

    def sequences(self, side: int) -> np.ndarray:
        """For each row of a side, its place among the side's rows."""
        return np.array([row.sequence for row in self.by_side[side]])

    def watched(self, side: int) -> Watched:
        """For each row of a side, whether it is watched, and what it met."""
        rows = self.by_side[side]
        return Watched(
            np.array([row.watch for row in rows], np.uint8),
            np.array([row.met for row in rows], np.float64),
            np.array([row.made for row in rows], np.float64),
        )
