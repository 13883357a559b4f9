"""Watched rows, which are followed through their whole window, and the choice of them."""

from typing import NamedTuple

import numpy as np

from headgate.compiling import compiled
from headgate.kernel.key_draw import KeyDraw
from headgate.kernel.layout import NULL_KEY
from headgate.kernel.meeting_classes import MeetingClasses
from headgate.policies.chance import draw_one, uniform
from headgate.spec import Window


class Watched(NamedTuple):
    """Watch state and matches of rows; each array has one entry per row."""

    state: np.ndarray  # uint8, `Watch`
    met: np.ndarray  # float64, worth of all partners while watched, stored or not
    made: np.ndarray  # float64, worth of the partners that made a pair

    @classmethod
    def none(cls, rows: int) -> "Watched":
        """No row is watched."""
        return cls(*(np.zeros(rows, kind) for kind in (np.uint8, np.float64, np.float64)))


class Watching(NamedTuple):
    """Which arrivals to watch: a random share, the same on every restart."""

    seed: int
    share: float
    buckets: int
    """Number of age buckets per window, to count the matches of watched rows."""
    sides: tuple[bool, bool] = (True, True)
    """Sides to watch; rows of a side with an empty window match nothing."""
    keys: KeyDraw | None = None
    """Keys whose rows are watched as well; None for no key."""
    meetings: MeetingClasses | None = None
    """Classes of rows by which meetings are counted; None where they are not."""
    by_row: bool = False
    """Whether it is counted at which ages each watched row met others."""

    def chooses(
        self, side: int, sequence: np.ndarray, code: np.ndarray, time: np.ndarray
    ) -> np.ndarray:
        """Whether each row of a side is to be watched; one without a key is not."""
        chosen = np.zeros(len(sequence), np.bool_)
        if self.sides[side]:
            stream = np.uint64(self.seed % (1 << 64))
            _choose(stream, self.share, np.uint8(side), sequence.astype(np.int64), chosen)
        if self.keys is not None:
            drawn = uniform(self.seed, np.full(len(sequence), side, np.uint8), sequence)
            chosen |= self.keys.chooses(side, drawn, code, time)
        chosen &= code != NULL_KEY
        return chosen


@compiled
def _choose(seed: int, share: float, side: int, sequence: np.ndarray, chosen: np.ndarray) -> None:
    """As `uniform`, without the numbers."""
    for row in range(sequence.size):
        chosen[row] = draw_one(seed, side, sequence[row]) < share


def bucket_us(window: Window, buckets: int) -> int:
    """Length of an age bucket, in the window's unit: its span over ``buckets``, rounded up."""
    return -(-max(window.span, 1) // buckets)
