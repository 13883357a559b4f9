"""Scores of a row's recent matches divided by its age.

Each score changes over time in its own way; see `structures/ripe_rows.py`.
"""

import math
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar, NamedTuple

import numpy as np

from headgate.compiling import compiled
from headgate.policies.kinds.kind import Block, Given, Kind
from headgate.policies.kinds.plain_score import PlainRow, PlainScore, ScoreMoment
from headgate.policies.policy import Policy
from headgate.policies.structures import ripe_rows
from headgate.policies.structures.pair_worth import pair_worth
from headgate.policies.structures.priority import RESIDENCE, ROUND, Residences, resident
from headgate.policies.structures.ripe_rows import AS_FITS as AS_FITS
from headgate.policies.structures.ripe_rows import AS_NEEDED as AS_NEEDED
from headgate.spec.budget import UNLIMITED


class Residence(NamedTuple):
    """Parameters of the residence priority.

    A negative threshold or rate is derived from the expected *stay* of a row: rows stored divided
    by rows arriving per unit of time.
    """

    maturity_us: int  # rows up to this age are not evicted
    unproductive_us: int  # rows without a match for this long are penalised
    decay: float  # of matches, per second
    penalty: float  # per second without a match, in units of priority
    initial: float  # priority per importance until first computed; NaN: as at maturity
    every: int  # evictions between recomputations of all; or AS_FITS, AS_NEEDED
    epsilon: float  # AS_NEEDED: relative loss of importance that triggers one


class Residing(NamedTuple):
    """State of residence priorities between steps."""

    began: int = UNLIMITED
    """Time of the very first arrival; later than any where there was none."""
    importance: float = 0.0
    """Total importance of all arrivals."""
    decisions: tuple[int, int] = (UNLIMITED, UNLIMITED)
    """By pool: evictions since priorities were last computed."""
    made: tuple[float, float] = (0.0, 0.0)
    """By pool: importance of the pairs made since the last eviction."""
    made_before: tuple[float, float] = (0.0, 0.0)
    """The same between the last two evictions."""

    @classmethod
    def of(cls, given: Sequence[Any]) -> "Residing":
        """From the same as lists."""
        began, importance, *by_pool = given
        decisions, made, made_before = ((left, right) for left, right in by_pool)
        return cls(began, importance, decisions, made, made_before)


@compiled
def enter(arrays: Any, own: Residences, row: int) -> None:
    """Called when a row is stored."""
    ripe_rows.enter(resident(arrays, own), row)


@compiled
def build(arrays: Any, own: Residences, pool: int) -> None:
    """Start with no mature row."""
    ripe_rows.begin(resident(arrays, own), pool)


@compiled
def worst(arrays: Any, own: Residences, pool: int) -> tuple[np.int64, float, np.int64]:
    """The mature row of lowest priority."""
    return ripe_rows.worst(resident(arrays, own), pool)


@compiled
def on_pairs(
    arrays: Any, own: Residences, row: int, block: Block, first: int, end: int
) -> tuple[int, Any]:
    """Count the arrival and the importance of its pairs."""
    part = resident(arrays, own)
    ripe_rows.note_arrival(part, row)
    if not arrays.terms[0].count_only:
        for at in range(first, end):
            ripe_rows.note_worth(part, pair_worth(arrays, row, np.int64(block.pairs[at].partner)))
        ripe_rows.note_pairs(part, row, block.pairs, first, end)
    return end, np.int64(0)


