"""Replaying a whole input in process, in steps small enough to stay in fast memory.

Cutting the input anywhere changes nothing, so a long input is cut: what a step works on stays near
the size of what is stored, and the kernel near the speed of the cache.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from time import process_time
from typing import Any

import numpy as np

from headgate.engine.stats import Stats
from headgate.kernel.event_order import event_order
from headgate.kernel.pairs import PairBlock
from headgate.kernel.progress import NO_WATERMARK, Progress
from headgate.kernel.rows import Batch
from headgate.kernel.step import Step
from headgate.kernel.terms import Terms
from headgate.learning import Evidence, Monitor
from headgate.learning.learner import LearningStep
from headgate.learning.rivals import BothRows
from headgate.learning.watched_rows import OpenRows
from headgate.pacing.pacer import Pacer, PaceState, Passed, covered_s
from headgate.spec.quantity import SECOND_US

ROWS_AT_ONCE = 1 << 17
LEARNING_ROWS_AT_ONCE = 1 << 11
OBSERVED_ROWS_AT_ONCE = 1 << 8
PACED_STEPS = 64
"""Where processor time is limited, what a step took corrects the next: there should be some."""


class Replay:
    """A replay under way: iterate `pairs`, then read `stats`.

    Parameters
    ----------
    terms
        Windows, policy and limits.
    left, right
        All rows of each side; none with a null time.
    codes
        How many different key codes there are.
    monitor
        Learns as the replay goes on, where given.
    key_bytes
        Bytes of a key, for the room its count takes.
    pacer
        Keeps the replay within its processor time, where that is limited.
    before_s
        Processor time already taken for the rows, by all of them alike.
    learning_rows
        Rows after which a monitor first has a say; fewer where each stands for many.
    most_at_once
        Rows in a step at most; as many as is quick when left out.
    """

    def __init__(
        self,
        terms: Terms,
        left: Batch,
        right: Batch,
        codes: int,
        monitor: Monitor | None = None,
        key_bytes: int = 8,
        pacer: Pacer | None = None,
        before_s: float = 0.0,
        learning_rows: int = LEARNING_ROWS_AT_ONCE,
        most_at_once: int | None = None,
    ) -> None:
        self._terms, self._codes = terms, codes
        self._pacer, self._pacing = pacer, PaceState()
        self._before_row_s = before_s / max(len(left.time) + len(right.time), 1)
        self._sides = (left, right)
        self._monitor, self._key_bytes = monitor, key_bytes
        self._learning_rows, self._most_at_once = learning_rows, most_at_once
        self._open = OpenRows.none()
        self._tracked = np.empty(0, np.int64)
        self._rivals: BothRows | None = None
        self.stats = Stats()
        self.let_in = (0, 0)
        """Rows of each side that there was time to look at."""
        self.followed: Counter[str] = Counter()
        """How many arrivals were judged by each policy."""

    @property
    def evidence(self) -> Evidence | None:
        """What the watched rows have to say of recall."""
        return None if self._monitor is None else self._monitor.finished + self._open.evidence

    def pairs(self) -> Iterator[PairBlock]:
        """Pairs in blocks: row numbers of the left side and of the right side, as given."""
        stored = [np.empty(0, np.int64), np.empty(0, np.int64)]
        kept = (Batch.empty(), Batch.empty())
        progress = Progress()
        began = process_time()
        for arriving in self._cuts(stored):
            times = tuple(
                side.time[numbers] for side, numbers in zip(self._sides, arriving, strict=True)
            )
            terms, came = self._terms_at(times), (len(arriving[0]), len(arriving[1]))
            arrived = came
            span_s = covered_s(progress, (times[0], times[1]))
            if self._pacer is not None:
                admitted = self._pacer.admit(
                    self._pacing, terms.seed, arriving, span_s, elapsed_s=span_s
                )
                left, right = admitted.inside
                arriving = (arriving[0][left], arriving[1][right])
                arrived = (len(arriving[0]), len(arriving[1]))
                terms = replace(terms, pace=admitted.pace)
            rows = tuple(
                side.take(numbers) for side, numbers in zip(self._sides, arriving, strict=True)
            )
            learning = self._learning_step(terms, kept, (rows[0], rows[1]), progress)
            step = (
                Step(terms, kept, (rows[0], rows[1]), self._codes, progress)
                if learning is None
                else learning.step
            )
            numbers = [np.concatenate(both) for both in zip(stored, arriving, strict=True)]
            for block in step.pairs():
                yield block._replace(left=numbers[0][block.left], right=numbers[1][block.right])
            if learning is not None:
                self._open, self._tracked, _, self._rivals = learning.finish()
                self.followed[learning.policy.label] += len(arriving[0]) + len(arriving[1])
                rows = tuple(
                    side._replace(weight=weight)
                    for side, weight in zip(rows, learning.weights, strict=True)
                )
            kept = (survivors(step, 0, kept[0], rows[0]), survivors(step, 1, kept[1], rows[1]))
            stored[:] = [numbers[side][step.alive(side)] for side in (0, 1)]
            progress = step.after
            self.let_in = progress.seen
            self.stats = self.stats.then(Stats.of_step(step, *came).with_dropped(arrived, came))
            if self._pacer is not None:
                now = process_time()
                seconds = now - began + sum(came) * self._before_row_s
                passed = Passed.of_step(step, arrived, seconds)
                self._pacing = self._pacer.after(self._pacing, passed, span_s, span_s)
                began = now

    def _terms_at(self, times: tuple[np.ndarray, ...]) -> Terms:
        """The terms of a step with arrivals at these times."""
        return self._terms

    def _learning_step(
        self,
        terms: Terms,
        kept: tuple[Batch, Batch],
        arriving: tuple[Batch, Batch],
        progress: Progress,
    ) -> LearningStep | None:
        if self._monitor is None:
            return None
        return self._make_step(
            terms,
            kept,
            arriving,
            self._codes,
            progress,
            NO_WATERMARK,
            False,
            self._monitor,
            self._open,
            self._tracked,
            self._key_bytes,
            self._rivals,
        )

    def _make_step(self, *given: Any) -> LearningStep:
        """A step that learns, from what `LearningStep` takes."""
        return LearningStep(*given)

    def _paced_rows(self, size: int, time: np.ndarray) -> int:
        """How many rows to take at once where processor time is limited, rather than so many."""
        assert self._pacer is not None
        rate = len(time) / max(int(time.max() - time.min()) / SECOND_US, 1e-6)
        least = int(rate * self._pacer.least_s(self._pacing))
        return max(min(size, len(time) // PACED_STEPS), least, 1)

    def total_importance(self) -> float:
        """Of all pairs, without keeping any; for terms without limits."""
        for _ in self.pairs():
            pass
        return self.stats.importance

    def count_pairs(self) -> int:
        """Number of pairs, without listing them; for terms without limits."""
        step = Step(self._terms, (Batch.empty(), Batch.empty()), self._sides, self._codes)
        return step.count_pairs()

    def _cuts(self, stored: list[np.ndarray]) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Row numbers of each side for step after step, in event order."""
        left, right = (side.time for side in self._sides)
        time = np.concatenate([left, right])
        side = np.repeat(np.array([0, 1], np.uint8), [len(left), len(right)])
        order = event_order(time, side)
        at = 0
        while at < len(order):
            size = max(ROWS_AT_ONCE, 2 * (len(stored[0]) + len(stored[1])))
            if self._monitor is not None:
                rows = len(stored[0]) + len(stored[1])
                size = min(size, most_to_learn_from(at, rows, self._learning_rows))
            elif self._terms.policy.observes:
                size = most_to_observe(len(stored[0]) + len(stored[1]))
            if self._pacer is not None:
                size = self._paced_rows(size, time)
            size = size if self._most_at_once is None else min(size, self._most_at_once)
            part = order[at : at + size]
            of_right = part >= len(left)
            yield part[~of_right], part[of_right] - len(left)
            at += size


