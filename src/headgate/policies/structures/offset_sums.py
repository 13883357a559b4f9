"""Sums over the offsets of rows, in few cells, the same in whatever order rows come."""

from dataclasses import dataclass
from typing import Any

import numpy as np

MOST_CELLS = 1 << 10


@dataclass(frozen=True, eq=False)
class OffsetSums:
    """For each cell of offsets: how many rows, their matches, and their time stored.

    A cell has ``1 << grain`` offsets. The grain is the finest of which there are not too many
    cells, so it depends on the offsets alone.

    Examples
    --------
    >>> some = OffsetSums.none().add(np.array([3, -1, 3]), np.array([1, 0, 2]), np.array([5, 6, 7]))
    >>> some.cell.tolist(), some.rows.tolist(), some.matches.tolist(), some.stayed_us.tolist()
    ([-1, 3], [1, 2], [0, 3], [6, 12])
    """

    grain: int
    cell: np.ndarray
    rows: np.ndarray
    matches: np.ndarray
    stayed_us: np.ndarray

    @classmethod
    def none(cls) -> "OffsetSums":
        """No rows."""
        return cls(0, *(np.empty(0, np.int64) for _ in range(4)))

    @classmethod
    def of(cls, given: list[Any] | None) -> "OffsetSums":
        """From what `to_list` gave."""
        if given is None:
            return cls.none()
        return cls(given[0], *(np.array(part, np.int64) for part in given[1:]))

    def to_list(self) -> list[Any]:
        """As plain numbers."""
        parts = (self.cell, self.rows, self.matches, self.stayed_us)
        return [self.grain, *(part.tolist() for part in parts)]

    def add(self, offset: np.ndarray, matches: np.ndarray, stayed_us: np.ndarray) -> "OffsetSums":
        """With more rows."""
        cell = np.concatenate([self.cell, offset >> self.grain])
        parts = (
            np.concatenate([self.rows, np.ones(len(offset), np.int64)]),
            np.concatenate([self.matches, matches.astype(np.int64)]),
            np.concatenate([self.stayed_us, stayed_us]),
        )
        grain = self.grain
        distinct, place = np.unique(cell, return_inverse=True)
        while len(distinct) > MOST_CELLS:
            grain, cell = grain + 1, cell >> 1
            distinct, place = np.unique(cell, return_inverse=True)
        sums = []
        for part in parts:
            total = np.zeros(len(distinct), np.int64)
            np.add.at(total, place, part)
            sums.append(total)
        return OffsetSums(grain, distinct, *sums)

    @property
    def offset(self) -> np.ndarray:
        """The middle of each cell."""
        middle: np.ndarray = (self.cell << self.grain) + ((1 << self.grain) >> 1)
        return middle
