"""Results of a step of the twin, with the same accessors as `Step`."""

from collections import Counter

import numpy as np

from headgate.kernel.layout import LEFT, Count, Fate
from headgate.kernel.twin.twin_meetings import Meeting
from headgate.kernel.watched import Watched
from headgate.models.class_ages import PARTS
from headgate.policies.kinds.plain_score import PlainRow


class TwinOutcome:
    """Pairs, counts and rows of a step; matches of watched rows are counted in age buckets."""

    def __init__(self, buckets: int) -> None:
        self.pairs: list[tuple[int, int]] = []
        self.weights: list[float] = []
        self.worths: list[float] = []
        """The importance of each pair."""
        self.lives = [0.0, 0.0]
        """Sum of the lifetimes, in seconds, of rows that left, and of their squares."""
        self.counts = np.zeros((len(Count), 2), np.int64)
        self.ages_of: Counter[tuple[int, int, int]] = Counter()
        """What each watched row met, by side, number and age bucket."""
        self.ages = np.zeros((2, buckets), np.int64)
        self.by_side: list[list[PlainRow]] = [[], []]
        """All rows of each side, by number."""
        self.held: list[PlainRow] = []
        """The stored rows."""
        self.log: list[Meeting] = []
        """What watched rows met, in the order in which it came."""

    def note_meeting(self, watched: PlainRow, row: PlainRow, clock: int, times: int) -> None:
        """Note that a watched row meets an arrival, at this time by the step's clock."""
        self.log.append(Meeting(watched, row.time, clock, times))

    def note_age(self, watched: PlainRow, bucket: int, times: int) -> None:
        """Count what a watched row meets in an age bucket."""
        self.ages[watched.side, bucket] += times
        self.ages_of[watched.side, watched.number, bucket] += times

    def ages_met(self, side: int, numbers: np.ndarray) -> np.ndarray:
        """What some rows of a side, given by number, met, by class of age."""
        buckets = self.ages.shape[1]
        met = np.zeros((len(numbers), len(PARTS)), np.int32)
        for place, number in enumerate(numbers.tolist()):
            for bucket in range(buckets):
                # The last class that has begun where the bucket begins.
                age = sum(part <= bucket / buckets + 1e-9 for part in PARTS.tolist()) - 1
                met[place, age] += self.ages_of[side, number, bucket]
        return met

    @property
    def stored_rows(self) -> int:
        """Rows stored at the end."""
        return len(self.held)

    @property
    def stored_bytes(self) -> int:
        """Bytes stored at the end."""
        return sum(row.size for row in self.held)

    def note_peak(self) -> None:
        """Record the most that was stored so far."""
        peak_rows, peak_bytes = self.counts[Count.PEAK_ROWS], self.counts[Count.PEAK_BYTES]
        peak_rows[LEFT] = max(peak_rows[LEFT], self.stored_rows)
        peak_bytes[LEFT] = max(peak_bytes[LEFT], self.stored_bytes)

    def alive(self, side: int) -> np.ndarray:
        """For each row of a side, whether it is stored at the end."""
        return np.array([row in self.held for row in self.by_side[side]], bool)

    def histories(self, side: int) -> tuple[np.ndarray, np.ndarray]:
        """For each row of a side, its matches and the time of the last one."""
        rows = self.by_side[side]
        return np.array([row.matches for row in rows]), np.array([row.touched for row in rows])

    def recent(self, side: int) -> np.ndarray:
        """For each row of a side, its decayed matches."""
        return np.array([row.recent for row in self.by_side[side]])

    def fates(self, side: int) -> np.ndarray | None:
        """For each row of a side, its `Fate`."""
        rows = self.by_side[side]
        known = [
            Fate.MATCHED * row.matched + Fate.DOUBTFUL * row.doubtful + Fate.CERTAIN * row.certain
            for row in rows
        ]
        return np.array(known, np.uint8)

    def sequences(self, side: int) -> np.ndarray:
        """For each row of a side, its sequence number on that side."""
        return np.array([row.sequence for row in self.by_side[side]])

    def watched(self, side: int) -> Watched:
        """For each row of a side, its watch state and its matches."""
        rows = self.by_side[side]
        return Watched(
            np.array([row.watch for row in rows], np.uint8),
            np.array([row.met for row in rows], np.float64),
            np.array([row.made for row in rows], np.float64),
        )
