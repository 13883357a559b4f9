"""A step that learns: it watches some rows, counts keys, and follows the policy that fits.

Models are those of earlier steps alone, so nothing looks ahead. What a step learned is taken in by
`finish`, after the last pair.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from headgate.compiling import compiled
from headgate.engine.layout import NULL_KEY, Watch
from headgate.engine.step import (
    NO_WATERMARK,
    Batch,
    FollowedRows,
    Progress,
    Step,
    Terms,
    Watched,
    Watching,
    bucket_us,
)
from headgate.models import AgeCurves
from headgate.monitor import Evidence, Monitor, Room
from headgate.monitor.monitor import BUCKETS, Candidates
from headgate.policies.learned import Learned
from headgate.policies.random import uniform
from headgate.spec import RowWindow, Window

MONITOR_SEED = 0x5EED
"""Apart from the policies' own random numbers."""
GHOST = -1


class OpenRows(NamedTuple):
    """Watched rows whose window is open, an entry a row."""

    side: np.ndarray  # uint8
    time: np.ndarray  # int64
    sequence: np.ndarray  # int64
    share: np.ndarray  # float64, the chance with which it is watched
    met: np.ndarray  # int32
    made: np.ndarray  # int32
    number: np.ndarray  # int64, among the stored rows of its side; GHOST when it is not stored
    code: np.ndarray  # int32, of its key in the step at hand
    value: np.ndarray  # what a predicate looks at, on the step's scale; empty where there is none
    source: np.ndarray  # int64, where it stood: among its side's open rows, then its arrivals

    @classmethod
    def none(cls) -> "OpenRows":
        """No rows."""
        kinds = ("u1", "i8", "i8", "f8", "i4", "i4", "i8", "i4", "f8", "i8")
        return cls(*(np.zeros(0, kind) for kind in kinds))

    def where(self, which: np.ndarray) -> "OpenRows":
        """Some of the rows."""
        return OpenRows(*(column[which] if column.size else column for column in self))

    @property
    def evidence(self) -> Evidence:
        """What they have to say so far."""
        return Evidence.of(self.met, self.made, self.share)


def new_monitor(windows: tuple[Window, Window], room: Room) -> Monitor:
    """A monitor that knows nothing yet."""
    return Monitor(
        spans=(windows[0].span, windows[1].span),
        by_rows=(isinstance(windows[0], RowWindow), isinstance(windows[1], RowWindow)),
        widths_us=(bucket_us(windows[0], BUCKETS), bucket_us(windows[1], BUCKETS)),
        room=room,
        seed=MONITOR_SEED,
    )


@dataclass(frozen=True)
class Worth:
    """What keys are worth, by code: rows of each side a microsecond; and the age model."""

    by_code: np.ndarray | None
    curves: AgeCurves | None

    @classmethod
    def of(cls, monitor: Monitor, tracked: np.ndarray, codes: int) -> "Worth":
        """What a monitor makes of the keys it tracks, given their codes."""
        by_code = None
        if monitor.knows_keys:
            by_code = np.zeros((codes + 1, 2))  # one more, so that the code of null is worth 0
            by_code[tracked] = monitor.counts / monitor.lived
        return cls(by_code, monitor.curves())

    def weights(self, side: int, code: np.ndarray) -> np.ndarray:
        """For rows of a side: how many rows of the other come with their key, a microsecond."""
        if self.by_code is None:
            return np.zeros(len(code))
        weights: np.ndarray = self.by_code[code, 1 - side]
        return weights


