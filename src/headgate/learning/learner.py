"""A step that learns: it watches some rows, counts keys, and follows the policy that fits.

Models are those of earlier steps alone, so nothing looks ahead. What a step learned is taken in by
`finish`, after the last pair.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from headgate.kernel.layout import Watch
from headgate.kernel.pairs import PairBlock
from headgate.kernel.progress import NO_WATERMARK, Progress
from headgate.kernel.rows import Batch
from headgate.kernel.step import Step
from headgate.kernel.terms import Terms
from headgate.kernel.watched import Watched, Watching, bucket_us
from headgate.learning import Evidence, Monitor, Room
from headgate.learning.key_counts import count_keys
from headgate.learning.key_worth import Worth
from headgate.learning.monitor import BUCKETS, Candidates
from headgate.learning.rivals import BothRows
from headgate.learning.trial import Trial
from headgate.learning.watched_rows import (
    GHOST,
    Followed,
    OpenRows,
    are_up_to_date,
    ghost_batch,
    joined,
)
from headgate.policies.chance import uniform
from headgate.policies.learned import BY_KEY, KEEP_HISTORY, Learned
from headgate.sampling.learned_cluster import LearnedCluster, relative_sizes
from headgate.spec import RowWindow, Window
from headgate.spec.importance import Combine

STEADY_STAYS = 10.0
"""Stays for which a policy must have been followed before room is taken from the others."""
MONITOR_SEED = 0x5EED
"""Apart from the policies' own random numbers."""


def new_monitor(windows: tuple[Window, Window], room: Room) -> Monitor:
    """A monitor that knows nothing yet."""
    return Monitor(
        spans=(windows[0].span, windows[1].span),
        by_rows=(isinstance(windows[0], RowWindow), isinstance(windows[1], RowWindow)),
        widths_us=(bucket_us(windows[0], BUCKETS), bucket_us(windows[1], BUCKETS)),
        room=room,
        seed=MONITOR_SEED + room.seed,
    )


