"""Rows as numbers, each with its position in the payload; and screened arrivals."""

from dataclasses import dataclass, replace
from typing import Generic, Self, TypeVar

import numpy as np

from headgate.kernel.rows import Rows


@dataclass(frozen=True)
class PlacedRows:
    """Rows of one side, and the position of each in their payload."""

    place: np.ndarray
    rows: Rows

    def __len__(self) -> int:
        return len(self.place)

    def where(self, keep: np.ndarray) -> Self:
        """Only some of the rows; the payload stays as it is."""
        if keep.all():
            return self
        return replace(self, place=self.place[keep], rows=self.rows.where(keep))

    def places_with(self, other: Self) -> np.ndarray:
        """Where these rows stand, and then those, in the payload of both."""
        return np.concatenate([self.place, other.place])

    def followed_by(self, other: Self) -> Self:
        """These rows, then those of the same payload."""
        return replace(self, place=self.places_with(other), rows=self.rows.followed_by(other.rows))


Placed = TypeVar("Placed", bound=PlacedRows)
Numbers = tuple[np.ndarray, np.ndarray]


@dataclass(frozen=True)
class Screened(Generic[Placed]):
    """Arriving rows of one side that can take part, and how many could not."""

    rows: Placed
    late: int = 0
    null_times: int = 0
    dropped: int = 0
    """Rows dropped for lack of CPU time."""

    @property
    def time(self) -> np.ndarray:
        """When each row came."""
        return self.rows.rows.time

    def __len__(self) -> int:
        return len(self.rows)

    def thinned(self, inside: np.ndarray) -> "Screened[Placed]":
        """Only the rows admitted within the CPU budget."""
        out = int(len(inside) - np.count_nonzero(inside))
        return replace(self, rows=self.rows.where(inside), dropped=self.dropped + out)

    def weighed(self, weight: np.ndarray) -> "Screened[Placed]":
        """The rows with the policy's weights of their keys."""
        rows = replace(self.rows, rows=self.rows.rows._replace(weight=weight))
        return replace(self, rows=rows)


def numbered(arriving: tuple[Screened[Placed], Screened[Placed]], seen: tuple[int, int]) -> Numbers:
    """A number for each arrival, counting on from the rows seen so far."""
    left, right = (first + np.arange(len(side)) for first, side in zip(seen, arriving, strict=True))
    return left, right
