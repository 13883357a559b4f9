"""The plain-Python twin of the kernel: the definition of right.

Lists and loops only; a search looks at every row. Kernel and twin agree on every input.
"""

from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby, pairwise

import numpy as np

from headgate.kernel.layout import LEFT, NULL_KEY, RIGHT, Count, Skip, Watch
from headgate.kernel.progress import NO_WATERMARK, Progress, Thresholds
from headgate.kernel.rank.coins import coin, skip
from headgate.kernel.rank.curves import NO_FRAME
from headgate.kernel.rows import Batch
from headgate.kernel.skipped_work import LOOKS, SALT
from headgate.kernel.terms import Terms
from headgate.kernel.twin.twin_residence import Now, PlainResidence
from headgate.kernel.twin.twin_rows import (
    Row,
    age_order,
    as_arrivals,
    choose_watched,
    in_event_order,
    known_worth,
    rounded_importance,
    rows_of,
    skip_parts,
)
from headgate.kernel.watched import Watched, Watching, bucket_us
from headgate.policies.policy import (
    AgeScore,
    CurveScore,
    Departures,
    Flips,
    HistoryScore,
    ResidenceScore,
    Sampler,
    ValueScore,
)
from headgate.policies.random import uniform
from headgate.spec.importance.combine import pair_importance


