"""Residence priorities said plainly, for the twin: every rate looked up, every row looked at."""

import math
from collections.abc import Sequence
from typing import NamedTuple

from headgate.kernel.progress import Residing
from headgate.kernel.rank import priority, residence
from headgate.kernel.terms import Terms
from headgate.kernel.twin.twin_rows import Row
from headgate.policies.policy import AS_FITS, AS_NEEDED, Residence, ResidenceScore
from headgate.spec.budget import UNLIMITED


class Now(NamedTuple):
    """How far the step has come."""

    time: int
    seen: Sequence[int]
    """Rows of each side so far."""
    definition: int
    """Of importance."""


class PlainResidence:
    """What residence priorities know of the past, and what they make of rows.

    For other policies it hands on what it was given. ``computed`` counts, by pool, how often all
    priorities were.
    """

    def __init__(self, terms: Terms, before: Residing) -> None:
        self._terms = terms
        self._began, self._importance = before.began, before.importance
        self._decisions = list(before.decisions)
        self._made, self._made_before = list(before.made), list(before.made_before)
        self.computed = [0, 0]

    @property
    def after(self) -> Residing:
        """What the next step must know."""
        by_pool = (self._decisions, self._made, self._made_before)
        return Residing.of((self._began, self._importance, *by_pool))

    def note_arrival(self, row: Row, now: Now) -> None:
        """Count an arrival."""
        self._began = min(self._began, row.time)
        self._importance += row.importance[now.definition]

    def note_match(
        self, row: Row, other: Row, worth: float, pool: int, stored: Sequence[Row], now: Now
    ) -> None:
        """Bring what an arrival and its partner have brought of late up to date.

        ``stored`` are the rows of the partner's pool.
        """
        self._made = [made + worth for made in self._made]
        decay, _, _ = self._rates(pool, stored, now)
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
            other.priority = self._priority(other, pool, stored, now)

    def least(self, pool: int, stored: Sequence[Row], now: Now) -> Row | None:
        """The mature row of least priority, as last computed; the elder of equals."""
        told = self._told
        maturity = float(told.maturity_us)
        if told.maturity_us < 0:
            maturity = priority.MATURITY * self._stay(pool, stored, now)
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
            least.is_ripe = False  # stays have grown longer since it was ripe
        return None

    @property
    def _told(self) -> Residence:
        policy = self._terms.policy
        if not isinstance(policy, ResidenceScore):
            raise TypeError(f"{policy} goes by no residence priority")
        return policy.residence

    def _is_time_to_compute(self, pool: int, stored: int) -> bool:
        told = self._told
        if told.every == AS_NEEDED:
            return self._made[pool] < (1.0 - told.epsilon) * self._made_before[pool]
        every = max(stored // residence.SHARE, 1) if told.every == AS_FITS else told.every
        return self._decisions[pool] >= every

    def _stay(self, pool: int, stored: Sequence[Row], now: Now) -> float:
        """How long a row of the pool stays on average, in microseconds."""
        sides = [side for side in (0, 1) if self._terms.pooled or side == pool]
        arrived = max(sum(now.seen[side] for side in sides), 1)
        longest = max(1.0, *(float(self._terms.windows[side].span) for side in sides))
        rows = self._terms.most_rows[pool]
        rows = len(stored) if rows >= UNLIMITED else rows
        stay = float(now.time - self._began) * float(rows) / float(arrived)
        return max(min(stay, longest), 1.0)

    def _rates(self, pool: int, stored: Sequence[Row], now: Now) -> tuple[float, float, float]:
        """Decay per microsecond, idle time to be unproductive, penalty per second."""
        told, stay = self._told, self._stay(pool, stored, now)
        decay = told.decay * 1e-6 if told.decay >= 0 else priority.DECAY / stay
        unproductive = float(told.unproductive_us)
        if told.unproductive_us < 0:
            unproductive = priority.UNPRODUCTIVE * stay
        penalty, seconds = told.penalty, stay * 1e-6
        if penalty < 0:
            mean = self._importance / float(max(sum(now.seen), 1))
            penalty = priority.PENALTY * mean / (seconds * seconds)
        return decay, unproductive, penalty

    def _priority(self, row: Row, pool: int, stored: Sequence[Row], now: Now) -> float:
        """Importance × matches of late ÷ age, less the penalty of the unproductive."""
        decay, unproductive, penalty = self._rates(pool, stored, now)
        idle, worth = float(now.time - row.touched), 0.0
        if row.recent > 0:
            age = max(float(now.time - row.time), 1.0) * 1e-6
            matches = row.recent * math.exp(-decay * idle)
            worth = row.importance[now.definition] * matches / age
        if idle >= unproductive:
            worth -= penalty * (idle * 1e-6)
        return worth