class LearningStep:
    """A `Step` with a monitor beside it; rows are numbered the same.

    Parameters
    ----------
    terms, stored, arriving, codes, progress, watermark, keep_late
        As for `Step`.
    monitor
        What is known of the streams; `finish` brings it up to date.
    open_rows
        The watched rows the last step left open.
    tracked
        The codes of the keys the monitor tracks, in its order.
    key_bytes
        The most that a key takes.
    """

    def __init__(
        self,
        terms: Terms,
        stored: tuple[Batch, Batch],
        arriving: tuple[Batch, Batch],
        codes: int,
        progress: Progress,
        watermark: int,
        keep_late: bool,
        monitor: Monitor,
        open_rows: OpenRows,
        tracked: np.ndarray,
        key_bytes: int,
    ) -> None:
        self.monitor = monitor
        self._key_bytes = key_bytes
        self._windows = terms.windows
        self._codes, self._tracked = codes, tracked
        self._arriving, self._before = arriving, progress
        self._stored_rows = tuple(len(side.time) for side in stored)
        if not _is_up_to_date(open_rows, stored):
            # Steps were taken without a monitor, and what rows met in them was not counted.
            open_rows = OpenRows.none()
        self._open_before = tuple(int(np.count_nonzero(open_rows.side == s)) for s in (0, 1))
        source = np.empty(len(open_rows.side), np.int64)
        for side in (0, 1):
            source[open_rows.side == side] = np.arange(self._open_before[side])
        self._open = self._fitting(open_rows._replace(source=source), arriving, keep_late)
        self._worth = Worth.of(monitor, tracked, codes)
        if isinstance(terms.policy, Learned):
            terms, stored, arriving = self._settled(terms, stored, arriving)
        self.policy = terms.policy
        self._ghosts = tuple(
            self._open.where((self._open.side == side) & (self._open.number == GHOST))
            for side in (0, 1)
        )
        self.step = Step(
            terms,
            (self._marked(stored[0], 0), self._marked(stored[1], 1)),
            arriving,
            codes,
            progress,
            watermark,
            keep_late,
            Watching(
                monitor.seed,
                monitor.share,
                BUCKETS,
                (terms.windows[0].span > 0, terms.windows[1].span > 0),
            ),
            (_ghost_batch(self._ghosts[0]), _ghost_batch(self._ghosts[1])),
        )

    def pairs(self) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Pairs in blocks, as `Step` gives them."""
        return self.step.pairs()

    def finish(self) -> tuple[OpenRows, np.ndarray, Evidence]:
        """After the last pair: learn, and say which rows are open, which codes are tracked now,
        and what this step has to say of recall."""
        sides = [self._followed(side) for side in (0, 1)]
        self._learn(sides)
        self.monitor.finished += sides[0].finished_evidence + sides[1].finished_evidence
        tracked = self._count_keys(self.monitor.room.most_keys(self._key_bytes))
        opened = OpenRows(
            *(_joined(both) for both in zip(sides[0].open, sides[1].open, strict=True))
        )
        return opened, tracked, sides[0].evidence + sides[1].evidence

    def _fitting(
        self, open_rows: OpenRows, arriving: tuple[Batch, Batch], keep_late: bool
    ) -> OpenRows:
        """The open rows that are still watched, once arrivals and they fit their room."""
        drawn = uniform(self.monitor.seed, open_rows.side, open_rows.sequence)
        candidates = [
            self._candidates(
                side, arriving[side], open_rows.where(open_rows.side == side), keep_late
            )
            for side in (0, 1)
            if self._windows[side].span
        ]
        share = self.monitor.choose_share(candidates, self._key_bytes)
        self.monitor.share = share
        kept = open_rows.where(drawn < share)
        return kept._replace(share=np.minimum(kept.share, share))

    def _candidates(
        self, side: int, arriving: Batch, watched: OpenRows, keep_late: bool
    ) -> Candidates:
        """A side's rows that may be watched in this step."""
        window = self._windows[side]
        # Arrivals are numbered in order of time, so the earliest gets the first number.
        sequence = self._before.seen[side] + np.arange(len(arriving.time))
        sequences = np.concatenate([watched.sequence, sequence])
        by_rows = isinstance(window, RowWindow)
        marks = sequences
        if not by_rows:
            marks = np.concatenate([watched.time, np.sort(arriving.time)])
        order = np.argsort(marks, kind="stable")
        drawn = uniform(self.monitor.seed, np.full(len(marks), side, np.uint8), sequences)
        stays = keep_late and not by_rows
        return Candidates(drawn[order], marks[order], None if stays else window.span)

    def _settled(
        self, terms: Terms, stored: tuple[Batch, Batch], arriving: tuple[Batch, Batch]
    ) -> tuple[Terms, tuple[Batch, Batch], tuple[Batch, Batch]]:
        """The terms with the policy to follow, and rows weighed by what is known now."""
        policy = terms.policy
        assert isinstance(policy, Learned)
        known = self._worth.by_code
        settled = policy.follow(
            self._worth.curves, None if known is None else known.ravel(), self.monitor.fit.better
        )
        if settled.weighs_keys:
            stored = (self._weighed(stored[0], 0), self._weighed(stored[1], 1))
            arriving = (self._weighed(arriving[0], 0), self._weighed(arriving[1], 1))
        return replace(terms, policy=settled), stored, arriving

    def _weighed(self, batch: Batch, side: int) -> Batch:
        return batch._replace(weight=self._worth.weights(side, batch.code))

    def _marked(self, batch: Batch, side: int) -> Batch:
        """Stored rows, the watched ones among them marked."""
        mine = self._open.where((self._open.side == side) & (self._open.number != GHOST))
        watched = Watched.none(len(batch.time))
        watched.state[mine.number] = Watch.OPEN
        watched.met[mine.number] = mine.met
        watched.made[mine.number] = mine.made
        return batch._replace(watched=watched)

    def _followed(self, side: int) -> "_Followed":
        return _Followed.of(
            self.step.followed(side),
            side,
            self._stored_rows[side],
            self._arriving[side],
            self.step.sequences(side),
            self.step.alive(side),
            self._open.where((self._open.side == side) & (self._open.number != GHOST)),
            self._ghosts[side],
            self.monitor.share,
            self._open_before[side],
        )

    def _learn(self, sides: list["_Followed"]) -> None:
        """Bring ages, rates and the judgement of the models up to date."""
        after = self.step.after
        started = self._before.clock != NO_WATERMARK
        before_us, after_us = self._before.clock >> 1, after.clock >> 1
        lived = after_us - before_us if started else _covered(self._arriving)
        self.monitor.forget(self._elapsed(lived, after), float(lived))
        known_both = self._worth.by_code is not None and self._worth.curves is not None
        for side, rows in enumerate(sides):
            since = np.where(rows.is_new, 0, np.maximum(before_us - rows.time, 0))
            until = np.maximum(after_us - rows.time, since)
            self.monitor.ages.learn(side, self.step.ages[side], since, until)
            if known_both:
                window = self._windows[side].span
                since, until = np.minimum(since, window), np.minimum(until, window)
                curve = self._worth.curves[side]  # type: ignore[index]
                by_age = np.interp(until, curve.ages, curve.cumulative) - np.interp(
                    since, curve.ages, curve.cumulative
                )
                by_key = self._worth.weights(side, rows.code) * (until - since)
                self.monitor.fit.judge(rows.met_now, by_age, by_key)

    def _elapsed(self, lived_us: int, after: Progress) -> float:
        """How many windows have passed."""
        passed = [0.0]
        for side, window in enumerate(self._windows):
            if window.span:
                new_rows = after.seen[side] - self._before.seen[side]
                passed.append(
                    (new_rows if isinstance(window, RowWindow) else lived_us) / window.span
                )
        spans = [window.span for window in self._windows]
        return passed[1:][int(np.argmax([s for s in spans if s]))] if len(passed) > 1 else 0.0

    def _count_keys(self, most: int) -> np.ndarray:
        """Count arriving keys; returns the codes of the most frequent."""
        if not most:
            self.monitor.counts = np.zeros((0, 2))
            return np.empty(0, np.int64)
        counts = np.zeros((self._codes, 2))
        counts[self._tracked] = self.monitor.counts
        for side, batch in enumerate(self._arriving):
            _count(np.require(batch.code, np.int32, ["C", "W"]), side, counts)
        total = counts[:, 0] + counts[:, 1]
        tracked = np.flatnonzero(total)
        if len(tracked) > most:
            tracked = tracked[_most_frequent(total[tracked], most)]
        self.monitor.counts = counts[tracked]
        return tracked