def observed_rates(left: Batch, right: Batch) -> tuple[float, float]:
    """Rows of each side a second, over the event time that both cover."""
    times = [side.time for side in (left, right) if len(side.time)]
    if not times:
        return 0.0, 0.0
    lasts = max(int(time.max()) for time in times) - min(int(time.min()) for time in times)
    seconds = max(lasts / SECOND_US, 1e-6)
    return len(left.time) / seconds, len(right.time) / seconds


def most_to_learn_from(seen: int, stored: int, least: int = LEARNING_ROWS_AT_ONCE) -> int:
    """Rows after which to look at the models again.

    Early on there is much to learn, later they change little; but what is hot may be something else
    once all that is stored was replaced a few times. Every step takes up all that is stored, so it
    should bring as much.
    """
    return max(least, 2 * stored, min(seen // 8, 6 * stored))


def most_to_observe(stored: int) -> int:
    """Rows after which a policy looks at what became of those it kept."""
    return max(OBSERVED_ROWS_AT_ONCE, 2 * stored)


def survivors(step: Step, side: int, stored: Batch, arriving: Batch) -> Batch:
    """The rows of a side that are stored after a step, as the next step wants them."""
    alive = step.alive(side)
    time, code, size, weight = (
        np.concatenate(both)[alive] for both in zip(stored[:4], arriving[:4], strict=True)
    )
    sequence = step.sequences(side)[alive]
    matches, touched, recent = np.zeros(len(time), np.int32), time, None
    if step.keeps_history:
        matches, touched = (column[alive] for column in step.histories(side))
        recent = step.recent(side)[alive]
    importance = None
    if arriving.importance is not None:
        both = [part.importance for part in (stored, arriving) if part.importance is not None]
        importance = np.concatenate(both, axis=1)[:, alive]
    # Nothing stored yet has no type either, and must not turn whole numbers into real ones.
    value = np.concatenate([stored.value.astype(arriving.value.dtype), arriving.value])
    return Batch(
        time,
        code,
        size,
        weight,
        sequence,
        matches,
        touched,
        value[alive] if value.size else value,
        importance=importance,
        recent=recent,
    )
