"""All rows of a step, in the order given and in event order."""

from typing import NamedTuple

import numpy as np

from headgate.kernel import event_order
from headgate.kernel.rows import Rows
from headgate.kernel.step_input import StepInput

SIDES = np.array([0, 1, 0, 1, 0, 1], np.uint8)
"""Side of each group: stored rows, arrivals, ghosts, each left and right."""
ARRIVING, GHOSTS = (2, 3), (4, 5)
"""Which groups arrive, and which are watched and not stored."""


class InOrder(NamedTuple):
    """The order of a step's rows, and which of them arrive."""

    order: np.ndarray
    """Maps a position in event order to the row in the order given."""
    first_arrival: int
    """The first arrival in the order given; left ones are followed by right ones."""


class OrderedRows(NamedTuple):
    """The rows of a step, group after group, and the position of each in event order."""

    groups: tuple[Rows, ...]
    lengths: np.ndarray
    """Rows of each group."""
    ends: np.ndarray
    """End of each group among the rows in the order given."""
    time: np.ndarray
    side: np.ndarray
    sequence: np.ndarray
    order: np.ndarray
    """Maps a position in event order to the row in the order given."""
    place: np.ndarray
    """Maps a row in the order given to its position in event order."""
    seen: tuple[int, int]
    """Rows of each side so far, arrivals included."""

    @classmethod
    def of(cls, given: StepInput) -> "OrderedRows":
        """Sort the rows, and number arrivals from the rows seen before."""
        groups = given.groups
        lengths = np.array([len(group.time) for group in groups])
        ends = np.cumsum(lengths)
        time = np.concatenate([group.time for group in groups])
        side = np.repeat(SIDES, lengths)
        sequence = np.concatenate([group.sequence for group in groups])
        place = np.empty(len(time), np.int64)
        seen = np.array(given.progress.seen, np.int64)
        order = event_order.event_order(time, side)
        event_order.number_arrivals(
            order, place, side, (int(ends[1]), int(ends[3])), sequence, seen
        )
        if given.numbers is not None:
            sequence[ends[1] : ends[3]] = np.concatenate(given.numbers)
        return cls(
            groups,
            lengths,
            ends,
            time,
            side,
            sequence=sequence,
            order=order,
            place=place,
            seen=(int(seen[0]), int(seen[1])),
        )

    @property
    def total(self) -> int:
        """Rows of all groups."""
        return len(self.time)

    @property
    def left_rows(self) -> int:
        """Rows of the left side, ghosts included."""
        return int(self.lengths[::2].sum())

    @property
    def stored(self) -> int:
        """Rows stored before the step."""
        return int(self.ends[1])

    @property
    def arriving(self) -> int:
        """Rows that arrive in the step."""
        return int(self.ends[3] - self.ends[1])

    def own(self, which: int) -> slice:
        """The slice of a group's rows, in the order given."""
        return slice(self.ends[which] - self.lengths[which], self.ends[which])

    def of_side(self, values: np.ndarray, side: int) -> np.ndarray:
        """The entries of a side's rows, by number, from an array over all rows as given."""
        return np.concatenate([values[self.own(group)] for group in range(side, len(SIDES), 2)])

    def places_of(self, side: int, numbers: np.ndarray) -> np.ndarray:
        """The positions in event order of few rows of a side, given by number."""
        places: np.ndarray = self.place[self.given_at(side, numbers)]
        return places

    def times_of(self, side: int, numbers: np.ndarray) -> np.ndarray:
        """Their times."""
        times: np.ndarray = self.time[self.given_at(side, numbers)]
        return times

    def given_at(self, side: int, numbers: np.ndarray) -> np.ndarray:
        """Where rows of a side are in the order given.

        Each group begins further back than its first number says.
        """
        at = numbers.copy()
        first = 0
        for group in range(side, len(SIDES), 2):
            at[numbers >= first] = numbers[numbers >= first] + (self.own(group).start - first)
            first += int(self.lengths[group])
        return at

    def without_ghosts(self, side: int) -> int:
        """Stored rows and arrivals of a side."""
        lengths = self.lengths
        return int(lengths[side] + lengths[side + 2])
