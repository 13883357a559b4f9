"""The plain-Python twin of the kernel: the reference that defines correct results.

Lists and loops only; every search is linear. Kernel and twin agree on every input.
"""

from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby

import numpy as np

from headgate.kernel.layout import LEFT, NULL_KEY, RIGHT, Count, Skip, WatchState
from headgate.kernel.step_input import StepInput
from headgate.kernel.step_progress import StepProgress
from headgate.kernel.twin.evicted_scores import EvictedScores
from headgate.kernel.twin.twin_fates import NewestOfKeys, TwinFates
from headgate.kernel.twin.twin_outcome import TwinOutcome
from headgate.kernel.twin.twin_rows import choose_watched, in_event_order, rows_of, skip_parts
from headgate.kernel.twin.twin_window import (
    are_partners,
    is_past,
    oldest_of,
    past_order,
    plain_pair_worth,
)
from headgate.policies.kinds.plain_chance import lot
from headgate.policies.kinds.plain_score import PlainRow, PlainStretch, ScoreMoment, as_arrivals
from headgate.policies.policy import Arrivals
from headgate.policies.structures.observed_stretch import Departures, ObservedStretch
from headgate.spec import How

LOOKS = 1 / 16
"""Share of the skipped probes that are still made, against the watched rows only."""
LOOK_SALT = 0x5851F42D4C957F2D
"""Separates these random draws from those of the same seed that choose watched or stored rows."""


