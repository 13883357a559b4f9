"""Watched rows between steps: those whose window is open, and their matches in a step."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from headgate.kernel.layout import Fate, WatchState
from headgate.kernel.meetings import MetBefore
from headgate.kernel.rows import Rows, joined
from headgate.kernel.step import Step
from headgate.kernel.watched import Watched, Watching
from headgate.learning import Evidence
from headgate.learning.cluster_sums import ClusterSums, Together
from headgate.learning.column_learner import Examples
from headgate.learning.monitor import lowered
from headgate.learning.result_rows import ResultRows
from headgate.models.class_ages import AGES
from headgate.policies.chance import uniform

GHOST = -1
MOST_MET = (1 << 16) - 1
"""At an age, where that is counted by row."""
PRECEDED = np.uint8(Fate.PRECEDED)


class WatchedRows(NamedTuple):
    """Watched rows whose window is open; each array has one entry per row."""

    side: np.ndarray  # uint8
    time: np.ndarray  # int64
    sequence: np.ndarray  # int64
    share: np.ndarray  # float64, the chance with which it is watched by itself; 0 where it is not
    met: np.ndarray  # float64
    made: np.ndarray  # float64
    importance: np.ndarray  # float64, as last known; ones where all rows count alike
    let_in: np.ndarray  # float64, the share of the rows that were let in when it came
    before: np.ndarray  # float64, of `met`, what it had met when the epoch began
    fate: np.ndarray  # uint8, bits of `Fate`; zero in inner joins
    cluster: np.ndarray  # uint64, of its key in its block of time; see `KeyDraw`
    by_key: np.ndarray  # float64, the chance with which the cluster is drawn; 0 where it is not
    within: np.ndarray  # float64, the chance with which the row is, given its cluster
    partners: np.ndarray  # int32, rows met so far, and
    last: np.ndarray  # int64, when it met the last of them, or came; where meetings are counted
    number: np.ndarray  # int64, among the stored rows of its side; GHOST when it is not stored
    code: np.ndarray  # int32, of its key in the step at hand
    value: np.ndarray  # what a predicate looks at, on the step's scale; empty where there is none
    source: np.ndarray  # int64, where it stood: among its side's open rows, then its arrivals
    traits: np.ndarray  # float32 (row, trait), see `KeyWorth.traits`; empty where no columns tell
    by_age: np.ndarray  # uint16 (row, age), what it met; empty likewise

    @classmethod
    def none(cls) -> "WatchedRows":
        """No rows."""
        kinds = "u1 i8 i8 f8 f8 f8 f8 f8 f8 u1 u8 f8 f8 i4 i8 i8 i4 f8 i8"
        columns: list[np.ndarray] = [np.zeros(0, kind) for kind in kinds.split()]
        columns += [np.zeros((0, 0), np.float32), np.zeros((0, AGES), np.uint16)]
        return cls(*columns)

    def where(self, which: np.ndarray) -> "WatchedRows":
        """Some of the rows."""
        return WatchedRows(*(column[which] if column.size else column for column in self))

    def followed_by(self, *others: "WatchedRows") -> "WatchedRows":
        """These rows, then those."""
        return WatchedRows(*(joined(parts) for parts in zip(self, *others, strict=True)))

    def in_order(self) -> "WatchedRows":
        """The rows by side, and in the order in which they came."""
        return self.where(np.lexsort((self.sequence, self.time, self.side)))

    @property
    def examples(self) -> Examples:
        """What they met, and their traits."""
        return Examples(self.side, self.time, self.sequence, self.traits, self.by_age)

    def fitting(self, is_open: np.ndarray, most: int) -> "WatchedRows":
        """The rows whose window is open, and others only while there is room for so many."""
        past = np.flatnonzero(~is_open)
        spare = max(most - (len(is_open) - len(past)), 0)
        if len(past) <= spare:
            return self
        keep = is_open.copy()
        keep[past[:spare]] = True
        return self.where(keep)

    def thinned(self, is_open: np.ndarray, most: int, seed: int) -> "WatchedRows":
        """Likewise, where rows past their window are still to be counted: where there is no room
        for all, they are thinned by their own random numbers, and each stands for more."""
        drawn, share, keep = uniform(seed, self.side, self.sequence), self.share, is_open.copy()
        spare = max(most - int(np.count_nonzero(is_open)), 0)
        past = ~is_open
        limit = float(share[past].max(initial=0.0))
        while np.count_nonzero(past) > spare:
            limit = lowered(limit)
            past &= drawn < limit
        share = np.where(past, np.minimum(share, limit), share)
        return self._replace(share=share).where(keep | past)

    def thinned_by_key(self, is_open: np.ndarray, most: int, seed: int) -> "WatchedRows":
        """Likewise, where rows watched by their key are still to be counted, and no others."""
        drawn, keep, within = uniform(seed, self.side, self.sequence), is_open.copy(), self.within
        spare = max(most - int(np.count_nonzero(is_open)), 0)
        past = ~is_open & (self.by_key > 0)
        limit = float(within[past].max(initial=0.0))
        while np.count_nonzero(past) > spare:
            limit = lowered(limit)
            past &= drawn < limit
        within = np.where(past, np.minimum(within, limit), within)
        return self._replace(within=within).where(keep | past)

    def of_side(self, side: int) -> "WatchedRows":
        """Those of a side."""
        return self.where(self.side == side)

    def stored(self, side: int) -> "WatchedRows":
        """Those of a side that are stored."""
        return self.where((self.side == side) & (self.number != GHOST))

    def ghosts(self, side: int) -> "WatchedRows":
        """Those of a side that are not stored any more."""
        return self.where((self.side == side) & (self.number == GHOST))

    def evidence(self, result: ResultRows) -> Evidence:
        """Their evidence so far on the recall of rows with a partner."""
        return Evidence.of(*result.matched(self.met, self.made, self.fate), self.share)

    def if_none_came(self, result: ResultRows) -> Evidence:
        """Their evidence on that of rows without a partner, if no row came any more."""
        sums = Evidence()
        for side in (0, 1):
            mine = self._at_end(side)
            found = result.unmatched(side, mine.met, mine.fate)
            sums += Evidence.of(*found, mine.share)
        return sums

    def clusters_if_none_came(self, result: ResultRows) -> ClusterSums:
        """Likewise, of those that are watched by their key."""
        return self._at_end(0).clusters(result, 0) + self._at_end(1).clusters(result, 1)

    def _at_end(self, side: int) -> "WatchedRows":
        """Those of a side that are not counted yet, as they would be if no row came any more."""
        sure = (self.number != GHOST) & (self.fate & (Fate.MATCHED | Fate.DOUBTFUL) == 0)
        fate = np.where(sure, self.fate | Fate.CERTAIN, self.fate)
        mine = (self.side == side) & (self.fate & Fate.COUNTED == 0)
        return self._replace(fate=fate).where(mine)

    def clusters(self, result: ResultRows, side: int) -> ClusterSums:
        """The evidence of those of a side that are watched by their key, none of which can meet
        another."""
        rows = self.where(self.by_key > 0)
        found = result.drawn_by_key(side, rows.met, rows.fate)
        return ClusterSums().then(*found, rows.together)

    @property
    def together(self) -> Together:
        """How those that are watched by their key were drawn."""
        return Together(self.cluster, self.by_key, self.within)

    def are_among(self, stored: tuple[Rows, Rows]) -> bool:
        """Whether the rows said to be stored are where they are said to be."""
        for side, rows in enumerate(stored):
            mine = self.stored(side)
            if mine.number.max(initial=-1) >= len(rows.time):
                return False
            if not np.array_equal(rows.sequence[mine.number], mine.sequence):
                return False
        return True

    def marked(self, rows: Rows) -> Rows:
        """Stored rows of a side, those among them marked that these are."""
        watched = Watched.none(len(rows.time))
        watched.state[self.number] = WatchState.OPEN
        watched.met[self.number] = self.met
        watched.made[self.number] = self.made
        before = MetBefore(np.zeros(len(rows.time), np.int32), rows.time.copy())
        before.partners[self.number], before.last[self.number] = self.partners, self.last
        return rows._replace(watched=watched, meetings=before)

    def as_ghosts(self, definitions: int) -> Rows:
        """Rows that are not stored as a step wants them, under so many definitions of importance.

        What redefinitions would make of a row is not known: its columns are gone.
        """
        count = len(self.time)
        rows = Rows.of_arrivals(
            self.time, self.code, np.zeros(count, np.int64), np.zeros(count), self.value
        )
        return rows._replace(
            sequence=self.sequence,
            watched=Watched(np.full(count, WatchState.GHOST, np.uint8), self.met, self.made),
            fate=self.fate,
            importance=np.tile(self.importance, (definitions, 1)),
            meetings=MetBefore(self.partners, self.last),
        )


class Beginning(NamedTuple):
    """A side of a step that is about to begin."""

    stored: WatchedRows
    """Watched rows that are stored."""
    ghosts: WatchedRows
    """And those that are not any more."""
    watched_rows: int
    """How many rows of the side were watched, including those no longer watched."""
    stored_rows: int
    arriving: Rows
    importance: np.ndarray
    """Of the arrivals."""
    watching: Watching
    """Which arrivals are watched."""
    let_in: float
    """What share of the rows that came the arrivals are: each stands for others that would have
    met as many and made no pair."""
    traits: Callable[[Rows], np.ndarray]
    """Gives those of some arrivals."""
    preceded: np.ndarray | None = None
    """Of each arrival whose key is followed: whether a row that it meets had come before it."""

    def with_chosen(self, side: int, number: np.ndarray, sequence: np.ndarray) -> WatchedRows:
        """All rows watched in the step: stored ones, ghosts, and the arrivals of these numbers."""
        came, count = number - self.stored_rows, len(number)
        value = self.arriving.value
        share, by_key, cluster = self._drawn(side, came, sequence[number])
        fate = np.zeros(count, np.uint8)
        if self.preceded is not None:
            fate[(by_key > 0) & self.preceded[came]] = Fate.PRECEDED
        keys = self.watching.keys
        chosen = WatchedRows(
            side=np.full(count, side, np.uint8),
            time=self.arriving.time[came],
            sequence=sequence[number],
            share=share,
            met=np.zeros(count),
            made=np.zeros(count),
            importance=self.importance[came],
            let_in=np.full(count, self.let_in),
            before=np.zeros(count),
            fate=fate,
            cluster=cluster,
            by_key=by_key,
            within=np.full(count, 1.0 if keys is None else keys.within),
            partners=np.zeros(count, np.int32),
            last=self.arriving.time[came],
            number=number,
            code=self.arriving.code[came],
            value=value[came] if value.size else value,
            source=self.watched_rows + came,
            traits=self.traits(self.arriving.take(came)),
            by_age=np.zeros((count, AGES), np.uint16),
        )
        return self.stored.followed_by(self.ghosts, chosen)

    def _drawn(
        self, side: int, came: np.ndarray, sequence: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Of arrivals that are watched: the chance of each, that of its cluster, and the latter."""
        watching, count = self.watching, len(came)
        share, keys = np.full(count, watching.share), watching.keys
        if keys is None:
            return share, np.zeros(count), np.zeros(count, np.uint64)
        drawn = uniform(watching.seed, np.full(count, side, np.uint8), sequence)
        code, time = self.arriving.code[came], self.arriving.time[came]
        by_row = (drawn < watching.share) & watching.sides[side]
        by_key = keys.chooses(side, drawn, code, time)
        cluster = keys.clusters(keys.hashes[code], time)
        return np.where(by_row, share, 0.0), np.where(by_key, keys.share, 0.0), cluster