class PlainResidenceScore(PlainScore):
    """Residence scores in plain Python: nothing cached, linear search."""

    MATURITY, UNPRODUCTIVE, DECAY, PENALTY = 0.1, 0.6, 1.0, 1.0
    """Multiples of the expected stay."""
    SHARE = 12
    """All priorities are recomputed when this share of the stored rows has been replaced."""

    def __init__(
        self, terms: Any, rows: list[PlainRow], progress: Any, definition: int = 0
    ) -> None:
        before: Residing = progress.residence
        self._began, self._importance = before.began, before.importance
        self._decisions = list(before.decisions)
        self._made, self._made_before = list(before.made), list(before.made_before)
        self._told: Residence = terms.policy.residence
        super().__init__(terms, rows, progress, definition)

    def redefine(self, definition: int) -> None:
        """Start with no mature row."""
        for row in self.rows:
            row.is_ripe = False

    def progress(self) -> dict[str, Any]:
        """The state for the next step."""
        by_pool = (self._decisions, self._made, self._made_before)
        return {"residence": Residing.of((self._began, self._importance, *by_pool))}

    def arrives(self, row: PlainRow, now: ScoreMoment) -> None:
        """Count an arrival."""
        self._began = min(self._began, row.time)
        self._importance += row.importance[now.definition]

    def pairs(
        self,
        row: PlainRow,
        other: PlainRow,
        worth: float,
        rows: Sequence[PlainRow],
        now: ScoreMoment,
    ) -> None:
        """Update the decayed matches of an arrival and its partner."""
        self._made = [made + worth for made in self._made]
        pool = self._pool_of(other)
        decay, _, _ = self._rates(pool, rows, now)
        row.matches += 1
        row.recent += 1.0
        row.touched = row.time
        other.matches += 1
        if row.time >= other.touched:
            faded = other.recent * math.exp(-decay * float(row.time - other.touched))
            other.recent, other.touched = faded + 1.0, row.time
        else:
            other.recent += math.exp(-decay * float(other.touched - row.time))
        if other.is_ripe and self._told.every == AS_FITS:
            other.priority = self._priority(other, pool, rows, now)

    def least(
        self, pool: int, stored: list[PlainRow], newcomer: PlainRow | None, now: ScoreMoment
    ) -> PlainRow | None:
        """The mature row of lowest priority, as last computed; the older of equals."""
        told = self._told
        maturity = float(told.maturity_us)
        if told.maturity_us < 0:
            maturity = self.MATURITY * self._stay(pool, stored, now)
        for row in stored:
            if float(now.time - row.time) > maturity and not row.is_ripe:
                row.is_ripe = True
                row.priority = self._priority(row, pool, stored, now)
                if row.arriving and not math.isnan(told.initial):
                    row.priority = told.initial * row.importance[now.definition]
        if self._is_time_to_compute(pool, len(stored)):
            self.computed[pool] += 1
            self._decisions[pool] = 0
            for row in stored:
                if row.is_ripe:
                    row.priority = self._priority(row, pool, stored, now)
        self._decisions[pool] += 1
        self._made_before[pool], self._made[pool] = self._made[pool], 0.0
        while ripe := [row for row in stored if row.is_ripe]:
            least = min(ripe, key=lambda row: (row.priority, row.position))
            if float(now.time - least.time) > maturity:
                return least
            least.is_ripe = False  # the stay has grown since it became mature
        return None

    def _pool_of(self, row: PlainRow) -> int:
        return 0 if self.terms.pooled else row.side

    def _is_time_to_compute(self, pool: int, stored: int) -> bool:
        told = self._told
        if told.every == AS_NEEDED:
            return self._made[pool] < (1.0 - told.epsilon) * self._made_before[pool]
        every = max(stored // self.SHARE, 1) if told.every == AS_FITS else told.every
        return self._decisions[pool] >= every

    def _stay(self, pool: int, stored: Sequence[PlainRow], now: ScoreMoment) -> float:
        """Average time that a row of the pool is stored, in microseconds."""
        sides = [side for side in (0, 1) if self.terms.pooled or side == pool]
        arrived = max(sum(now.seen[side] for side in sides), 1)
        longest = max(1.0, *(float(self.terms.windows[side].span) for side in sides))
        rows = self.terms.most_rows[pool]
        rows = len(stored) if rows >= UNLIMITED else rows
        stay = float(now.time - self._began) * float(rows) / float(arrived)
        return max(min(stay, longest), 1.0)

    def _rates(
        self, pool: int, stored: Sequence[PlainRow], now: ScoreMoment
    ) -> tuple[float, float, float]:
        """Decay per microsecond, idle time that makes a row unproductive, penalty per second."""
        told, stay = self._told, self._stay(pool, stored, now)
        decay = told.decay * 1e-6 if told.decay >= 0 else self.DECAY / stay
        unproductive = float(told.unproductive_us)
        if told.unproductive_us < 0:
            unproductive = self.UNPRODUCTIVE * stay
        penalty, seconds = told.penalty, stay * 1e-6
        if penalty < 0:
            mean = self._importance / float(max(sum(now.seen), 1))
            penalty = self.PENALTY * mean / (seconds * seconds)
        return decay, unproductive, penalty

    def _priority(
        self, row: PlainRow, pool: int, stored: Sequence[PlainRow], now: ScoreMoment
    ) -> float:
        """Importance × decayed matches ÷ age, minus the penalty of unproductive rows."""
        decay, unproductive, penalty = self._rates(pool, stored, now)
        idle, worth = float(now.time - row.touched), 0.0
        if row.recent > 0:
            age = max(float(now.time - row.time), 1.0) * 1e-6
            matches = row.recent * math.exp(-decay * idle)
            worth = row.importance[now.definition] * matches / age
        if idle >= unproductive:
            worth -= penalty * (idle * 1e-6)
        return worth


class ResidenceKind(Kind):
    """A heap of the mature rows, recomputed from time to time."""

    name = "residence"
    keeps_history = True
    goes_by_history = True
    reads_partners = True
    reads_importance = True
    plain = PlainResidenceScore
    enter, build, worst, on_pairs = enter, build, worst, on_pairs

    @staticmethod
    def arrays(given: Given) -> Residences:
        """Thresholds and rates, and the arrivals so far."""
        before: Residing = given.progress.residence
        residence, rounds = np.zeros(1, RESIDENCE), np.zeros(2, ROUND)
        for name, value in given.policy.residence._asdict().items():
            residence[name] = value
        residence["began"] = before.began
        residence["importance"] = before.importance
        rounds["bound"] = np.inf
        rounds["decisions"] = before.decisions
        rounds["made"] = before.made
        rounds["made_before"] = before.made_before
        return Residences(residence, rounds, np.array([0, given.left_rows], np.int64))

    @staticmethod
    @cache
    def no_arrays() -> Residences:
        """No priorities."""
        return Residences(np.zeros(1, RESIDENCE), np.zeros(2, ROUND), np.zeros(2, np.int64))

    @staticmethod
    def progress(arrays: Any, own: Residences) -> dict[str, Any]:
        """The state for the next step."""
        told, rounds = own.residence, own.rounds
        residing = Residing(
            int(told["began"][0]),
            float(told["importance"][0]),
            tuple(rounds["decisions"].tolist()),
            tuple(rounds["made"].tolist()),
            tuple(rounds["made_before"].tolist()),
        )
        return {"residence": residing}


@dataclass(frozen=True)
class ResidenceScore(Policy):
    """Base of policies that score recent matches divided by age.

    The score falls as time passes, differently for each row, so no order lasts: all scores are
    recomputed from time to time.
    """

    kind: ClassVar[type[Kind]] = ResidenceKind
    takes_newcomers: ClassVar[bool] = True

    @property
    @abstractmethod
    def residence(self) -> Residence:
        """The thresholds and rates."""