def _is_up_to_date(open_rows: OpenRows, stored: tuple[Batch, Batch]) -> bool:
    """Whether the rows said to be stored are where they are said to be."""
    for side, batch in enumerate(stored):
        mine = open_rows.where((open_rows.side == side) & (open_rows.number != GHOST))
        if mine.number.max(initial=-1) >= len(batch.time):
            return False
        if not np.array_equal(batch.sequence[mine.number], mine.sequence):
            return False
    return True


@compiled
def _count(code: np.ndarray, side: int, counts: np.ndarray) -> None:
    for row in range(code.size):
        if code[row] != NULL_KEY:
            counts[code[row], side] += 1.0


def _most_frequent(counts: np.ndarray, most: int) -> np.ndarray:
    """The places of the greatest counts, ascending; of equal ones the first."""
    if not most:
        return np.empty(0, np.int64)
    least = np.partition(counts, len(counts) - most)[len(counts) - most]
    chosen = counts > least
    equal = np.flatnonzero(counts == least)
    chosen[equal[: most - int(np.count_nonzero(chosen))]] = True
    return np.flatnonzero(chosen)


def _covered(arriving: tuple[Batch, Batch]) -> int:
    """How much time the very first arrivals cover."""
    times = np.concatenate([batch.time for batch in arriving])
    return int(times.max() - times.min()) if len(times) else 0


def _joined(parts: Sequence[np.ndarray]) -> np.ndarray:
    """Arrays one after the other; an empty one does not turn whole numbers into real ones."""
    filled = [part for part in parts if part.size]
    return np.concatenate(filled) if filled else parts[-1]


def _ghost_batch(rows: OpenRows) -> Batch:
    count = len(rows.time)
    batch = Batch.of_arrivals(
        rows.time, rows.code, np.zeros(count, np.int64), np.zeros(count), rows.value
    )
    watched = Watched(np.full(count, Watch.GHOST, np.uint8), rows.met, rows.made)
    return batch._replace(sequence=rows.sequence, watched=watched)


class _Followed(NamedTuple):
    """A side's watched rows after a step: those it began with, and new ones."""

    is_new: np.ndarray
    time: np.ndarray
    code: np.ndarray
    met_now: np.ndarray
    """Partners met in this step."""
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
    ) -> "_Followed":
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
                (watched_stored.met, ghosts.met, np.zeros(len(new), np.int32)),
                (watched_stored.made, ghosts.made, np.zeros(len(new), np.int32)),
            )
        ]
        time, sequences, shares, code, source, met_before, made_before = columns
        came_with = arriving.value[came] if arriving.value.size else arriving.value
        met, made = watched.met[at], watched.made[at]
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
            np.where(is_stored[number], rank[number], GHOST),
            code,
            _joined((watched_stored.value, ghosts.value, came_with)),
            source,
        )
        still_open = watched.state[at] == Watch.OPEN
        return cls(
            is_new=np.arange(len(number)) >= len(old),
            time=time,
            code=code,
            met_now=met - met_before,
            open=all_rows.where(still_open),
            evidence=Evidence.of(met - met_before, made - made_before, shares),
            finished_evidence=all_rows.where(~still_open).evidence,
        )
