"""The learner of a join: watches some rows, counts keys, and chooses the policy.

Models come from earlier epochs only, so nothing looks ahead, and are fixed within an epoch.
`before` adjusts the input of a step; `after` observes the finished step, and learns where an epoch
ends.
"""

from dataclasses import replace
from functools import partial

import numpy as np

from headgate.kernel.layout import Count
from headgate.kernel.meeting_classes import MeetingClasses
from headgate.kernel.rows import Rows
from headgate.kernel.step import Step
from headgate.kernel.step_input import StepInput
from headgate.kernel.step_progress import NO_WATERMARK, StepProgress
from headgate.kernel.terms import Terms
from headgate.kernel.watched import Watching, bucket_us
from headgate.learning import Evidence, Monitor, Room
from headgate.learning.cluster_sums import ClusterSums
from headgate.learning.epoch import BUCKETS, LEAST_ROWS
from headgate.learning.epoch_end import Ended, close, follow
from headgate.learning.following_step import FollowingStep
from headgate.learning.key_counts import KeyCounting, marks_of, mixed, padded, places_of
from headgate.learning.key_worth import KeyWorth
from headgate.learning.learned_rows import LearnedRows
from headgate.learning.observation import Observation
from headgate.learning.resting import may_rest, rest, rested, wake
from headgate.learning.result_rows import ResultRows
from headgate.learning.rival_round import at_arrival
from headgate.learning.trial import Trial, begin_at_once, density_of_step
from headgate.learning.watch_limits import WatchLimits
from headgate.learning.watch_room import Coming, Spans
from headgate.learning.watched_rows import Beginning, Observed, WatchedRows
from headgate.policies import Features, Policy
from headgate.policies.learned import Learned
from headgate.policies.policy import Sampler
from headgate.sampling.learned_cluster import relative_sizes
from headgate.spec import How, RowWindow, Window
from headgate.spec.importance import Combine

MONITOR_SEED = 0x5EED
"""Apart from the policies' own random numbers."""
LOST = [Count.SHED, Count.REFUSED]
MOST_FOLLOWED = 4096
"""Stored rows, about, that are followed to learn what rows of their class meet."""
KEY_BYTES = 8
"""Of a key, where nothing is said of it."""


def new_monitor(
    windows: tuple[Window, Window],
    room: Room,
    least_rows: int = LEAST_ROWS,
    are_numbers: tuple[tuple[bool, ...], tuple[bool, ...]] = ((), ()),
) -> Monitor:
    """A monitor that knows nothing yet; columns that tell are numbers or categories."""
    return Monitor(
        spans=(windows[0].span, windows[1].span),
        by_rows=(isinstance(windows[0], RowWindow), isinstance(windows[1], RowWindow)),
        widths_us=(bucket_us(windows[0], BUCKETS), bucket_us(windows[1], BUCKETS)),
        room=room,
        seed=MONITOR_SEED + room.seed,
        least_rows=least_rows,
        are_numbers=are_numbers,
    )


