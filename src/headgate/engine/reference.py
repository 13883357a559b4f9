"""The plain-Python twin of the kernel: the definition of right.

Lists and loops only; a search looks at every row. Kernel and twin agree on every input.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import groupby, pairwise

import numpy as np

from headgate.engine import priority, residence
from headgate.engine.batch import (
    NO_WATERMARK,
    Bars,
    Batch,
    Progress,
    Residing,
    Terms,
    Watched,
    Watching,
    bucket_us,
)
from headgate.engine.curves import NO_FRAME
from headgate.engine.flips import coin, skip
from headgate.engine.layout import LEFT, NULL_KEY, RIGHT, Count, Watch
from headgate.policies.base import (
    AS_FITS,
    AS_NEEDED,
    AgeScore,
    Arrivals,
    CurveScore,
    Departures,
    FixedScore,
    Flips,
    HistoryScore,
    Residence,
    ResidenceScore,
    Sampler,
    ValueScore,
)
from headgate.policies.levels import importance_levels
from headgate.policies.random import uniform
from headgate.spec import RowWindow
from headgate.spec.budget import UNLIMITED
from headgate.spec.importance.combine import pair_importance


@dataclass(eq=False)
class Row:
    """A stored or arriving row: who it is, its columns of `Batch`, and its places in order."""

    side: int
    number: int
    arriving: bool
    time: int
    code: int
    size: int
    weight: float
    sequence: int
    matches: int
    touched: int
    value: float  # what a band or comparison looks at; 0 where there is none
    watch: int = Watch.NONE
    met: float = 0.0
    made: float = 0.0
    importance: tuple[float, ...] = (1.0,)  # by definition
    recent: float = 0.0  # matches, as they counted when last touched
    priority: float = 0.0  # residence: as last computed
    is_ripe: bool = False  # residence: has been a candidate
    position: int = 0  # in event order among all rows of the step
    by_rows: bool = False  # its window counts rows of its side, not time
    mark: int = 0  # its place on its window's scale: sequence or time
    end: int = 0  # where its window ends on that scale


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
        self._given_up = [list(bars) for bars in progress.bars]
        self._frames = list(progress.frames)
        self._definitions = progress.definitions
        self._at_first = sum(1 for change in terms.changes if change <= progress.clock >> 1)
        self._definition = self._at_first
        residing = progress.residence
        self._began, self._importance = residing.began, residing.importance
        self._decisions = list(residing.decisions)
        self._made, self._made_before = list(residing.made), list(residing.made_before)
        self._flipped: dict[tuple[int, int], list[tuple[int, float]]] = {}
        definitions = len(terms.changes) + 1
        self._by_side = [
            _rows(side, stored[side], arriving[side], definitions) for side in (LEFT, RIGHT)
        ]
        rows = _in_event_order(self._by_side, terms, progress)
        self._rows = rows
        self._known = _known_worth(terms, rows, self._definition)
        self._weight = _rounded_importance(terms, rows, self._definition)
        self._ghosts = [row for row in rows if row.watch == Watch.GHOST]
        for row in self._ghosts:
            row.watch = Watch.OPEN
        self._held = [row for row in rows if not (row.arriving or row in self._ghosts)]
        self.ages = np.zeros((2, 1 if watching is None else watching.buckets), np.int64)
        if watching is not None:
            _choose_watched(rows, watching)
        self._restore()
        arrivals = [row for row in rows if row.arriving]
        self._admit_first = admit_first
        if admit_first:
            for _, together in groupby(arrivals, key=lambda row: row.time):
                self._arrive_together(list(together))
            return
        for row in arrivals:
            self._arrive(row)

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
        bars = (self._bars_passed(0), self._bars_passed(1))
        seen, frames = (self._seen[LEFT], self._seen[RIGHT]), (self._frames[0], self._frames[1])
        memory = ""
        if isinstance(self._terms.policy, CurveScore) and self._observes:
            came = [row for rows in self._by_side for row in rows if row.arriving]
            arrivals = _as_arrivals(sorted(came, key=lambda row: row.position), self._at_first)
            gone = np.array(sorted(self._departures), np.int64).reshape(-1, 6)
            side, offset, matches, stayed = gone[:, 2:].T
            departures = Departures(side.astype(np.uint8), offset, matches.astype(np.int32), stayed)
            memory = self._terms.policy.remember(arrivals, departures)
        residing = Residing(
            self._began,
            self._importance,
            (self._decisions[0], self._decisions[1]),
            (self._made[0], self._made[1]),
            (self._made_before[0], self._made_before[1]),
        )
        return Progress(self._clock, seen, bars, frames, memory, residing, self._definitions)

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
            self._probe(row)
            self._admit(row)

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
            heard = self._terms.policy.frames(_as_arrivals([row]))
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
            self._began = min(self._began, row.time)
            self._importance += row.importance[self._definition]
        return True

    def _admit(self, row: Row) -> None:
        """Store the arrival, if it is needed and there is room to be found."""
        met_late = self._keep_late and not row.by_rows and row.end > self._watermark
        doubled = any(self._is_double(row, other) for other in self._held)
        if (self._is_past(row) and not met_late) or (self._terms.unique and doubled):
            self.counts[Count.UNNEEDED, row.side] += 1
            if row.watch == Watch.OPEN:
                row.watch = Watch.FINISHED
        elif self._find_room(row):
            self.counts[Count.ADMITTED, row.side] += 1
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
            if isinstance(self._terms.policy, HistoryScore):
                row.matches += 1
                other.matches += 1
                other.touched = max(other.touched, row.time)
            elif isinstance(self._terms.policy, ResidenceScore):
                self._note_match(row, other)
            elif self._observes:
                other.matches += 1

    def _is_chosen(self, stored: Row) -> bool:
        """Whether a match of a stored row is in the sample; if so, note what it stands for."""
        policy, bar = self._terms.policy, self._bar(stored)
        chosen = True
        if isinstance(policy, Flips):
            stored.matches += 1
            levels = [level for place, level in self._heads(stored) if place == stored.matches]
            chosen = any(policy.share * level * bar < 1.0 for level in levels)
            if not any(place > stored.matches for place, _ in self._heads(stored)):
                self._let_go(stored, Count.UNCHOSEN)
        if chosen and isinstance(policy, Sampler):
            weight = policy.inverse_chance(np.array([bar]), np.array([stored.weight]))
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

    def _bar(self, row: Row) -> float:
        """The highest score given up since a row came; 0 where there is none."""
        log = self._given_up[self._pools[row.side]]
        return max((entry[0] for entry in log if entry[1 + row.side] > row.sequence), default=0.0)

    def _give_up(self, pool: int, row: Row) -> None:
        """Note the score that a sample gives up."""
        if isinstance(self._terms.policy, Sampler):
            self._given_up[pool].append((self._worth(row)[0], self._seen[LEFT], self._seen[RIGHT]))

    def _bars_passed(self, pool: int) -> Bars:
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

    def _note_met(self, row: Row, watched: Row) -> None:
        """Count that a watched row met an arrival."""
        watched.met += self._pair_worth(row, watched)
        buckets = self.ages.shape[1]
        width = bucket_us(self._terms.windows[watched.side], buckets)
        self.ages[watched.side, min(max(row.time - watched.time, 0) // width, buckets - 1)] += 1

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
            return self._least_resident(pool)
        return min(candidates, key=self._worth)

    def _is_above(self, row: Row, other: Row) -> bool:
        return self._worth(row)[0] > self._worth(other)[0]

    def _oldest(self, pool: int) -> Row:
        """The pool's row that came first; under a window of rows, the first of its side."""
        firsts = [
            min((row for row in self._in_pool(pool) if row.side == side), key=_age_order)
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
            self._known = _known_worth(self._terms, self._rows, self._definition)
            self._weight = _rounded_importance(self._terms, self._rows, self._definition)
            for row in self._rows:
                row.is_ripe = False

    def _pair_worth(self, row: Row, other: Row) -> float:
        """The importance of a pair."""
        left, right = (row, other) if row.side == LEFT else (other, row)
        both = [np.array([one.importance[self._definition]]) for one in (left, right)]
        return float(pair_importance(self._terms.combine, *both)[0])

    def _note_match(self, row: Row, other: Row) -> None:
        """Bring what both have brought of late up to date."""
        pool = self._pools[other.side]
        for number in (0, 1):
            self._made[number] += self._pair_worth(row, other)
        decay, _, _ = self._rates(pool)
        row.matches += 1
        row.recent += 1.0
        row.touched = row.time
        other.matches += 1
        if row.time >= other.touched:
            faded = other.recent * math.exp(-decay * float(row.time - other.touched))
            other.recent, other.touched = faded + 1.0, row.time
        else:
            other.recent += math.exp(-decay * float(other.touched - row.time))
        if other.is_ripe and self._residence.every == AS_FITS:
            other.priority = self._residence_priority(other)

    def _least_resident(self, pool: int) -> Row | None:
        """The mature row of least priority, as last computed; the elder of equals."""
        told, now, rows = self._residence, self._clock >> 1, self._in_pool(pool)
        maturity = float(told.maturity_us)
        if told.maturity_us < 0:
            maturity = priority.MATURITY * self._stay(pool)
        for row in rows:
            if float(now - row.time) > maturity and not row.is_ripe:
                row.is_ripe = True
                row.priority = self._residence_priority(row)
                if row.arriving and not math.isnan(told.initial):
                    row.priority = told.initial * row.importance[self._definition]
        every = max(len(rows) // residence.SHARE, 1) if told.every == AS_FITS else told.every
        due = self._decisions[pool] >= every
        if told.every == AS_NEEDED:
            due = self._made[pool] < (1.0 - told.epsilon) * self._made_before[pool]
        if due:
            self.counts[Count.RECOMPUTED, pool] += 1
            self._decisions[pool] = 0
            for row in rows:
                if row.is_ripe:
                    row.priority = self._residence_priority(row)
        self._decisions[pool] += 1
        self._made_before[pool], self._made[pool] = self._made[pool], 0.0
        while ripe := [row for row in rows if row.is_ripe]:
            least = min(ripe, key=lambda row: (row.priority, row.position))
            if float(now - least.time) > maturity:
                return least
            least.is_ripe = False  # stays have grown longer since it was ripe
        return None

    @property
    def _residence(self) -> Residence:
        policy = self._terms.policy
        if not isinstance(policy, ResidenceScore):
            raise TypeError(f"{policy} goes by no residence priority")
        return policy.residence

    def _stay(self, pool: int) -> float:
        """How long a row of the pool stays on average, in microseconds."""
        sides = [side for side in (LEFT, RIGHT) if self._pools[side] == pool]
        arrived = max(sum(self._seen[side] for side in sides), 1)
        longest = max(1.0, *(float(self._terms.windows[side].span) for side in sides))
        elapsed = float((self._clock >> 1) - self._began)
        rows = self._terms.most_rows[pool]
        rows = len(self._in_pool(pool)) if rows >= UNLIMITED else rows
        return max(min(elapsed * float(rows) / float(arrived), longest), 1.0)

    def _rates(self, pool: int) -> tuple[float, float, float]:
        """Decay per microsecond, idle time to be unproductive, penalty per second."""
        told, stay = self._residence, self._stay(pool)
        decay = told.decay * 1e-6 if told.decay >= 0 else priority.DECAY / stay
        unproductive = float(told.unproductive_us)
        if told.unproductive_us < 0:
            unproductive = priority.UNPRODUCTIVE * stay
        penalty, seconds = told.penalty, stay * 1e-6
        if penalty < 0:
            mean = self._importance / float(max(sum(self._seen), 1))
            penalty = priority.PENALTY * mean / (seconds * seconds)
        return decay, unproductive, penalty

    def _residence_priority(self, row: Row) -> float:
        """Importance × matches of late ÷ age, less the penalty of the unproductive."""
        decay, unproductive, penalty = self._rates(self._pools[row.side])
        now = self._clock >> 1
        idle, worth = float(now - row.touched), 0.0
        if row.recent > 0:
            age = max(float(now - row.time), 1.0) * 1e-6
            matches = row.recent * math.exp(-decay * idle)
            worth = row.importance[self._definition] * matches / age
        if idle >= unproductive:
            worth -= penalty * (idle * 1e-6)
        return worth

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


def _rows(side: int, stored: Batch, arriving: Batch, definitions: int) -> list[Row]:
    rows: list[Row] = []
    for batch, is_arriving in ((stored, False), (arriving, True)):
        values = batch.value if batch.value.size else np.zeros(len(batch.time))
        watched = batch.watched or Watched.none(len(batch.time))
        columns = (*batch[:7], values, *watched)
        for at, entry in enumerate(zip(*(column.tolist() for column in columns), strict=True)):
            rows.append(Row(side, len(rows), is_arriving, *entry))
            rows[-1].importance = (1.0,) * definitions
            if batch.importance is not None:
                rows[-1].importance = tuple(batch.importance[:, at].tolist())
            if batch.recent is not None:
                rows[-1].recent = float(batch.recent[at])
    return rows


def _age_order(row: Row) -> tuple[int, int]:
    return row.mark, row.position


def _in_event_order(by_side: list[list[Row]], terms: Terms, progress: Progress) -> list[Row]:
    """The rows by time, then side, then as given; arrivals get their sequence numbers."""
    rows = sorted((row for rows in by_side for row in rows), key=lambda row: (row.time, row.side))
    seen = list(progress.seen)
    for position, row in enumerate(rows):
        row.position = position
        if row.arriving:
            row.sequence = seen[row.side]
            seen[row.side] += 1
        row.by_rows = isinstance(terms.windows[row.side], RowWindow)
        row.mark = row.sequence if row.by_rows else row.time
        row.end = row.mark + terms.windows[row.side].span
    return rows


def _choose_watched(rows: list[Row], watching: Watching) -> None:
    for row in rows:
        chosen = watching.chooses(np.array([row.side], np.uint8), np.array([row.sequence]))
        wanted = row.arriving and row.code != NULL_KEY and watching.sides[row.side]
        if wanted and chosen[0]:
            row.watch = Watch.OPEN


def _known_worth(terms: Terms, rows: list[Row], definition: int) -> list[float]:
    """What the policy knows of each row in advance: its fixed score, or the weight of its class."""
    arrivals = _as_arrivals(rows, definition)
    known = np.zeros(len(rows))
    if isinstance(terms.policy, FixedScore):
        known = terms.policy.score(arrivals)
    elif isinstance(terms.policy, ValueScore):
        known = terms.policy.class_weights()[terms.policy.classify(arrivals)]
    return [float(value) for value in known]


def _rounded_importance(terms: Terms, rows: list[Row], definition: int) -> list[float]:
    """What each row's importance is rounded to, where scores change all the time."""
    if not terms.policy.weighs_importance:
        return [1.0] * len(rows)
    own = np.array([row.importance[definition] for row in rows], np.float64)
    level, weights = importance_levels(own)
    return [float(weights[at]) for at in level]


def _as_arrivals(rows: list[Row], definition: int = 0) -> Arrivals:
    return Arrivals(
        np.array([row.time for row in rows], np.int64),
        np.array([row.side for row in rows], np.uint8),
        np.array([row.sequence for row in rows], np.int64),
        np.array([row.weight for row in rows], np.float64),
        np.array([row.importance[definition] for row in rows], np.float64),
    )
