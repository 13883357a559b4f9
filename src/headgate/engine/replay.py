"""Replaying a whole input in process, in steps small enough to stay in fast memory.

Cutting the input anywhere changes nothing, so a long input is cut: what a step works on stays near
the size of what is stored, and the kernel near the speed of the cache.
"""

from collections.abc import Iterator

import numpy as np

from headgate.engine.arrange import event_order
from headgate.engine.stats import Stats
from headgate.engine.step import Batch, Progress, Step, Terms

ROWS_AT_ONCE = 1 << 17


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
    """

    def __init__(self, terms: Terms, left: Batch, right: Batch, codes: int) -> None:
        self._terms, self._codes = terms, codes
        self._sides = (left, right)
        self.stats = Stats()

    def pairs(self) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Pairs in blocks: row numbers of the left side and of the right side, as given."""
        stored = [np.empty(0, np.int64), np.empty(0, np.int64)]
        kept = (Batch.empty(), Batch.empty())
        progress = Progress()
        for arriving in self._cuts(stored):
            rows = tuple(
                side.take(numbers) for side, numbers in zip(self._sides, arriving, strict=True)
            )
            step = Step(self._terms, kept, (rows[0], rows[1]), self._codes, progress)
            numbers = [np.concatenate(both) for both in zip(stored, arriving, strict=True)]
            for left, right in step.pairs():
                yield numbers[0][left], numbers[1][right]
            kept = (survivors(step, 0, kept[0], rows[0]), survivors(step, 1, kept[1], rows[1]))
            stored[:] = [numbers[side][step.alive(side)] for side in (0, 1)]
            progress = step.after
            self.stats = self.stats.then(
                Stats.of_counts(
                    step.counts,
                    len(arriving[0]),
                    len(arriving[1]),
                    (step.stored_rows, step.stored_bytes),
                )
            )

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
            part = order[at : at + size]
            of_right = part >= len(left)
            yield part[~of_right], part[of_right] - len(left)
            at += size


def survivors(step: Step, side: int, stored: Batch, arriving: Batch) -> Batch:
    """The rows of a side that are stored after a step, as the next step wants them."""
    alive = step.alive(side)
    matches, touched = step.histories(side)
    time, code, size, weight = (
        np.concatenate(both)[alive] for both in zip(stored[:4], arriving[:4], strict=True)
    )
    sequence = step.sequences(side)[alive]
    # Nothing stored yet has no type either, and must not turn whole numbers into real ones.
    value = np.concatenate([stored.value.astype(arriving.value.dtype), arriving.value])
    return Batch(
        time,
        code,
        size,
        weight,
        sequence,
        matches[alive],
        touched[alive],
        value[alive] if value.size else value,
    )
