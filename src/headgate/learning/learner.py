"""The learner of a join: watches some rows, counts keys, and chooses the policy.

Models come from earlier steps only, so nothing looks ahead. `before` adjusts the input of a step;
`after` learns from the finished step.
"""

from dataclasses import replace

import numpy as np

from headgate.kernel.progress import NO_WATERMARK, Progress
from headgate.kernel.rows import Rows
from headgate.kernel.step import Step
from headgate.kernel.step_input import StepInput
from headgate.kernel.terms import Terms
from headgate.kernel.watched import Watching, bucket_us
from headgate.learning import Evidence, Monitor, Room
from headgate.learning.key_counts import count_keys
from headgate.learning.key_worth import Worth
from headgate.learning.learned_rows import LearnedRows
from headgate.learning.monitor import BUCKETS, Candidates
from headgate.learning.trial import Trial
from headgate.learning.watched_rows import Beginning, Observed, WatchedRows
from headgate.policies import Policy
from headgate.policies.chance import uniform
from headgate.policies.learned import BY_KEY, KEEP_HISTORY, Learned
from headgate.sampling.learned_cluster import LearnedCluster, relative_sizes
from headgate.spec import RowWindow, Window
from headgate.spec.importance import Combine

STEADY_STAYS = 10.0
"""Stays for which a policy must have been followed before room is taken from the others."""
MONITOR_SEED = 0x5EED
"""Apart from the policies' own random numbers."""
KEY_BYTES = 8
"""Of a key, where nothing is said of it."""


def new_monitor(windows: tuple[Window, Window], room: Room) -> Monitor:
    """A monitor that knows nothing yet."""
    return Monitor(
        spans=(windows[0].span, windows[1].span),
        by_rows=(isinstance(windows[0], RowWindow), isinstance(windows[1], RowWindow)),
        widths_us=(bucket_us(windows[0], BUCKETS), bucket_us(windows[1], BUCKETS)),
        room=room,
        seed=MONITOR_SEED + room.seed,
    )


