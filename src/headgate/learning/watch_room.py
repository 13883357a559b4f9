"""Which arrivals a step can take before more rows are watched than there is room for."""

from typing import Any, NamedTuple

import numpy as np

from headgate.compiling import compiled
from headgate.kernel.step_progress import NO_WATERMARK, StepProgress
from headgate.learning.keys_seen import HashedRows
from headgate.learning.result_rows import ResultRows
from headgate.learning.watched_rows import WatchedRows
from headgate.policies.chance import draw_one

SEEN_A_ROW = 2
"""Entries of followed keys that take no more than a watched row."""


class Coming(NamedTuple):
    """Arrivals to come, in event order."""

    side: np.ndarray
    time: np.ndarray
    joins: np.ndarray
    """Whether each can meet any row; one whose key is null cannot."""
    key: np.ndarray | None = None
    """Hashes of their keys, where these are followed."""

    def first(self, count: int) -> "Coming":
        """The first of them."""
        return self._taken(slice(count))

    def after(self, count: int) -> "Coming":
        """All but the first of them."""
        return self._taken(slice(count, None))

    def _taken(self, part: slice) -> "Coming":
        key = None if self.key is None else self.key[part]
        return Coming(self.side[part], self.time[part], self.joins[part], key)

    @property
    def keyed(self) -> HashedRows:
        """The rows with their keys."""
        key = np.zeros(len(self.side), np.uint64) if self.key is None else self.key
        return HashedRows(self.side, self.time, key)

    def sequence(self, seen: tuple[int, int]) -> np.ndarray:
        """Their sequence numbers, each on its side, after so many rows of each."""
        is_right = self.side != 0
        rights = np.cumsum(is_right)
        return np.where(
            is_right,
            seen[1] + rights - 1,
            seen[0] + np.arange(len(self.side)) - rights,
        )


class WatchParts(NamedTuple):
    """What of the room for watched rows is for which of them."""

    by_row: int
    """Rows watched one by one."""
    by_key: int
    """Rows watched by their key."""
    keys: int
    """Entries of keys that are followed."""

    @classmethod
    def of(cls, most: int, result: ResultRows) -> "WatchParts":
        """Of room for so many watched rows.

        Where keys are followed, pairs are told by rows watched one by one, the others by key;
        without pairs in the result, the former are for the models alone.

        Examples
        --------
        >>> from headgate.spec import How
        >>> WatchParts.of(80, ResultRows(How.LEFT, (5, 5), keyed=True))
        WatchParts(by_row=40, by_key=20, keys=40)
        >>> WatchParts.of(80, ResultRows(How.INNER, (5, 5), keyed=True))
        WatchParts(by_row=80, by_key=0, keys=0)
        """
        if not result.by_key:
            return cls(most, 0, 0)
        less = most // 4
        keys = (most - most // 2 - less) * SEEN_A_ROW
        return cls(less, most // 2, keys) if result.how.frees_left else cls(most // 2, less, keys)


class Spans(NamedTuple):
    """The windows' lengths, each in its own unit, and which of them count rows."""

    spans: tuple[int, int]
    by_rows: tuple[bool, bool]

    def last_meeting(self, side: int | np.ndarray, time: np.ndarray) -> np.ndarray:
        """Of rows of a side, or of one each, with a window in time: the event key of the last row
        they can meet."""
        key: np.ndarray = 2 * (time + np.array(self.spans)[side]) + (1 - side)
        return key

    def are_past(self, rows: WatchedRows, now: StepProgress) -> np.ndarray:
        """Whether each row can meet none that comes in order from now on."""
        past = np.zeros(len(rows.side), np.bool_)
        for side in (0, 1):
            mine = rows.side == side
            if self.by_rows[side]:
                past[mine] = now.seen[side] > rows.sequence[mine] + self.spans[side]
            else:
                past[mine] = self.last_meeting(side, rows.time[mine]) < now.clock
        return past


class Lot(NamedTuple):
    """How arrivals are drawn that are watched one by one."""

    seed: Any
    """A whole number; 64 bits, unsigned, where machine code is handed it."""
    share: float
    sides: tuple[bool, bool]
    """Sides whose rows are."""
    spans: tuple[int, int]
    """The windows, in time."""


def drawn_of(coming: Coming, seen: tuple[int, int], lot: Lot) -> tuple[np.ndarray, ...]:
    """Arrivals that are watched: their places, the event key up to which rows have come by then,
    and that of the last row that each of them can meet."""
    found = np.empty((3, len(coming.side)), np.int64)
    lot = lot._replace(seed=np.uint64(lot.seed % (1 << 64)))
    count = _draw_coming(coming.side, coming.time, coming.joins, np.array(seen), lot, found)
    return tuple(found[:, :count])


@compiled
def _draw_coming(
    side: np.ndarray,
    time: np.ndarray,
    joins: np.ndarray,
    seen: np.ndarray,
    lot: Lot,
    found: np.ndarray,
) -> np.int64:
    """Fill in what `drawn_of` returns; how many there are."""
    count = np.int64(0)
    clock = np.int64(NO_WATERMARK)
    for row in range(side.size):
        own = side[row]
        clock = max(clock, 2 * time[row] + own)
        sequence = seen[own]
        seen[own] = sequence + 1
        if not joins[row] or not lot.sides[own]:
            continue
        if draw_one(lot.seed, own, sequence) < lot.share:
            found[0, count] = row
            found[1, count] = clock
            found[2, count] = 2 * (time[row] + lot.spans[own]) + 1 - own
            count += 1
    return count


def open_at_once(
    coming: Coming, own: WatchedRows, spans: Spans, sequence: np.ndarray, chosen: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The places of arrivals that are watched, and how many rows are when each of them is.

    Parameters
    ----------
    own
        The rows watched so far whose window is open.
    sequence
        Of the arrivals.
    chosen
        Which of them are watched.
    """
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
