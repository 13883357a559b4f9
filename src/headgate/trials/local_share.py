"""The share of the windows' rows that a miniature holds, over time.

The drawn keys' share of the rows fluctuates over time. Scaling memory by the share at each time
removes that effect.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from headgate.compiling import compiled

PARTS_OF_WINDOW = 16
MOST_PARTS = 1 << 18
FEW = 0.05
"""Of the most that windows hold."""
OFTEN = 4
"""How often per window memory is rescaled."""


@dataclass(frozen=True, eq=False)
class SlicedCount:
    """Rows of a side by time slice."""

    first: int
    part_us: int
    rows: np.ndarray

    @classmethod
    def of(cls, time: np.ndarray, like: "SlicedCount") -> "SlicedCount":
        """Count other times by the same slices."""
        rows = np.zeros(len(like.rows), np.int64)
        _count(time, like.first, like.part_us, rows)
        return cls(like.first, like.part_us, rows)

    @classmethod
    def nothing(cls, first: int, last: int, window: int) -> "SlicedCount":
        """Empty counts, with slices of a fraction of the window."""
        part = max(window // PARTS_OF_WINDOW, (last - first) // MOST_PARTS, 1)
        return cls(first, part, np.zeros((last - first) // part + 1, np.int64))

    def held(self, window: int) -> np.ndarray:
        """Rows that a window of this length holds at the end of each slice."""
        so_far = np.concatenate([[0], np.cumsum(self.rows)])
        back = max(round(window / self.part_us), 1)
        held: np.ndarray = so_far[1:] - so_far[np.maximum(np.arange(len(self.rows)) + 1 - back, 0)]
        return held


class Scale(NamedTuple):
    """The share of the storable rows and bytes that a trace has."""

    rows: float
    bytes: float


@dataclass(frozen=True, eq=False)
class LocalShare:
    """The share of the windows' rows that is in the trace, by time slice."""

    first: int
    part_us: int
    share: np.ndarray
    step_rows: int
    """Rows of the trace after which to rescale memory."""

    @classmethod
    def of(
        cls,
        whole: "Sequence[np.ndarray]",
        drawn: "Sequence[np.ndarray]",
        windows: "Sequence[int]",
        share: float,
        rows: int,
    ) -> "LocalShare | None":
        """Build from the times of stored rows: of all rows and of the drawn ones, by side.

        Parameters
        ----------
        windows
            Of each side, in microseconds.
        share
            The overall share that was drawn.
        rows
            Rows of the trace, including those that are not stored.
        """
        ends = [(int(time.min()), int(time.max())) for time in whole if len(time)]
        if not ends:
            return None
        first, last = min(low for low, _ in ends), max(high for _, high in ends)
        longest = max(windows)
        counted = SlicedCount.nothing(first, last, longest)
        held, here = (
            np.sum(
                [
                    SlicedCount.of(time, counted).held(window)
                    for time, window in zip(side, windows, strict=True)
                ],
                axis=0,
            )
            for side in (whole, drawn)
        )
        # While windows are nearly empty, their share is too noisy to use.
        few = FEW * held.max()
        part = longest / max(last - first, longest)
        return cls(
            first,
            counted.part_us,
            (here + few * share) / (held + few),
            int(rows * part / OFTEN),
        )

    def at(self, time: int, scale: Scale) -> Scale:
        """The scale of rows and bytes at a given time, from the overall scale."""
        place = min(max((time - self.first) // self.part_us, 0), len(self.share) - 1)
        now = float(self.share[place])
        return Scale(now, now * scale.bytes / max(scale.rows, 1e-300))


@compiled
def _count(time: np.ndarray, first: int, part: int, rows: np.ndarray) -> None:
    for row in range(time.size):
        rows[(time[row] - first) // part] += 1