class Learner:
    """Learns from each step, and chooses policy and weights for the next.

    Parameters
    ----------
    monitor
        What is known of the streams; every step brings it up to date.
    rows
        What the last step left; where codes mean something within a step only, set it anew before
        each.
    key_bytes
        The most that a key takes.
    """

    def __init__(
        self, monitor: Monitor, rows: LearnedRows | None = None, key_bytes: int = KEY_BYTES
    ) -> None:
        self.monitor, self.key_bytes = monitor, key_bytes
        self.rows = rows or LearnedRows.none()
        self.policy: Policy | None = None
        """The policy of the step under way, or of the last."""
        self.switched = False
        """Whether it is another than in the step before."""
        self.step_evidence = Evidence()
        """Evidence on recall from the last step alone."""

    @property
    def evidence(self) -> Evidence:
        """Evidence on recall from all watched rows."""
        return self.monitor.finished + self.rows.watched.evidence

    def before(self, given: StepInput) -> StepInput:
        """The adjusted input of a step: policy chosen, rows weighted, watched rows marked."""
        self._given, policy = given, given.terms.policy
        trying = policy.tries_others and self.monitor.room.most_tried(self.key_bytes) > 0
        self._room = self._room_now(trying)
        self._watched = self._still_watched(given)
        important = given.terms.combine != Combine.NONE
        self._worth = Worth.of(self.monitor, self.rows.tracked, given.codes, important)
        self._trial: Trial | None = None
        self.switched = False
        if isinstance(policy, Learned):
            if trying:
                self._trial = Trial(given, policy, self.rows.rivals)
            given = self._settled(given, policy)
        elif isinstance(policy, LearnedCluster):
            given = self._sized(given, policy)
        self.policy, self._stored = given.terms.policy, given.stored
        (left, right), windows = given.stored, given.terms.windows
        definitions = len(given.terms.changes) + 1
        return given._replace(
            stored=(self._watched.marked(left, 0), self._watched.marked(right, 1)),
            watching=Watching(
                self.monitor.seed,
                self.monitor.share,
                BUCKETS,
                sides=(windows[0].span > 0, windows[1].span > 0),
            ),
            ghosts=(
                self._watched.ghosts(0).as_ghosts(definitions),
                self._watched.ghosts(1).as_ghosts(definitions),
            ),
        )

    def after(self, step: Step) -> None:
        """Learn from the step, once it has made its last pair."""
        sides = (self._observed(step, 0), self._observed(step, 1))
        self._learn(step, sides)
        rivals = None
        if self._trial is not None:
            most = self._room.most_tried(self.key_bytes)
            rivals = self._trial.play(self.monitor, self._worth, step, most, self.key_bytes)
        self.monitor.spared = None if self._room == self.monitor.room else self._room
        self.monitor.finished += sides[0].finished_evidence + sides[1].finished_evidence
        tracked = self._count_keys(self._room.most_keys(self.key_bytes))
        self.rows = LearnedRows(sides[0].open.followed_by(sides[1].open), tracked, rivals)
        self.step_evidence = sides[0].evidence + sides[1].evidence

    def _room_now(self, trying: bool) -> Room:
        """The room there is, less what a policy that has long been followed does not need."""
        room = self.monitor.room
        if trying and self.monitor.steady >= STEADY_STAYS:
            return room.needed(by_key=self.monitor.followed in BY_KEY)
        return room

    def _still_watched(self, given: StepInput) -> WatchedRows:
        """The rows watched so far that still are, once arrivals and they fit their room."""
        rows = self.rows.watched
        source = np.empty(len(rows.side), np.int64)
        for side in (0, 1):
            mine = rows.side == side
            source[mine] = np.arange(np.count_nonzero(mine))
        if rows.are_among(given.stored):
            rows = rows._replace(source=source)
        else:
            # Steps were taken without a monitor, and what rows met in them was not counted.
            rows = WatchedRows.none()
        drawn = uniform(self.monitor.seed, rows.side, rows.sequence)
        candidates = [
            self._candidates(given, side, rows.of_side(side))
            for side in (0, 1)
            if given.terms.windows[side].span
        ]
        share = self.monitor.choose_share(candidates, self._room.most_watched(self.key_bytes))
        self.monitor.share = share
        kept = rows.where(drawn < share)
        return kept._replace(share=np.minimum(kept.share, share))

    def _candidates(self, given: StepInput, side: int, watched: WatchedRows) -> Candidates:
        """A side's rows that may be watched in a step."""
        window, arriving = given.terms.windows[side], given.arriving[side]
        # Arrivals are numbered in order of time, so the earliest gets the first number.
        sequence = given.progress.seen[side] + np.arange(len(arriving.time))
        sequences = np.concatenate([watched.sequence, sequence])
        by_rows = isinstance(window, RowWindow)
        marks = sequences
        if not by_rows:
            marks = np.concatenate([watched.time, np.sort(arriving.time)])
        order = np.argsort(marks, kind="stable")
        drawn = uniform(self.monitor.seed, np.full(len(marks), side, np.uint8), sequences)
        stays = given.keep_late and not by_rows
        return Candidates(drawn[order], marks[order], None if stays else window.span)

    def _settled(self, given: StepInput, policy: Learned) -> StepInput:
        """The input with the policy to follow, and rows weighed by what is known now."""
        monitor, followed = self.monitor, self.monitor.followed
        settled = self._chosen(policy)
        stored, arriving = given.stored, given.arriving
        if settled.keeps_history and followed not in KEEP_HISTORY:
            stored = (self._as_expected(stored[0], 0), self._as_expected(stored[1], 1))
        self.switched = bool(followed) and followed != settled.name
        monitor.switched += int(self.switched)
        monitor.steady *= not self.switched
        monitor.followed = settled.name
        if settled.weighs_keys:
            stored = (self._worth.weighed(stored[0], 0), self._worth.weighed(stored[1], 1))
            arriving = (self._worth.weighed(arriving[0], 0), self._worth.weighed(arriving[1], 1))
        terms = given.terms
        if monitor.spared == self._room:
            terms = self._with_spare(terms)
        pace = terms.pace
        if pace is not None:
            by_key = settled.weighs_matches
            pace = pace.by_rate(terms.windows) if by_key else replace(pace, by_weight=False)
        terms = replace(terms, policy=settled, pace=pace)
        return given._replace(terms=terms, stored=stored, arriving=arriving)

    def _chosen(self, policy: Learned) -> Policy:
        """The policy to follow, by the models learned so far."""
        monitor, known, curves = self.monitor, self._worth.by_code, self._worth.curves
        weights, followed = None if known is None else known.ravel(), monitor.followed
        if monitor.standing.tells:
            # A policy followed before any trial gets no advantage as incumbent.
            incumbent = followed if monitor.contested else ""
            monitor.contested = True
            return policy.named(monitor.standing.leader(incumbent), curves, weights)
        if self._trial is not None and not monitor.fit.is_sure:
            # Until the choice is clear, a random sample is the best start.
            return policy.neutral
        fading = monitor.fading(self._stored_before)
        return policy.follow(curves, weights, monitor.fit.better, fading, followed)

    def _with_spare(self, terms: Terms) -> Terms:
        """The terms with what a settled policy does not need of the monitor's room.

        Only once the step before has kept to it: what is given back must be free.
        """
        whole = self.monitor.room
        return terms.enlarged(whole.rows - self._room.rows, whole.bytes - self._room.bytes)

    def _sized(self, given: StepInput, policy: LearnedCluster) -> StepInput:
        """The input with the sampler to follow, and arrivals with their sizes; stored rows keep
        the size they came with."""
        known = self._worth.by_code is not None
        given = given._replace(terms=replace(given.terms, policy=policy.follow(known)))
        if not known:
            return given
        windows = [float(window.span) for window in given.terms.windows]
        counts = self.monitor.counts
        matches = counts[:, ::-1] / self.monitor.counted * np.array(windows)
        mean = float((counts * matches).sum() / max(counts.sum(), 1e-12))
        left, right = (
            rows._replace(
                weight=relative_sizes(self._worth.weights(side, rows.code) * windows[side], mean)
            )
            for side, rows in enumerate(given.arriving)
        )
        return given._replace(arriving=(left, right))

    def _as_expected(self, rows: Rows, side: int) -> Rows:
        """Rows stored under a policy that kept no history, with the one that their keys suggest."""
        stay_us = self._stored_before / self.monitor.rate if self.monitor.rate else 0.0
        return self._worth.with_history(rows, side, self._given.progress.clock >> 1, stay_us)

    @property
    def _stored_before(self) -> int:
        """Rows stored when the step began."""
        return sum(len(rows.time) for rows in self._given.stored)

    def _observed(self, step: Step, side: int) -> Observed:
        """The matches of a side's watched rows in a step."""
        stored, arriving = self._watched.stored(side), self._given.arriving[side]
        importance = _importance(step, self._stored[side])[stored.number]
        began = Beginning(
            stored=stored._replace(importance=importance),
            ghosts=self._watched.ghosts(side),
            watched_rows=int(np.count_nonzero(self.rows.watched.side == side)),
            stored_rows=len(self._given.stored[side].time),
            arriving=arriving,
            importance=_importance(step, arriving),
            share=self.monitor.share,
            let_in=self._given.terms.let_in,
        )
        return Observed.of(step, side, began)

    def _learn(self, step: Step, sides: tuple[Observed, Observed]) -> None:
        """Update ages, rates and the comparison of the models."""
        before, after, arriving = self._given.progress, step.after, self._given.arriving
        before_us, after_us = before.clock >> 1, after.clock >> 1
        started = before.clock != NO_WATERMARK
        lived = after_us - before_us if started else _covered(arriving)
        arrived = sum(len(rows.time) for rows in arriving)
        self.monitor.forget(
            self._elapsed(lived, after), float(lived), arrived, stored=step.stored_rows
        )
        for side, seen in enumerate(sides):
            since = np.where(seen.is_new, 0, np.maximum(before_us - seen.rows.time, 0))
            until = np.maximum(after_us - seen.rows.time, since)
            self.monitor.ages.learn(side, step.ages[side], since, until)
            self._judge(side, seen, since, until)

    def _judge(self, side: int, seen: Observed, since: np.ndarray, until: np.ndarray) -> None:
        """Score how well each model predicted the matches of watched rows between two ages."""
        curves = self._worth.curves
        if curves is None or self._worth.by_code is None:
            return
        window = self._given.terms.windows[side].span
        since, until = np.minimum(since, window), np.minimum(until, window)
        by_age = np.interp(until, curves[side].ages, curves[side].cumulative) - np.interp(
            since, curves[side].ages, curves[side].cumulative
        )
        weights = self._worth.weights(side, seen.rows.code)
        by_key = self.monitor.fit.by_key(weights, until - since, seen.met_now)
        # Both in units of what a match of the row is worth.
        own = seen.rows.importance
        self.monitor.fit.judge(seen.met_now, by_age * own, by_key * own)

    def _elapsed(self, lived_us: int, after: Progress) -> float:
        """How many windows have passed, by the longer of the two."""
        windows = self._given.terms.windows
        side = int(np.argmax([window.span for window in windows]))
        window = windows[side]
        if not window.span:
            return 0.0
        by_rows = isinstance(window, RowWindow)
        passed = after.seen[side] - self._given.progress.seen[side] if by_rows else lived_us
        return passed / window.span

    def _count_keys(self, most: int) -> np.ndarray:
        """Count arriving keys; returns the codes of the most frequent."""
        if not most:
            self.monitor.counts = np.zeros((0, 2))
            return np.empty(0, np.int64)
        counts = np.zeros((self._given.codes, 2))
        counts[self.rows.tracked] = self.monitor.counts
        tracked = count_keys(counts, self._given.arriving, most)
        self.monitor.counts = counts[tracked]
        return tracked


def _importance(step: Step, rows: Rows) -> np.ndarray:
    """The importance of rows, as defined by the end of a step."""
    if rows.importance is None:
        return np.ones(len(rows.time))
    last: np.ndarray = rows.importance[step.definition]
    return last


def _covered(arriving: tuple[Rows, Rows]) -> int:
    """How much time the very first arrivals cover."""
    times = np.concatenate([rows.time for rows in arriving])
    return int(times.max() - times.min()) if len(times) else 0