class Twin(TwinOutcome):
    """`Step` in plain Python: same input (``codes`` is not needed, ghosts come among the stored
    rows), same results.

    ``pairs`` lists left and right row numbers in the order found, ``weights`` how many pairs each
    represents in a sample, ``settled.alone`` the rows put out alone; ``counts`` is by `Count` and
    side.

    With ``admit_first``, all rows of the same time are admitted before any of them probes, and a
    row that is not stored never probes. This loses pairs that cost no memory, but worked examples
    in papers assume it.
    """

    def __init__(self, given: StepInput, admit_first: bool = False) -> None:
        stored, arriving = given.stored, given.arriving
        progress, watching = given.progress, given.watching
        super().__init__(1 if watching is None else watching.buckets)
        terms = given.terms
        policy = terms.policy.recalling(progress.memory).serving(terms.how, terms.windows)
        terms = replace(terms, policy=policy)
        self._terms, self._before = terms, progress
        self.settled = TwinFates(terms, progress, given.hashes, self.counts)
        self._pools = (0, 0) if terms.pooled else (0, 1)
        self._watermark, self._keep_late = given.watermark, given.keep_late
        self._clock, self._seen = progress.clock, list(progress.seen)
        self._given_up = [EvictedScores(list(thresholds)) for thresholds in progress.thresholds]
        self._at_first = sum(1 for change in terms.changes if change <= progress.clock >> 1)
        self._definition = self._at_first
        definitions = len(terms.changes) + 1
        self.by_side = [
            rows_of(side, stored[side], arriving[side], definitions) for side in (LEFT, RIGHT)
        ]
        rows = in_event_order(self.by_side, terms, progress)
        self._score = terms.policy.kind.plain(terms, rows, progress, self._definition)
        self._ghosts = [row for row in rows if row.watch == WatchState.GHOST]
        for row in self._ghosts:
            row.watch = WatchState.OPEN
        self.held = [row for row in rows if not (row.arriving or row in self._ghosts)]
        self._newest = NewestOfKeys(terms, self.held)
        if watching is not None:
            choose_watched(rows, watching)
        skip_parts(self.by_side, arriving, terms, self._at_first)
        self._credit, self._looks = 0.0, LOOKS if watching is not None else 0.0
        self._restore()
        arrivals = [row for row in rows if row.arriving]
        self._arrivals = len(arrivals)
        self._admit_first = admit_first
        if admit_first:
            for _, together in groupby(arrivals, key=lambda row: row.time):
                self._arrive_together(list(together))
            return
        for row in arrivals:
            self._arrive(row)

    @property
    def _now(self) -> ScoreMoment:
        return ScoreMoment(self._clock >> 1, tuple(self._seen), self._definition)

    @property
    def after(self) -> StepProgress:
        """The progress to hand to the next step."""
        left, right = (given_up.passed_by(self.held) for given_up in self._given_up)
        came = [row for rows in self.by_side for row in rows if row.arriving]
        arrivals = as_arrivals(sorted(came, key=lambda row: row.position), self._at_first)
        return self._before._replace(
            clock=self._clock,
            seen=(self._seen[LEFT], self._seen[RIGHT]),
            thresholds=(left, right),
            memory=self._score.memory(self._told(arrivals)),
            given_up=self.settled.given_up,
            **self._score.progress(),
        )

    def _told(self, arrivals: Arrivals) -> PlainStretch:
        """What a policy that observes is told of the step."""
        before = self._before
        size = sum(row.size for rows in self.by_side for row in rows if row.arriving)
        return PlainStretch(
            ObservedStretch(arrivals, Departures.none(), size, sum(self._seen), self._terms.limits),
            [row for row in self.held if not row.by_rows and self._is_past(row)],
            self._clock >> 1,
            lambda row: not row.by_rows and is_past(row, before.seen, before.clock),
        )

    def _restore(self) -> None:
        """Drop rows behind the watermark, then evict down to the budget."""
        for row in self.held:
            self._newest.supersede(row)
        for row in list(self._ghosts):
            if not row.by_rows and row.end <= self._watermark:
                self._finish(row)
        for row in list(self.held):
            if not row.by_rows and row.end <= self._watermark:
                self._let_go(row, Count.EXPIRED)
        for pool in (0, 1):
            while self._is_over(pool):
                if retired := self._next_retired(pool):
                    self._let_go(retired, Count.RETIRED)
                else:
                    worst = self._worst(pool) or oldest_of(self._in_pool(pool))
                    self._give_up(pool, worst)
                    self._let_go(worst, Count.SHED)
        self.note_peak()

    def _arrive(self, row: PlainRow) -> None:
        """Process an arrival: expire rows, probe the other side, then admit or evict."""
        if self._take_up(row):
            if self._may_probe(row):
                self._probe(row)
            else:
                self._leave_out(row)
            self._admit(row)

    def _may_probe(self, row: PlainRow) -> bool:
        """Whether the arrival probes: it is planned to, and there is CPU credit left."""
        pace = self._terms.pace
        if pace is not None:
            self._credit += pace.seconds / self._arrivals - pace.costs.arrive
        return not row.skip & Skip.PROBE and (pace is None or self._credit >= 0.0)

    def _leave_out(self, row: PlainRow) -> None:
        """Skip the arrival's probe; a few skipped probes are still made against watched rows."""
        self.counts[Count.UNPROBED, row.side] += 1
        seed = (self._terms.seed % (1 << 64)) ^ LOOK_SALT
        if lot(seed, row.side, row.sequence) >= self._looks:
            return
        for other in [*self._ghosts, *self.held]:
            if other.watch == WatchState.OPEN and self._meet(row, other):
                self._note_met(row, other, round(1 / self._looks))

    def _arrive_together(self, rows: list[PlainRow]) -> None:
        """Admit all rows of the same time; then those that were stored probe."""
        for row in rows:
            if self._take_up(row):
                self._admit(row)
        stored = [row for row in rows if row in self.held]
        for place, row in enumerate(stored):
            self._probe(row, later=stored[place:])

    def _take_up(self, row: PlainRow) -> bool:
        """Advance the clock to a row and expire others; whether the row can match anything."""
        self._score.hears(row, self._clock)
        # With `admit_first`, rows of this time have yet to probe stored rows of either side.
        now = 2 * row.time + (LEFT if self._admit_first else row.side)
        self._clock = max(self._clock, now)
        self._seen[row.side] = row.sequence + 1
        self._redefine()
        for other in list(self.held):
            if self._is_past(other) and (other.by_rows or not self._keep_late):
                self._let_go(other, Count.EXPIRED)
        for ghost in list(self._ghosts):
            if self._is_past(ghost) and (ghost.by_rows or not self._keep_late):
                self._finish(ghost)
        if row.code == NULL_KEY:
            self.counts[Count.NULL_KEYS, row.side] += 1
            self.settled.leaves(row, in_time=True)
            return False
        self._score.arrives(row, self._now)
        return True

    def _admit(self, row: PlainRow) -> None:
        """Store the arrival if a later row can match it and room can be made for it."""
        met_late = self._keep_late and not row.by_rows and row.end > self._watermark
        doubled = any((row.side, row.code) == (other.side, other.code) for other in self.held)
        if (self._is_past(row) and not met_late) or (self._terms.unique and doubled):
            self.counts[Count.UNNEEDED, row.side] += 1
            self.settled.leaves(row, in_time=True)
            if row.watch == WatchState.OPEN:
                row.watch = WatchState.FINISHED
        elif self.settled.is_satisfied(row) or self.settled.is_hopeless(row):
            satisfied = self.settled.is_satisfied(row)
            self.counts[Count.SATISFIED if satisfied else Count.UNNEEDED, row.side] += 1
            self.settled.leaves(row, in_time=True)
            if row.watch == WatchState.OPEN:
                self._ghosts.append(row)
        elif row.skip & Skip.STORE:
            self.counts[Count.UNSTORED, row.side] += 1
            if row.watch == WatchState.OPEN:
                self._ghosts.append(row)
        elif self._find_room(row):
            self.counts[Count.ADMITTED, row.side] += 1
            if self._terms.pace is not None:
                self._credit -= self._terms.pace.costs.store
            self.held.append(row)
            self._score.admits(row)
            self.note_peak()
        else:
            self.settled.leaves(row, in_time=False)
            if row.watch == WatchState.OPEN:
                self._ghosts.append(row)

    def _probe(self, row: PlainRow, later: Sequence[PlainRow] = ()) -> None:
        """Pair the arrival with its partners, and update histories.

        The newest partner comes first; under a band or comparison, the one of least value. Rows
        that come ``later`` but are already stored will match the row when they probe.
        """
        partners = [other for other in self.held if other not in later and self._meet(row, other)]
        if self._terms.where is None:
            partners.sort(key=lambda other: (other.mark, other.position), reverse=True)
        else:
            partners.sort(key=lambda other: (other.value, other.position))
        for ghost in self._ghosts:
            if self._meet(row, ghost):
                self._note_met(row, ghost)
        for other in partners:
            if other.watch == WatchState.OPEN:
                other.made += self._pair_worth(row, other)
                self._note_met(row, other)
            if not self._is_chosen(other):
                continue
            if not self._terms.how.frees_left:
                self._list_pair(row, other)
            if self._terms.pace is not None:
                self._credit -= self._terms.pace.costs.pair
            stored = self._in_pool(self._pools[other.side])
            self._score.pairs(row, other, self._pair_worth(row, other), stored, self._now)
        if self._terms.how == How.INNER:
            return
        for done in self.settled.met(row, partners):
            self._let_go(done, Count.SATISFIED)
        self.settled.doubt(row, self._seen)

    def _list_pair(self, row: PlainRow, other: PlainRow) -> None:
        """Put out a pair."""
        left, right = (row, other) if row.side == LEFT else (other, row)
        self.pairs.append((left.number, right.number))
        if self._terms.combine:
            self.worths.append(self._pair_worth(row, other))
        self.counts[Count.PAIRS, row.side] += 1

    def _is_chosen(self, stored: PlainRow) -> bool:
        """Whether a match of a stored row is sampled; if so, record the weight of the pair."""
        sampler = self._terms.policy.sampler
        if sampler is None:
            return True
        threshold = self._given_up[self._pools[stored.side]].threshold(stored)
        chosen = self._score.chooses(stored, threshold)
        if self._score.is_spent(stored):
            self._let_go(stored, Count.UNCHOSEN)
        if chosen:
            weight = sampler.inverse_chance(np.array([threshold]), np.array([stored.weight]))
            self.weights.append(float(weight[0]))
        return chosen

    def _give_up(self, pool: int, row: PlainRow) -> None:
        """Record the score of a row that a sample evicts."""
        if self._terms.policy.samples:
            self._given_up[pool].note(self._worth(row)[0], self._seen)

    def _note_met(self, row: PlainRow, watched: PlainRow, times: int = 1) -> None:
        """Count a match of a watched row with an arrival that stands for ``times`` arrivals."""
        stands_for = 1.0 / self._terms.let_in
        has_met = watched.matched or watched.met > 0
        watched.met += times * self._pair_worth(row, watched) * stands_for
        self.note_meeting(watched, row, self._clock >> 1, times)
        width = -(-max(self._terms.windows[watched.side].span, 1) // self.ages.shape[1])
        bucket = min(max(row.time - watched.time, 0) // width, self.ages.shape[1] - 1)
        if not (has_met and self._terms.how.frees_left and watched.side == LEFT):
            self.note_age(watched, bucket, times)

    def _meet(self, row: PlainRow, stored: PlainRow) -> bool:
        """Whether an arrival and a stored row are partners."""
        return are_partners(row, stored, self._terms.where, self._seen)

    def _find_room(self, row: PlainRow) -> bool:
        """Evict rows of lower score until the arrival fits; False where it does not."""
        pool = self._pools[row.side]
        if self._terms.most_rows[pool] < 1 or row.size > self._terms.most_bytes[pool]:
            cause = Count.RETIRED if self._is_past(row) else Count.REFUSED
            self.counts[cause, row.side] += 1
            return False
        if self._terms.policy.samples and self._worth(row)[0] <= 0.0:
            self.counts[Count.UNCHOSEN, row.side] += 1
            return False
        self._newest.supersede(row)
        while self._is_over(pool, row):
            if retired := self._next_retired(pool):
                self._let_go(retired, Count.RETIRED)
                continue
            if self._is_past(row):
                self.counts[Count.RETIRED, row.side] += 1
                return False
            if self._is_fair_turn(row):
                self._let_go(oldest_of(self._in_pool(pool)), Count.SHED)
                continue
            worst = self._worst(pool, None if self._terms.policy.takes_newcomers else row)
            if worst is not None:
                if self._terms.policy.refuses_equals:
                    worst = row if self._worth(row)[0] <= self._worth(worst)[0] else worst
                self._give_up(pool, worst)
            if worst is row or worst is None:
                self.counts[Count.REFUSED, row.side] += 1
                return False
            self._let_go(worst, Count.SHED)
        return True

    def _worst(self, pool: int, newcomer: PlainRow | None = None) -> PlainRow | None:
        """The row of lowest score; None where no row may be evicted."""
        worst = self._score.least(pool, self._in_pool(pool), newcomer, self._now)
        self.counts[Count.RECOMPUTED] = self._score.computed
        return worst

    def _is_fair_turn(self, row: PlainRow) -> bool:
        """Whether fairness evicts the oldest row, regardless of scores."""
        return lot(self._terms.seed, row.side, row.sequence) < self._terms.fairness

    def _redefine(self) -> None:
        """Rescore all rows by the definition of importance that holds now."""
        changes, before = self._terms.changes, self._definition
        while self._definition < len(changes) and changes[self._definition] <= self._clock >> 1:
            self._definition += 1
        if self._definition != before:
            self._score.redefine(self._definition)

    def _pair_worth(self, row: PlainRow, other: PlainRow) -> float:
        """The importance of a pair."""
        left, right = (row, other) if row.side == LEFT else (other, row)
        worths = left.importance[self._definition], right.importance[self._definition]
        return plain_pair_worth(self._terms.combine, *worths)

    def _is_past(self, row: PlainRow) -> bool:
        """Whether no in-order arrival from now on can match the row."""
        return is_past(row, self._seen, self._clock)

    def _next_retired(self, pool: int) -> PlainRow | None:
        """The first stored row to go of those that only an out-of-order arrival could need."""
        past = [row for row in self._in_pool(pool) if self._is_past(row)]
        superseded = self._newest.next_superseded() if pool == self._pools[RIGHT] else None
        return min(past, key=past_order, default=superseded)

    def _worth(self, row: PlainRow) -> tuple[float, int]:
        """Score now, and order among equals."""
        return self._score.worth(row, self._now)

    def _in_pool(self, pool: int) -> list[PlainRow]:
        return [row for row in self.held if self._pools[row.side] == pool]

    def _is_over(self, pool: int, *more: PlainRow) -> bool:
        """Whether the pool's stored rows, and ``more``, exceed its budget."""
        rows = [*self._in_pool(pool), *more]
        held = sum(row.size for row in rows)
        return len(rows) > self._terms.most_rows[pool] or held > self._terms.most_bytes[pool]

    def _let_go(self, row: PlainRow, cause: Count) -> None:
        self.counts[cause, row.side] += 1
        if cause != Count.SATISFIED:
            self.settled.leaves(row, in_time=cause == Count.EXPIRED)
        self.held.remove(row)
        now = self._clock >> 1
        self._score.leaves(row, now)
        span = self._terms.windows[row.side].span
        seconds = float(now - row.time if row.by_rows else min(now - row.time, span)) * 1e-6
        self.lives[0] += seconds
        self.lives[1] += seconds * seconds
        if row.watch == WatchState.OPEN:
            self._ghosts.append(row)
            if cause == Count.EXPIRED:
                self._finish(row)

    def _finish(self, row: PlainRow) -> None:
        self._ghosts.remove(row)
        row.watch = WatchState.FINISHED
