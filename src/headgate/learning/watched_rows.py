"""Watched rows from step to step: those whose window is open, and how they fared in a step."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from headgate.kernel.layout import Watch
from headgate.kernel.rows import Batch
from headgate.kernel.watched import FollowedRows, Watched
from headgate.learning import Evidence

GHOST = -1


class OpenRows(NamedTuple):
    """Watched rows whose window is open, an entry a row."""

    side: np.ndarray  # uint8
    time: np.ndarray  # int64
    sequence: np.ndarray  # int64
    share: np.ndarray  # float64, the chance with which it is watched
    met: np.ndarray  # float64
    made: np.ndarray  # float64
    importance: np.ndarray  # float64, as last known; ones where all rows count alike
    let_in: np.ndarray  # float64, the share of the rows that were let in when it came
    number: np.ndarray  # int64, among the stored rows of its side; GHOST when it is not stored
    code: np.ndarray  # int32, of its key in the step at hand
    value: np.ndarray  # what a predicate looks at, on the step's scale; empty where there is none
    source: np.ndarray  # int64, where it stood: among its side's open rows, then its arrivals

    @classmethod
    def none(cls) -> "OpenRows":
        """No rows."""
        kinds = ("u1", "i8", "i8", "f8", "f8", "f8", "f8", "f8", "i8", "i4", "f8", "i8")
        return cls(*(np.zeros(0, kind) for kind in kinds))

    def where(self, which: np.ndarray) -> "OpenRows":
        """Some of the rows."""
        return OpenRows(*(column[which] if column.size else column for column in self))

    @property
    def evidence(self) -> Evidence:
        """What they have to say so far."""
        return Evidence.of(self.met, self.made, self.share)


def are_up_to_date(open_rows: OpenRows, stored: tuple[Batch, Batch]) -> bool:
    """Whether the rows said to be stored are where they are said to be."""
    for side, batch in enumerate(stored):
        mine = open_rows.where((open_rows.side == side) & (open_rows.number != GHOST))
        if mine.number.max(initial=-1) >= len(batch.time):
            return False
        if not np.array_equal(batch.sequence[mine.number], mine.sequence):
            return False
    return True


def joined(parts: Sequence[np.ndarray]) -> np.ndarray:
    """Arrays one after the other; an empty one does not turn whole numbers into real ones."""
    filled = [part for part in parts if part.size]
    return np.concatenate(filled) if filled else parts[-1]


def ghost_batch(rows: OpenRows, definitions: int) -> Batch:
    """Watched rows that are not stored, as a step wants them."""
    count = len(rows.time)
    batch = Batch.of_arrivals(
        rows.time, rows.code, np.zeros(count, np.int64), np.zeros(count), rows.value
    )
    watched = Watched(np.full(count, Watch.GHOST, np.uint8), rows.met, rows.made)
    return batch._replace(
        sequence=rows.sequence,
        watched=watched,
        # What redefinitions would make of it is not known: its columns are gone.
        importance=np.tile(rows.importance, (definitions, 1)),
    )


class Followed(NamedTuple):
    """A side's watched rows after a step: those it began with, and new ones."""

    is_new: np.ndarray
    time: np.ndarray
    code: np.ndarray
    importance: np.ndarray
    met_now: np.ndarray
    """What partners met in this step were worth."""
    open: OpenRows
    evidence: Evidence
    finished_evidence: Evidence

    @classmethod
    def of(
        cls,
        watched: FollowedRows,
        side: int,
        stored: int,
        arriving: Batch,
        sequence: np.ndarray,
        alive: np.ndarray,
        watched_stored: OpenRows,
        ghosts: OpenRows,
        share: float,
        open_before: int,
        importance: np.ndarray,
        let_in: float,
    ) -> "Followed":
        """From what a step says of watched rows.

        ``importance`` is that of the arrivals, ``let_in`` what share of the rows that came they
        are: each stands for others that would have met as many and made no pair.
        """
        own = len(alive)
        is_new = (watched.number >= stored) & (watched.number < own)
        new = watched.number[is_new]
        old = np.concatenate([watched_stored.number, own + np.arange(len(ghosts.time))])
        came = new - stored
        # The step lists watched rows by number; here old ones come in the order they were given.
        by_number = np.searchsorted(watched.number, old)
        at = np.concatenate([by_number, np.flatnonzero(is_new)])
        number = watched.number[at]
        columns = [
            np.concatenate([first, second, third])
            for first, second, third in (
                (watched_stored.time, ghosts.time, arriving.time[came]),
                (watched_stored.sequence, ghosts.sequence, sequence[new]),
                (watched_stored.share, ghosts.share, np.full(len(new), share)),
                (watched_stored.code, ghosts.code, arriving.code[came]),
                (watched_stored.source, ghosts.source, open_before + came),
                (watched_stored.importance, ghosts.importance, importance[came]),
                (watched_stored.let_in, ghosts.let_in, np.full(len(new), let_in)),
                (watched_stored.met, ghosts.met, np.zeros(len(new))),
                (watched_stored.made, ghosts.made, np.zeros(len(new))),
            )
        ]
        time, sequences, shares, code, source, important, inside, met_before, made_before = columns
        came_with = arriving.value[came] if arriving.value.size else arriving.value
        met_now, made = watched.met[at] - met_before, watched.made[at]
        met = met_before + met_now / inside
        is_stored = np.zeros(own + len(ghosts.time), bool)
        is_stored[:own] = alive
        rank = np.cumsum(is_stored) - 1
        all_rows = OpenRows(
            np.full(len(number), side, np.uint8),
            time,
            sequences,
            shares,
            met,
            made,
            important,
            inside,
            np.where(is_stored[number], rank[number], GHOST),
            code,
            joined((watched_stored.value, ghosts.value, came_with)),
            source,
        )
        still_open = watched.state[at] == Watch.OPEN
        return cls(
            is_new=np.arange(len(number)) >= len(old),
            time=time,
            code=code,
            importance=important,
            met_now=met_now,
            open=all_rows.where(still_open),
            evidence=Evidence.of(met - met_before, made - made_before, shares),
            finished_evidence=all_rows.where(~still_open).evidence,
        )