class PlainStep:
    """What `Step` does, said plainly: the same arguments (``codes`` is not needed), same results.

    ``pairs`` lists left and right numbers in the order found, ``weights`` how many pairs each
    stands for in a sample; ``counts`` is by `Count` and side.

    With ``admit_first``, rows that come at the same time are all admitted before any of them
    probes, and one that is not stored then never does. It loses pairs that cost nothing; worked
    examples of papers have it so.
    """

    def __init__(
        self,
        terms: Terms,
        stored: tuple[Batch, Batch],
        arriving: tuple[Batch, Batch],
        codes: int,
        progress: Progress = Progress(),  # noqa: B008 - immutable
        watermark: int = NO_WATERMARK,
        keep_late: bool = False,
        watching: Watching | None = None,
        admit_first: bool = False,
    ) -> None:
        self.pairs: list[tuple[int, int]] = []
        self.weights: list[float] = []
        self.worths: list[float] = []
        """The importance of each pair."""
        self.lives = [0.0, 0.0]
        """Of the rows that left: the sum of their lifetimes in seconds, and of the squares."""
        self.counts = np.zeros((len(Count), 2), np.int64)
        if isinstance(terms.policy, CurveScore):
            terms = replace(terms, policy=terms.policy.recalling(progress.memory))
        self._terms = terms
        self._observes = terms.policy.observes
        self._departures: list[tuple[int, ...]] = []
        """When each left, its position, side, offset, matches, and how long it stayed."""
        self._pools = (0, 0) if terms.pooled else (0, 1)
        self._watermark, self._keep_late = watermark, keep_late
        self._clock, self._seen = progress.clock, list(progress.seen)
        self._given_up = [list(thresholds) for thresholds in progress.thresholds]
        self._frames = list(progress.frames)
        self._definitions = progress.definitions
        self._at_first = sum(1 for change in terms.changes if change <= progress.clock >> 1)
        self._definition = self._at_first
        self._residence = PlainResidence(terms, progress.residence)
        self._flipped: dict[tuple[int, int], list[tuple[int, float]]] = {}
        definitions = len(terms.changes) + 1
        self._by_side = [
            rows_of(side, stored[side], arriving[side], definitions) for side in (LEFT, RIGHT)
        ]
        rows = in_event_order(self._by_side, terms, progress)
        self._rows = rows
        self._known = known_worth(terms, rows, self._definition)
        self._weight = rounded_importance(terms, rows, self._definition)
        self._ghosts = [row for row in rows if row.watch == Watch.GHOST]
        for row in self._ghosts:
            row.watch = Watch.OPEN
        self._held = [row for row in rows if not (row.arriving or row in self._ghosts)]
        self.ages = np.zeros((2, 1 if watching is None else watching.buckets), np.int64)
        if watching is not None:
            choose_watched(rows, watching)
        skip_parts(self._by_side, arriving, terms, self._at_first)
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
    def _now(self) -> Now:
        return Now(self._clock >> 1, tuple(self._seen), self._definition)

    @property
    def stored_rows(self) -> int:
        """Rows stored at the end."""
        return len(self._held)

    @property
    def stored_bytes(self) -> int:
        """Bytes stored at the end."""
        return sum(row.size for row in self._held)

    @property
    def after(self) -> Progress:
        """What the next step must know."""
        thresholds = (self._thresholds_passed(0), self._thresholds_passed(1))
        seen, frames = (self._seen[LEFT], self._seen[RIGHT]), (self._frames[0], self._frames[1])
        memory = ""
        if isinstance(self._terms.policy, CurveScore) and self._observes:
            came = [row for rows in self._by_side for row in rows if row.arriving]
            arrivals = as_arrivals(sorted(came, key=lambda row: row.position), self._at_first)
            gone = np.array(sorted(self._departures), np.int64).reshape(-1, 6)
            side, offset, matches, stayed = gone[:, 2:].T
            departures = Departures(side.astype(np.uint8), offset, matches.astype(np.int32), stayed)
            memory = self._terms.policy.remember(arrivals, departures)
        residing = self._residence.after
        return Progress(self._clock, seen, thresholds, frames, memory, residing, self._definitions)

    def alive(self, side: int) -> np.ndarray:
        """For each row of a side, whether it is stored at the end."""
        return np.array([row in self._held for row in self._by_side[side]], bool)

    def histories(self, side: int) -> tuple[np.ndarray, np.ndarray]:
        """For each row of a side, its matches and when it was last touched."""
        rows = self._by_side[side]
        return np.array([row.matches for row in rows]), np.array([row.touched for row in rows])

    def recent(self, side: int) -> np.ndarray:
        """For each row of a side, its matches of late."""
        return np.array([row.recent for row in self._by_side[side]])

    def sequences(self, side: int) -> np.ndarray:
        """For each row of a side, its place among the side's rows."""
        return np.array([row.sequence for row in self._by_side[side]])

    def watched(self, side: int) -> Watched:
        """For each row of a side, whether it is watched, and what it met."""
        rows = self._by_side[side]
        return Watched(
            np.array([row.watch for row in rows], np.uint8),
            np.array([row.met for row in rows], np.float64),
            np.array([row.made for row in rows], np.float64),
        )

    def _restore(self) -> None:
        """Let go what the watermark has passed, then meet the budget."""
        for row in list(self._ghosts):
            if not row.by_rows and row.end <= self._watermark:
                self._finish(row)
        for row in list(self._held):
            if not row.by_rows and row.end <= self._watermark:
                self._let_go(row, Count.EXPIRED)
        for pool in (0, 1):
            while self._is_over(pool):
                if past := self._past_rows(pool):
                    self._let_go(past[0], Count.RETIRED)
                else:
                    worst = self._worst(pool, self._in_pool(pool)) or self._oldest(pool)
                    self._give_up(pool, worst)
                    self._let_go(worst, Count.SHED)
        self._note_peak()

    def _arrive(self, row: Row) -> None:
        """Expire what is due, probe the other side, then admit or shed."""
        if self._take_up(row):
            if self._may_probe(row):
                self._probe(row)
            else:
                self._leave_out(row)
            self._admit(row)

    def _may_probe(self, row: Row) -> bool:
        """Whether the arrival is to look for partners, and there is time for it."""
        pace = self._terms.pace
        if pace is not None:
            self._credit += pace.seconds / self._arrivals - pace.costs.arrive
        return not row.skip & Skip.PROBE and (pace is None or self._credit >= 0.0)

    def _leave_out(self, row: Row) -> None:
        """The arrival does not probe; a few of those that do not look at the watched rows."""
        self.counts[Count.UNPROBED, row.side] += 1
        seed = (self._terms.seed % (1 << 64)) ^ int(SALT)
        side, sequence = np.array([row.side], np.uint8), np.array([row.sequence])
        if uniform(seed, side, sequence)[0] >= self._looks:
            return
        for other in [*self._ghosts, *self._held]:
            if other.watch == Watch.OPEN and self._meet(row, other):
                self._note_met(row, other, round(1 / self._looks))

    def _arrive_together(self, rows: list[Row]) -> None:
        """Admit rows that come at the same time; then those that are stored meet the others."""
        for row in rows:
            if self._take_up(row):
                self._admit(row)
        stored = [row for row in rows if row in self._held]
        for place, row in enumerate(stored):
            self._probe(row, later=stored[place:])

    def _take_up(self, row: Row) -> bool:
        """Let go what is past when a row comes; whether the row can match anything at all."""
        if isinstance(self._terms.policy, CurveScore) and 2 * row.time + row.side >= self._clock:
            heard = self._terms.policy.frames(as_arrivals([row]))
            self._frames[1 - row.side] = (int(heard.origin[0]), int(heard.frame[0]))
        # Rows of one time that are admitted first have yet to meet what is stored of either side.
        now = 2 * row.time + (LEFT if self._admit_first else row.side)
        self._clock = max(self._clock, now)
        self._seen[row.side] = row.sequence + 1
        self._redefine()
        for other in list(self._held):
            if self._is_past(other) and (other.by_rows or not self._keep_late):
                self._let_go(other, Count.EXPIRED)
        for ghost in list(self._ghosts):
            if self._is_past(ghost) and (ghost.by_rows or not self._keep_late):
                self._finish(ghost)
        if row.code == NULL_KEY:
            self.counts[Count.NULL_KEYS, row.side] += 1
            return False
        if isinstance(self._terms.policy, ResidenceScore):
            self._residence.note_arrival(row, self._now)
        return True

    def _admit(self, row: Row) -> None:
        """Store the arrival, if it is needed and there is room to be found."""
        met_late = self._keep_late and not row.by_rows and row.end > self._watermark
        doubled = any(self._is_double(row, other) for other in self._held)
        if (self._is_past(row) and not met_late) or (self._terms.unique and doubled):
            self.counts[Count.UNNEEDED, row.side] += 1
            if row.watch == Watch.OPEN:
                row.watch = Watch.FINISHED
        elif row.skip & Skip.STORE:
            self.counts[Count.UNSTORED, row.side] += 1
            if row.watch == Watch.OPEN:
                self._ghosts.append(row)
        elif self._find_room(row):
            self.counts[Count.ADMITTED, row.side] += 1
            if self._terms.pace is not None:
                self._credit -= self._terms.pace.costs.store
            self._held.append(row)
            if self._observes:
                row.touched = int(row.weight) - self._frames[row.side][0]
            self._note_peak()
        elif row.watch == Watch.OPEN:
            self._ghosts.append(row)

    def _probe(self, row: Row, later: Sequence[Row] = ()) -> None:
        """Pair the arrival with its partners; a history policy takes note.

        The newest partner comes first; under a band or comparison, the one of least value. Those
        that come ``later``, but are stored already, will meet the row when they probe.
        """
        partners = [other for other in self._held if other not in later and self._meet(row, other)]
        if self._terms.where is None:
            partners.sort(key=lambda other: (other.mark, other.position), reverse=True)
        else:
            partners.sort(key=lambda other: (other.value, other.position))
        for ghost in self._ghosts:
            if self._meet(row, ghost):
                self._note_met(row, ghost)
        for other in partners:
            if other.watch == Watch.OPEN:
                other.made += self._pair_worth(row, other)
                self._note_met(row, other)
            if isinstance(self._terms.policy, Sampler) and not self._is_chosen(other):
                continue
            left, right = (row, other) if row.side == LEFT else (other, row)
            self.pairs.append((left.number, right.number))
            if self._terms.combine:
                self.worths.append(self._pair_worth(row, other))
            self.counts[Count.PAIRS, row.side] += 1
            if self._terms.pace is not None:
                self._credit -= self._terms.pace.costs.pair
            if isinstance(self._terms.policy, HistoryScore):
                row.matches += 1
                other.matches += 1
                other.touched = max(other.touched, row.time)
            elif isinstance(self._terms.policy, ResidenceScore):
                pool, worth = self._pools[other.side], self._pair_worth(row, other)
                stored = self._in_pool(pool)
                self._residence.note_match(row, other, worth, pool, stored, self._now)
            elif self._observes:
                other.matches += 1

    def _is_chosen(self, stored: Row) -> bool:
        """Whether a match of a stored row is in the sample; if so, note what it stands for."""
        policy, threshold = self._terms.policy, self._threshold(stored)
        chosen = True
        if isinstance(policy, Flips):
            stored.matches += 1
            levels = [level for place, level in self._heads(stored) if place == stored.matches]
            chosen = any(policy.share * level * threshold < 1.0 for level in levels)
            if not any(place > stored.matches for place, _ in self._heads(stored)):
                self._let_go(stored, Count.UNCHOSEN)
        if chosen and isinstance(policy, Sampler):
            weight = policy.inverse_chance(np.array([threshold]), np.array([stored.weight]))
            self.weights.append(float(weight[0]))
        return chosen

    def _heads(self, row: Row) -> list[tuple[int, float]]:
        """Which matches of a row are chosen, and at what level, one coin after the other."""
        heads: list[tuple[int, float]] = []
        policy, place, draw = self._terms.policy, 0, 0
        if not isinstance(policy, Flips):
            raise TypeError(f"{policy} flips no coins")
        if (row.side, row.sequence) in self._flipped:
            return self._flipped[row.side, row.sequence]
        most = int(policy.most_matches(np.array([row.weight]))[0])
        seed = np.uint64(policy.seed % (1 << 64))
        while True:
            tails, level = coin(seed, row.side, row.sequence, draw)
            place += 1 + int(skip(tails, policy.share))
            draw += 1
            if place > most:
                self._flipped[row.side, row.sequence] = heads
                return heads
            heads.append((place, level))

    def _threshold(self, row: Row) -> float:
        """The highest score given up since a row came; 0 where there is none."""
        log = self._given_up[self._pools[row.side]]
        return max((entry[0] for entry in log if entry[1 + row.side] > row.sequence), default=0.0)

    def _give_up(self, pool: int, row: Row) -> None:
        """Note the score that a sample gives up."""
        if isinstance(self._terms.policy, Sampler):
            self._given_up[pool].append((self._worth(row)[0], self._seen[LEFT], self._seen[RIGHT]))

    def _thresholds_passed(self, pool: int) -> Thresholds:
        """Scores given up that none given up later is above, and that some stored row passed."""
        log = self._given_up[pool]
        highest = [
            entry for at, entry in enumerate(log) if all(entry[0] > e[0] for e in log[at + 1 :])
        ]
        return tuple(
            entry
            for entry in highest
            if any(entry[1 + row.side] > row.sequence for row in self._held)
        )

    def _note_met(self, row: Row, watched: Row, times: int = 1) -> None:
        """Count that a watched row met an arrival, or so many like it."""
        stands_for = 1.0 / self._terms.let_in
        watched.met += times * self._pair_worth(row, watched) * stands_for
        buckets = self.ages.shape[1]
        width = bucket_us(self._terms.windows[watched.side], buckets)
        bucket = min(max(row.time - watched.time, 0) // width, buckets - 1)
        self.ages[watched.side, bucket] += times

    def _meet(self, row: Row, stored: Row) -> bool:
        """Whether an arrival and a stored row are partners."""
        if stored.side == row.side or stored.code != row.code:
            return False
        left, right = (row, stored) if row.side == LEFT else (stored, row)
        if self._terms.where is not None and not self._terms.where.holds(left.value, right.value):
            return False
        if stored.by_rows:
            return self._seen[stored.side] <= stored.end
        return row.time <= stored.end and (row.by_rows or stored.time <= row.end)

    def _is_double(self, row: Row, stored: Row) -> bool:
        """Whether a stored row has the arrival's key, on its side."""
        return stored.side == row.side and stored.code == row.code

    def _find_room(self, row: Row) -> bool:
        """Whether the arrival can be stored, after giving up what is worth less."""
        pool = self._pools[row.side]
        if self._terms.most_rows[pool] < 1 or row.size > self._terms.most_bytes[pool]:
            cause = Count.RETIRED if self._is_past(row) else Count.REFUSED
            self.counts[cause, row.side] += 1
            return False
        if isinstance(self._terms.policy, Sampler) and self._worth(row)[0] <= 0.0:
            self.counts[Count.UNCHOSEN, row.side] += 1
            return False
        while self._is_over(pool, row):
            if past := self._past_rows(pool):
                self._let_go(past[0], Count.RETIRED)
                continue
            if self._is_past(row):
                self.counts[Count.RETIRED, row.side] += 1
                return False
            if self._is_fair_turn(row):
                self._let_go(self._oldest(pool), Count.SHED)
                continue
            candidates = self._in_pool(pool)
            if not self._terms.policy.takes_newcomers:
                candidates.append(row)
            worst = self._worst(pool, candidates)
            if worst is not None:
                refused = self._terms.policy.refuses_equals and not self._is_above(row, worst)
                worst = row if refused else worst
                self._give_up(pool, worst)
            if worst is row or worst is None:
                self.counts[Count.REFUSED, row.side] += 1
                return False
            self._let_go(worst, Count.SHED)
        return True

    def _worst(self, pool: int, candidates: list[Row]) -> Row | None:
        """The row worth least; None where nobody may be given up."""
        if isinstance(self._terms.policy, ResidenceScore):
            least = self._residence.least(pool, self._in_pool(pool), self._now)
            self.counts[Count.RECOMPUTED] = self._residence.computed
            return least
        return min(candidates, key=self._worth)

    def _is_above(self, row: Row, other: Row) -> bool:
        return self._worth(row)[0] > self._worth(other)[0]

    def _oldest(self, pool: int) -> Row:
        """The pool's row that came first; under a window of rows, the first of its side."""
        firsts = [
            min((row for row in self._in_pool(pool) if row.side == side), key=age_order)
            for side in (LEFT, RIGHT)
            if any(row.side == side for row in self._in_pool(pool))
        ]
        return min(firsts, key=lambda row: row.position)

    def _is_fair_turn(self, row: Row) -> bool:
        """Whether the oldest row makes room, whatever it is worth."""
        drawn = uniform(self._terms.seed, np.array([row.side]), np.array([row.sequence]))
        return bool(drawn[0] < self._terms.fairness)

    def _redefine(self) -> None:
        """Judge all rows by the definition of importance that holds now."""
        changes, before = self._terms.changes, self._definition
        while self._definition < len(changes) and changes[self._definition] <= self._clock >> 1:
            self._definition += 1
        if self._definition != before:
            self._known = known_worth(self._terms, self._rows, self._definition)
            self._weight = rounded_importance(self._terms, self._rows, self._definition)
            for row in self._rows:
                row.is_ripe = False

    def _pair_worth(self, row: Row, other: Row) -> float:
        """The importance of a pair."""
        left, right = (row, other) if row.side == LEFT else (other, row)
        both = [np.array([one.importance[self._definition]]) for one in (left, right)]
        return float(pair_importance(self._terms.combine, *both)[0])

    def _is_past(self, row: Row) -> bool:
        """Whether no in-order arrival from now on can meet the row."""
        if row.by_rows:
            return self._seen[row.side] > row.end
        # Left rows come before the right rows of a time: those can still meet a left row then.
        return 2 * row.end + (1 if row.side == LEFT else 0) < self._clock

    def _past_rows(self, pool: int) -> list[Row]:
        """Stored rows that only an out-of-order arrival could meet, in the order to give up."""
        past = [row for row in self._in_pool(pool) if self._is_past(row)]
        return sorted(past, key=lambda row: (row.side, row.mark, row.position))

    def _worth(self, row: Row) -> tuple[float, int]:
        """Score now, then the elder is worth less; the younger, where scores rise with age."""
        policy, now = self._terms.policy, self._clock >> 1
        if isinstance(policy, AgeScore):
            age = now - row.time
            first, *more = policy.pieces(row.side, self._terms.windows[row.side])
            piece = [first, *(piece for piece in more if age >= piece.age)][-1]
            order = -row.position if piece.slope > 0 else row.position
            score = piece.start + piece.slope * (age - piece.age)
            return self._weight[row.position] * score, order
        if isinstance(policy, CurveScore):
            return self._along_the_curve(policy, row)
        if isinstance(policy, HistoryScore):
            rescore = type(policy).rescore.__wrapped__
            return rescore(row.matches, row.touched, row.time, policy.parameter), row.position
        if isinstance(policy, Flips):
            levels = [level for place, level in self._heads(row) if place > row.matches]
            return (1.0 / (policy.share * min(levels)) if levels else 0.0), row.position
        if isinstance(policy, ValueScore):
            remaining = row.end - (self._seen[row.side] if row.by_rows else now)
            order = 2 * row.sequence + row.side if row.by_rows else row.position
            return self._known[row.position] * self._weight[row.position] * remaining, order
        return self._known[row.position], row.position

    def _along_the_curve(self, policy: CurveScore, row: Row) -> tuple[float, int]:
        """The score at the value's offset; among equals the lowest value, where scores fall the
        highest, and of one value the eldest."""
        origin, frame = self._frames[row.side]
        offset = int(row.weight) - origin
        if frame == NO_FRAME:
            return 0.0, (offset << 31) + row.position
        curves = policy.curves(row.side, self._terms.windows[row.side])
        age = ((self._clock >> 1) - row.time) // curves.class_us
        curve = curves.table[frame, min(age, curves.table.shape[1] - 1)]
        at = (offset - curves.lowest) >> curves.grain
        score = float(curve[at]) if 0 <= at < len(curve) else 0.0
        rises = _rises(curve.tolist(), max(at, 0))
        score *= self._weight[row.position]
        return score, ((offset if rises else -offset) << 31) + row.position

    def _in_pool(self, pool: int) -> list[Row]:
        return [row for row in self._held if self._pools[row.side] == pool]

    def _is_over(self, pool: int, *more: Row) -> bool:
        """Whether the pool's stored rows, and ``more``, exceed its budget."""
        rows = [*self._in_pool(pool), *more]
        held = sum(row.size for row in rows)
        return len(rows) > self._terms.most_rows[pool] or held > self._terms.most_bytes[pool]

    def _let_go(self, row: Row, cause: Count) -> None:
        self.counts[cause, row.side] += 1
        self._held.remove(row)
        now = self._clock >> 1
        self._departures.append(
            (now, row.position, row.side, row.touched, row.matches, now - row.time)
        )
        span = self._terms.windows[row.side].span
        seconds = float(now - row.time if row.by_rows else min(now - row.time, span)) * 1e-6
        self.lives[0] += seconds
        self.lives[1] += seconds * seconds
        if row.watch == Watch.OPEN:
            self._ghosts.append(row)
            if cause == Count.EXPIRED:
                self._finish(row)

    def _finish(self, row: Row) -> None:
        self._ghosts.remove(row)
        row.watch = Watch.FINISHED

    def _note_peak(self) -> None:
        peak_rows, peak_bytes = self.counts[Count.PEAK_ROWS], self.counts[Count.PEAK_BYTES]
        peak_rows[LEFT] = max(peak_rows[LEFT], self.stored_rows)
        peak_bytes[LEFT] = max(peak_bytes[LEFT], self.stored_bytes)


def _rises(curve: list[float], at: int) -> bool:
    """Whether a curve last rose on its way to an entry. It comes from nothing, so it rises first,
    and goes to nothing."""
    so_far = [*curve, 0.0][: at + 1]
    changes = [there - here for here, there in pairwise(so_far) if there != here]
    return not changes or changes[-1] > 0