class Finished(NamedTuple):
    """What a step hands to the next beside the monitor."""

    open_rows: OpenRows
    tracked: np.ndarray
    """Codes of the keys that are counted now."""
    evidence: Evidence
    """What this step alone has to say of recall."""
    rivals: BothRows | None
    """Rows that other policies are tried on."""


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
    rivals
        What the last step left of the rows that other policies are tried on.
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
        rivals: BothRows | None = None,
    ) -> None:
        self.monitor = monitor
        trying = terms.policy.tries_others and monitor.room.most_tried(key_bytes) > 0
        self._room = monitor.room
        if trying and monitor.steady >= STEADY_STAYS:
            self._room = monitor.room.needed(by_key=monitor.followed in BY_KEY)
        self._key_bytes = key_bytes
        self._windows, self._let_in = terms.windows, terms.let_in
        self._codes, self._tracked = codes, tracked
        self._arriving, self._before = arriving, progress
        self._stored_rows = tuple(len(side.time) for side in stored)
        self._open_before = tuple(int(np.count_nonzero(open_rows.side == s)) for s in (0, 1))
        source = np.empty(len(open_rows.side), np.int64)
        for side in (0, 1):
            source[open_rows.side == side] = np.arange(self._open_before[side])
        if are_up_to_date(open_rows, stored):
            open_rows = open_rows._replace(source=source)
        else:
            # Steps were taken without a monitor, and what rows met in them was not counted.
            open_rows = OpenRows.none()
        self._open = self._fitting(open_rows, arriving, keep_late)
        important = terms.combine != Combine.NONE
        self._worth = Worth.of(monitor, tracked, codes, important)
        self._trial: Trial | None = None
        self.switched = False
        """Whether the policy is another than in the step before."""
        if isinstance(terms.policy, Learned):
            if trying:
                self._trial = Trial(terms, arriving, codes, progress, watermark, keep_late, rivals)
            terms, stored, arriving = self._settled(terms, stored, arriving)
        elif isinstance(terms.policy, LearnedCluster):
            terms, arriving = self._sized(terms, terms.policy, arriving)
        self.policy = terms.policy
        self.weights = (arriving[0].weight, arriving[1].weight)
        """What the policy goes by, for each arrival of a side."""
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
            (
                ghost_batch(self._ghosts[0], len(terms.changes) + 1),
                ghost_batch(self._ghosts[1], len(terms.changes) + 1),
            ),
        )
        self._stored = stored

    def pairs(self) -> Iterator[PairBlock]:
        """Pairs in blocks, as `Step` gives them."""
        return self.step.pairs()

    def finish(self) -> "Finished":
        """After the last pair: learn, and say what the next step must know."""
        sides = [self._followed(side) for side in (0, 1)]
        self._learn(sides)
        rivals = None
        if self._trial is not None:
            rivals = self._trial.play(
                self.monitor,
                self._worth,
                self.step,
                self._stored_rows,
                self._room.most_tried(self._key_bytes),
                self._key_bytes,
            )
        self.monitor.spared = None if self._room == self.monitor.room else self._room
        self.monitor.finished += sides[0].finished_evidence + sides[1].finished_evidence
        tracked = self._count_keys(self._room.most_keys(self._key_bytes))
        opened = OpenRows(
            *(joined(both) for both in zip(sides[0].open, sides[1].open, strict=True))
        )
        return Finished(opened, tracked, sides[0].evidence + sides[1].evidence, rivals)

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
        share = self.monitor.choose_share(candidates, self._room.most_watched(self._key_bytes))
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
        weights, followed = None if known is None else known.ravel(), self.monitor.followed
        if self.monitor.standing.tells:
            # What was followed before anything was tried has no claim to be kept.
            incumbent = followed if self.monitor.contested else ""
            settled = policy.named(
                self.monitor.standing.leader(incumbent), self._worth.curves, weights
            )
            self.monitor.contested = True
        elif self._trial is not None and not self.monitor.fit.is_sure:
            # Whatever it turns out to be is best begun from a fair sample.
            settled = policy.neutral
        else:
            settled = policy.follow(
                self._worth.curves,
                weights,
                self.monitor.fit.better,
                self.monitor.fading(sum(self._stored_rows)),
                followed,
            )
        if settled.keeps_history and followed not in KEEP_HISTORY:
            stored = (self._as_expected(stored[0], 0), self._as_expected(stored[1], 1))
        self.switched = bool(followed) and followed != settled.name
        self.monitor.switched += int(self.switched)
        self.monitor.steady *= not self.switched
        self.monitor.followed = settled.name
        if settled.weighs_keys:
            stored = (self._worth.weighed(stored[0], 0), self._worth.weighed(stored[1], 1))
            arriving = (self._worth.weighed(arriving[0], 0), self._worth.weighed(arriving[1], 1))
        if self.monitor.spared == self._room:
            terms = self._with_spare(terms)
        pace = terms.pace
        if pace is not None:
            by_key = settled.weighs_matches
            pace = pace.by_rate(terms.windows) if by_key else replace(pace, by_weight=False)
        return replace(terms, policy=settled, pace=pace), stored, arriving

    def _with_spare(self, terms: Terms) -> Terms:
        """The terms with what a settled policy does not need of the monitor's room.

        Only once the step before has kept to it: what is given back must be free.
        """
        whole = self.monitor.room
        return terms.enlarged(whole.rows - self._room.rows, whole.bytes - self._room.bytes)

    def _sized(
        self, terms: Terms, policy: LearnedCluster, arriving: tuple[Batch, Batch]
    ) -> tuple[Terms, tuple[Batch, Batch]]:
        """The terms with the sampler to follow, and arrivals with their sizes; stored rows keep
        the size they came with."""
        known = self._worth.by_code is not None
        terms = replace(terms, policy=policy.follow(known))
        if not known:
            return terms, arriving
        windows = [float(window.span) for window in self._windows]
        counts = self.monitor.counts
        matches = counts[:, ::-1] / self.monitor.counted * np.array(windows)
        mean = float((counts * matches).sum() / max(counts.sum(), 1e-12))
        sized = [
            batch._replace(
                weight=relative_sizes(self._worth.weights(side, batch.code) * windows[side], mean)
            )
            for side, batch in enumerate(arriving)
        ]
        return terms, (sized[0], sized[1])

    def _as_expected(self, batch: Batch, side: int) -> Batch:
        """Rows stored under a policy that kept no history, with the one that their keys suggest."""
        stay_us = sum(self._stored_rows) / self.monitor.rate if self.monitor.rate else 0.0
        return self._worth.with_history(batch, side, self._before.clock >> 1, stay_us)

    def _marked(self, batch: Batch, side: int) -> Batch:
        """Stored rows, the watched ones among them marked."""
        mine = self._open.where((self._open.side == side) & (self._open.number != GHOST))
        watched = Watched.none(len(batch.time))
        watched.state[mine.number] = Watch.OPEN
        watched.met[mine.number] = mine.met
        watched.made[mine.number] = mine.made
        return batch._replace(watched=watched)

    def _importance(self, rows: Batch) -> np.ndarray:
        """The importance of rows, as defined by the end of the step."""
        if rows.importance is None:
            return np.ones(len(rows.time))
        last: np.ndarray = rows.importance[self.step.definition]
        return last

    def _followed(self, side: int) -> "Followed":
        watched = self._open.where((self._open.side == side) & (self._open.number != GHOST))
        watched = watched._replace(importance=self._importance(self._stored[side])[watched.number])
        return Followed.of(
            self.step.followed(side),
            side,
            self._stored_rows[side],
            self._arriving[side],
            self.step.sequences(side),
            self.step.alive(side),
            watched,
            self._ghosts[side],
            self.monitor.share,
            self._open_before[side],
            self._importance(self._arriving[side]),
            self._let_in,
        )

    def _learn(self, sides: list["Followed"]) -> None:
        """Bring ages, rates and the judgement of the models up to date."""
        after = self.step.after
        started = self._before.clock != NO_WATERMARK
        before_us, after_us = self._before.clock >> 1, after.clock >> 1
        lived = after_us - before_us if started else _covered(self._arriving)
        arrived = sum(len(batch.time) for batch in self._arriving)
        self.monitor.forget(
            self._elapsed(lived, after), float(lived), arrived, self.step.stored_rows
        )
        curves = self._worth.curves
        for side, rows in enumerate(sides):
            since = np.where(rows.is_new, 0, np.maximum(before_us - rows.time, 0))
            until = np.maximum(after_us - rows.time, since)
            self.monitor.ages.learn(side, self.step.ages[side], since, until)
            if curves is not None and self._worth.by_code is not None:
                window = self._windows[side].span
                since, until = np.minimum(since, window), np.minimum(until, window)
                by_age = np.interp(until, curves[side].ages, curves[side].cumulative) - np.interp(
                    since, curves[side].ages, curves[side].cumulative
                )
                weights = self._worth.weights(side, rows.code)
                by_key = self.monitor.fit.by_key(weights, until - since, rows.met_now)
                # Both in units of what a match of the row is worth.
                own = rows.importance
                self.monitor.fit.judge(rows.met_now, by_age * own, by_key * own)

    def _elapsed(self, lived_us: int, after: Progress) -> float:
        """How many windows have passed, by the longer of the two."""
        side = int(np.argmax([window.span for window in self._windows]))
        window = self._windows[side]
        if not window.span:
            return 0.0
        by_rows = isinstance(window, RowWindow)
        passed = after.seen[side] - self._before.seen[side] if by_rows else lived_us
        return passed / window.span

    def _count_keys(self, most: int) -> np.ndarray:
        """Count arriving keys; returns the codes of the most frequent."""
        if not most:
            self.monitor.counts = np.zeros((0, 2))
            return np.empty(0, np.int64)
        counts = np.zeros((self._codes, 2))
        counts[self._tracked] = self.monitor.counts
        tracked = count_keys(counts, self._arriving, most)
        self.monitor.counts = counts[tracked]
        return tracked


def _covered(arriving: tuple[Batch, Batch]) -> int:
    """How much time the very first arrivals cover."""
    times = np.concatenate([batch.time for batch in arriving])
    return int(times.max() - times.min()) if len(times) else 0
