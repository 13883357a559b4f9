"""Which arrivals a step can take before more rows are watched than there is room for."""

from typing import NamedTuple

import numpy as np

from headgate.kernel.progress import Progress
from headgate.learning.watched_rows import WatchedRows
from headgate.policies.chance import uniform


class Coming(NamedTuple):
    """Arrivals to come, in event order."""

    side: np.ndarray
    time: np.ndarray
    joins: np.ndarray
    """Whether each can meet any row; one whose key is null cannot."""

    def first(self, count: int) -> "Coming":
        """The first of them."""
        return Coming(self.side[:count], self.time[:count], self.joins[:count])

    def after(self, count: int) -> "Coming":
        """All but the first of them."""
        return Coming(self.side[count:], self.time[count:], self.joins[count:])

    def sequence(self, seen: tuple[int, int]) -> np.ndarray:
        """Their sequence numbers, each on its side, after so many rows of each."""
        is_right = self.side != 0
        rights = np.cumsum(is_right)
        return np.where(
            is_right,
            seen[1] + rights - 1,
            seen[0] + np.arange(len(self.side)) - rights,
        )


class Drawn(NamedTuple):
    """Which rows are watched: a random share, the same on every restart."""

    seed: int
    share: float

    def chooses(self, side: np.ndarray, sequence: np.ndarray) -> np.ndarray:
        """Whether each row is."""
        chosen: np.ndarray = uniform(self.seed, side, sequence) < self.share
        return chosen


class Spans(NamedTuple):
    """The windows' lengths, each in its own unit, and which of them count rows."""

    spans: tuple[int, int]
    by_rows: tuple[bool, bool]

    def last_meeting(self, side: int, time: np.ndarray) -> np.ndarray:
        """Of rows of a side with a window in time: the event key of the last row they can meet."""
        key: np.ndarray = 2 * (time + self.spans[side]) + (1 - side)
        return key

    def are_past(self, rows: WatchedRows, now: Progress) -> np.ndarray:
        """Whether each row can meet none that comes in order from now on."""
        past = np.zeros(len(rows.side), np.bool_)
        for side in (0, 1):
            mine = rows.side == side
            if self.by_rows[side]:
                past[mine] = now.seen[side] > rows.sequence[mine] + self.spans[side]
            else:
                past[mine] = self.last_meeting(side, rows.time[mine]) < now.clock
        return past


def open_at_once(
    coming: Coming, watched: WatchedRows, spans: Spans, sequence: np.ndarray, drawn: Drawn
) -> tuple[np.ndarray, np.ndarray]:
    """The places of arrivals that are watched, and how many rows are when each of them is.

    Parameters
    ----------
    watched
        The rows watched so far whose window is open.
    sequence
        Of the arrivals.
    drawn
        Which rows are watched.
    """
    own = watched.where(drawn.chooses(watched.side, watched.sequence))
    chosen = drawn.chooses(coming.side, sequence) & coming.joins
    chosen &= np.array([span > 0 for span in spans.spans])[coming.side]
    places = np.flatnonzero(chosen)
    leave = []
    clock = np.maximum.accumulate(2 * coming.time + coming.side)
    for side in (0, 1):
        mine, new = own.side == side, places[coming.side[places] == side]
        if spans.by_rows[side]:
            marks = np.concatenate([own.sequence[mine], sequence[new]])
            # It is past when this row of its side comes.
            past = np.searchsorted(
                sequence[coming.side == side], marks + spans.spans[side], side="left"
            )
            at = np.append(np.flatnonzero(coming.side == side), len(clock))
            leave.append(at[past])
        else:
            times = np.concatenate([own.time[mine], coming.time[new]])
            leave.append(np.searchsorted(clock, spans.last_meeting(side, times), side="right"))
    gone = np.sort(np.concatenate(leave))
    count = len(own.side) + np.arange(1, len(places) + 1)
    return places, count - np.searchsorted(gone, places, side="right")