class Observed(NamedTuple):
    """A side's watched rows after a step: those it began with, and new ones."""

    rows: WatchedRows
    is_new: np.ndarray
    is_open: np.ndarray
    """Whether its window has not passed yet."""
    is_settled: np.ndarray
    """Whether it has become known in this step that no row can meet it any more."""
    before: WatchedRows
    """The same rows as they were before this step."""

    @classmethod
    def of(cls, step: Step, side: int, began: Beginning) -> "Observed":
        """Read the watched rows from a finished step."""
        number, watched = step.watched_rows(side)
        alive = step.alive(side)
        own, ghosts = len(alive), len(began.ghosts.time)
        is_new = (number >= began.stored_rows) & (number < own)
        old = np.concatenate([began.stored.number, own + np.arange(ghosts)])
        before = began.with_chosen(side, number[is_new], step.sequences(side))
        # The step lists watched rows by number; here old ones come in the order they were given.
        at = np.concatenate([np.searchsorted(number, old), np.flatnonzero(is_new)])
        met_now, made = watched.met[at] - before.met, watched.made[at]
        # Where all rows were let in, the very sum, which does not depend on where steps are cut.
        all_in = before.let_in == 1.0
        met = np.where(all_in, watched.met[at], before.met + met_now / before.let_in)
        is_stored = np.zeros(own + ghosts, bool)
        is_stored[:own] = alive
        rank = np.cumsum(is_stored) - 1
        fate, is_open = step.watched_fates(side, number[at]), watched.state[at] == WatchState.OPEN
        fate = fate | (before.fate & PRECEDED)
        # A ghost may be left for the next step to be found behind the watermark.
        is_settled = ~is_open | step.are_behind_watermark(side, before.time)
        is_settled &= fate & Fate.COUNTED == 0
        partners, last = step.met_before(side, number[at])
        rows = before._replace(
            partners=partners,
            last=last,
            by_age=np.minimum(before.by_age + step.ages_met(side, number[at]), MOST_MET).astype(
                np.uint16
            ),
            met=met,
            made=made,
            # As the kernel takes it: or-ing with a member of an enumeration makes it wider.
            fate=np.where(is_settled, fate | Fate.COUNTED, fate).astype(np.uint8),
            number=np.where(is_stored[number[at]], rank[number[at]], GHOST),
        )
        return cls(
            rows,
            is_new=np.arange(len(at)) >= len(old),
            is_open=is_open,
            is_settled=is_settled,
            before=before,
        )

    def evidence(self, result: ResultRows) -> Evidence:
        """Of this step alone, on rows with a partner."""
        rows, before = self.rows, self.before
        met, made = result.matched(rows.met, rows.made, rows.fate)
        met_before, made_before = result.matched(before.met, before.made, before.fate)
        return Evidence.of(met - met_before, made - made_before, rows.share)

    def clusters(self, result: ResultRows, side: int) -> ClusterSums:
        """Of this step alone, on rows watched by their key."""
        if not result.by_key:
            return ClusterSums()
        return self.rows.where(self.is_settled).in_order().clusters(result, side)

    def settled(self, result: ResultRows, side: int) -> Evidence:
        """Of this step alone, on rows without a partner."""
        if not (result.by_row and result.how.outer[side]):
            return Evidence()
        rows = self.rows.where(self.is_settled)
        return Evidence.of(*result.unmatched(side, rows.met, rows.fate), rows.share)