class Learner:
    """Observes each step, and chooses policy and weights for the next epoch.

    Parameters
    ----------
    monitor
        What is known of the streams; every step brings it up to date.
    rows
        What the last step left; where codes mean something within a step only, set it anew before
        each.
    key_bytes
        The most that a key takes.
    hashes
        Of the keys, by code; without them, codes must mean the same in every join of these streams.
    """

    def __init__(
        self,
        monitor: Monitor,
        rows: LearnedRows | None = None,
        key_bytes: int = KEY_BYTES,
        hashes: np.ndarray | None = None,
    ) -> None:
        self.monitor, self.key_bytes, self.hashes = monitor, key_bytes, hashes
        self.rows = rows or LearnedRows.none()
        self.policy: Policy | None = None
        """The policy of the step under way, or of the last."""
        self.switched = False
        """Whether it is another than in the step before."""
        self.step_evidence, self.step_alone = Evidence(), Evidence()
        """Evidence on recall from the last step alone: of rows with a partner, and without."""
        self.step_clusters = ClusterSums()
        """Likewise, of rows watched by their key."""
        self.result = ResultRows(How.INNER, monitor.spans)
        """What the rows of the join's result are."""
        self._spans = Spans(monitor.spans, monitor.by_rows)
        self._after = StepProgress()

    @property
    def evidence(self) -> Evidence:
        """Evidence on the recall of rows with a partner, from all rows watched one by one.

        That of rows without one is `Monitor.alone`.
        """
        watched = self.rows.watched
        is_open = ~self._spans.are_past(watched, self._after)
        return self.monitor.finished + watched.where(is_open).evidence(self.result)

    @property
    def evidence_at_end(self) -> Evidence:
        """Evidence on the recall of the whole result, if no row comes any more."""
        alone = self.monitor.alone + self.rows.watched.if_none_came(self.result)
        by_key = self.clusters + self.rows.watched.clusters_if_none_came(self.result)
        return self.evidence + alone + by_key.evidence

    @property
    def clusters(self) -> ClusterSums:
        """Evidence from all rows watched by their key."""
        left, right = self.monitor.followed_keys.sums
        return left + right

    def most_at_once(self, terms: Terms, coming: Coming, progress: StepProgress) -> int:
        """How many of the arrivals to come, in event order, the next step may take.

        They end with the epoch, or before more rows would be watched than there is room for; in
        that case fewer are watched from then on.
        """
        self.result = ResultRows.of(terms)
        monitor, left = self.monitor, self.monitor.epoch.until - sum(progress.seen)
        coming = coming.first(left if left > 0 else monitor.least_rows)
        if monitor.is_resting:
            return len(coming.side)
        return self._limits.most_at_once(coming, self.rows.watched, progress)

    @property
    def _limits(self) -> WatchLimits:
        return WatchLimits.of(self.monitor, self._spans, self.result, self.key_bytes)

    def before(self, given: StepInput) -> StepInput:
        """The adjusted input of a step: policy set, rows weighted, watched rows marked."""
        self.result = ResultRows.of(given.terms)
        self.monitor.follows_keys |= self.result.by_key
        self._given, policy, monitor = given, given.terms.policy, self.monitor
        if monitor.is_resting:
            return self._at_rest(given)
        self._is_cut_short = self.key_bytes > monitor.key_bytes > 0 or given.terms.pace is not None
        monitor.key_bytes = max(monitor.key_bytes, self.key_bytes)
        watched = self._still_watched(given)
        self._stored_ones = (watched.stored(0), watched.stored(1))
        self._ghosts = (watched.ghosts(0), watched.ghosts(1))
        important = given.terms.combine != Combine.NONE
        self._hashes = mixed(given.codes) if self.hashes is None else self.hashes
        self._places = places_of(self.rows.tracked, self._hashes)
        dense, ranks_densely = density_of_step(monitor, given.terms)
        self._worth = KeyWorth.of(monitor, self._places, self._hashes, important, ranks_densely)
        self._trial: Trial | None = None
        self.switched = False
        if policy.learned is not None:
            begin_at_once(monitor, given, self.key_bytes)
            if policy.tries_others and monitor.tried > 0:
                self._trial = Trial(given, policy.learned, self.rows.rivals)
            given = self._settled(given, policy.learned)
        elif policy.learns and policy.sampler is not None:
            given = self._sized(given, policy.sampler)
        self.policy, self._stored = given.terms.policy, given.stored
        left, right = given.stored
        definitions = len(given.terms.changes) + 1
        self._following = FollowingStep.of(monitor.followed_keys, self.result, given)
        self._watching = Watching(
            monitor.seed,
            monitor.share,
            BUCKETS,
            sides=self.result.row_sides,
            keys=None if self._following is None else self._following.draw,
            meetings=self._meeting_classes(given) if dense else None,
            by_row=monitor.columns.learns,
        )
        return given._replace(
            stored=(self._stored_ones[0].marked(left), self._stored_ones[1].marked(right)),
            watching=self._watching,
            ghosts=(
                self._ghosts[0].as_ghosts(definitions),
                self._ghosts[1].as_ghosts(definitions),
            ),
        )

    def after(self, step: Step) -> None:
        """Observe the step, once it has made its last pair; learn from the epoch that it ends."""
        monitor, given, epoch = self.monitor, self._given, self.monitor.epoch
        before, after = given.progress, step.after
        if epoch.began_us is None and any(len(rows.time) for rows in given.arriving):
            epoch.began_us, epoch.seen = _began_us(given), before.seen
        epoch.bytes += sum(int(rows.size.sum()) for rows in given.arriving)
        for side in (0, 1):
            epoch.add_importance(side, at_arrival(given.arriving[side], given.terms))
        epoch.lost += int(step.counts[LOST].sum())
        monitor.has_given_up |= bool(step.counts[[*LOST, Count.RETIRED]].any())
        made = (float(step.counts[Count.PAIRS].sum()), float(step.counts[Count.UNMATCHED].sum()))
        monitor.made = (monitor.made[0] + made[0], monitor.made[1] + made[1])
        ends = sum(after.seen) >= epoch.until
        ended = Ended(given.terms, after, self.key_bytes, epoch)
        if monitor.is_resting:
            self.step_evidence, self.step_alone = rested(monitor, made, lost=epoch.lost > 0)
            self.step_clusters, self._after = ClusterSums(), after
            if ends:
                (rest if may_rest(monitor, ended) else wake)(monitor, ended)
            return
        sides = (self._observed(step, 0), self._observed(step, 1))
        limits = self._limits
        seen = Observation(
            *(monitor, self._spans, self._judging(), self.result, before, after, limits.examples)
        )
        watched = seen.take_in(0, sides[0], step.ages[0])
        watched = watched.followed_by(seen.take_in(1, sides[1], step.ages[1]))
        epoch.add_meetings(*step.meetings)
        sure = self.result.without_key(step.counts[Count.NULL_KEYS])
        monitor.alone += sure
        watched = limits.fitting(watched, ~self._spans.are_past(watched, after))
        if self._following is not None:
            self._following.end(monitor.followed_keys, after.clock, limits.parts.keys)
        rivals = self.rows.rivals
        if self._trial is not None:
            most = monitor.room_now.most_tried(self.key_bytes)
            rivals = self._trial.play(monitor, self._worth, step, most)
        self.rows = LearnedRows(watched, self._count_keys(step), rivals)
        self.step_evidence = sides[0].evidence(self.result) + sides[1].evidence(self.result)
        self.step_alone = sides[0].settled(self.result, 0) + sides[1].settled(self.result, 1) + sure
        self.step_clusters = sides[0].clusters(self.result, 0) + sides[1].clusters(self.result, 1)
        self._after = after
        if ends or self._is_cut_short:
            switched = monitor.switched
            self.rows = close(monitor, self.rows, ended, seen)
            self.switched = monitor.switched > switched
            if may_rest(monitor, ended):
                rest(monitor, ended)
                self.rows = LearnedRows.none()

    def rests_until(self, seen: int) -> bool:
        """Whether nothing is learned before so many rows of both sides have come."""
        return self.monitor.is_resting and seen <= self.monitor.epoch.until

    def _at_rest(self, given: StepInput) -> StepInput:
        """The input of a step from which nothing is learned."""
        self._worth, self.switched = KeyWorth(None, None), False
        self.monitor.key_bytes = max(self.monitor.key_bytes, self.key_bytes)
        assert given.terms.policy.learned is not None
        given = self._settled(given, given.terms.policy.learned)
        self.policy = given.terms.policy
        return given

    def _meeting_classes(self, given: StepInput) -> MeetingClasses:
        """The classes of rows by which meetings are counted; all stored rows tell of theirs where
        they are few."""
        return MeetingClasses.of(
            self.monitor.spans,
            self._worth.by_side,
            self._worth.levels_of(given.codes),
            self.monitor.seed,
            min(1.0, MOST_FOLLOWED / max(self.monitor.epoch.stored, 1)),
        )

    def _still_watched(self, given: StepInput) -> WatchedRows:
        """The rows watched so far that still are."""
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
        return self._limits.limited(rows)

    def _settled(self, given: StepInput, policy: Learned) -> StepInput:
        """The input with the policy to follow, and rows weighed by what is known now."""
        monitor = self.monitor
        if not monitor.followed:
            follow(monitor, policy)
        worth = self._worth
        settled = policy.named(
            monitor.followed, worth.curves, worth.levels, worth.density, worth.columns.ages()
        )
        stored, arriving = given.stored, given.arriving
        if monitor.epoch.revives:
            stored = (self._as_expected(stored[0], 0), self._as_expected(stored[1], 1))
            monitor.epoch.revives = False
        if settled.weighs_keys:
            weighed = worth.classed if isinstance(settled, Features) else worth.weighed
            stored = (weighed(stored[0], 0), weighed(stored[1], 1))
            arriving = (weighed(arriving[0], 0), weighed(arriving[1], 1))
        terms = given.terms
        if monitor.epoch.spare or monitor.tail.is_useless:
            terms = self._with_spare(terms)
        pace = terms.pace
        if pace is not None:
            by_key = settled.weighs_matches
            pace = pace.by_rate(terms.windows) if by_key else replace(pace, by_weight=False)
        terms = replace(terms, policy=settled, pace=pace)
        return given._replace(terms=terms, stored=stored, arriving=arriving)

    def _with_spare(self, terms: Terms) -> Terms:
        """The terms with what a settled policy does not need of the monitor's room."""
        whole, room = self.monitor.room, self.monitor.room_taken
        return terms.enlarged(whole.rows - room.rows, whole.bytes - room.bytes)

    def _sized(self, given: StepInput, sampler: Sampler) -> StepInput:
        """The input with the sampler to follow, and arrivals with their sizes; stored rows keep
        the size they came with."""
        known = self._worth.levels is not None
        given = given._replace(terms=replace(given.terms, policy=sampler.follow(known)))
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
        now = self._given.progress.clock >> 1
        return self._worth.with_history(rows, side, now, self.monitor.stay_us)

    def _judging(self) -> KeyWorth:
        """The models to be judged by what watched rows meet."""
        return self._worth

    def _observed(self, step: Step, side: int) -> Observed:
        """The matches of a side's watched rows in a step."""
        stored, arriving = self._stored_ones[side], self._given.arriving[side]
        importance = _importance(step, self._stored[side])[stored.number]
        began = Beginning(
            stored=stored._replace(importance=importance),
            ghosts=self._ghosts[side],
            watched_rows=int(np.count_nonzero(self.rows.watched.side == side)),
            stored_rows=len(self._given.stored[side].time),
            arriving=arriving,
            importance=_importance(step, arriving),
            watching=self._watching,
            preceded=None if self._following is None else self._following.preceded[side],
            let_in=self._given.terms.let_in,
            traits=partial(self._worth.traits, side=side, hashes=self._hashes),
        )
        return Observed.of(step, side, began)

    def _count_keys(self, step: Step) -> np.ndarray:
        """Count arriving keys; returns the marks of those that are counted."""
        monitor, room, tracked = self.monitor, self.monitor.room_now.key_room, self.rows.tracked
        if not room.tracked:
            return tracked
        if not len(monitor.sketch.cells):
            monitor.sketch = monitor.sketch.emptied(room)
        monitor.tail.fit(monitor.room_now.tail_cells)
        came = KeyCounting(self._given.arriving, step.in_order, self._hashes, self._places)
        monitor.fresh, new = came._replace(stands_for=self._each_stands_for()).add(
            padded(monitor.fresh, len(tracked)),
            len(monitor.counts),
            monitor.sketch,
            monitor.tail.cells,
            room.tracked + room.fresh,
        )
        return np.concatenate([tracked, marks_of(self._hashes[new])])

    def _each_stands_for(self) -> np.ndarray | None:
        """By code and side, how many rows each arrival stands for; None where it is one."""
        return None


def _importance(step: Step, rows: Rows) -> np.ndarray:
    """The importance of rows, as defined by the end of a step."""
    if rows.importance is None:
        return np.ones(len(rows.time))
    last: np.ndarray = rows.importance[step.definition]
    return last


def _began_us(given: StepInput) -> int:
    """The event time at which a step begins: that of the first arrival, where it is the first."""
    if given.progress.clock != NO_WATERMARK:
        return given.progress.clock >> 1
    return min(int(rows.time.min()) for rows in given.arriving if len(rows.time))
