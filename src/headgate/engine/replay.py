"""In-process replay of a whole input, in steps small enough for the CPU caches.

Results do not depend on where the input is cut, so a long input is cut into steps whose data is not
much larger than the stored rows, and the kernel runs near cache speed.
"""

from collections import Counter
from collections.abc import Callable, Iterator

import numpy as np

from headgate.engine.coding import FixedCoding
from headgate.engine.driver import Driver
from headgate.engine.placed_rows import Numbers, PlacedRows, Screened
from headgate.engine.rows_at_end import RowsAtEnd, still_stored
from headgate.engine.stats import Stats
from headgate.kernel.event_order import event_order
from headgate.kernel.given_up import hashes_of_codes
from headgate.kernel.layout import NULL_KEY
from headgate.kernel.pair_block import PairBlock
from headgate.kernel.rows import Rows
from headgate.kernel.step import Step
from headgate.kernel.step_input import StepInput
from headgate.kernel.terms import Terms
from headgate.learning.learner import Learner
from headgate.learning.result_rows import ResultRows
from headgate.learning.watch_room import Coming
from headgate.pacing.event_pacing import EventPacing
from headgate.spec.quantity import SECOND_US

ROWS_AT_ONCE = 1 << 17
STRETCH = 2
"""A step may be larger by one part in so many where that ends an epoch."""
PACED_STEPS = 64
"""Fewest steps under a CPU limit, where the time a step took corrects the next."""


class Replay:
    """Replay of a whole input: iterate `pairs` first, then read `stats`.

    Parameters
    ----------
    terms
        Windows, policy and limits.
    left, right
        All rows of each side; none with a null time.
    codes
        How many different key codes there are.
    learner
        Learns as the replay goes on, where given.
    pacing
        Keeps the replay within its processor time, where that is limited.
    terms_at
        The terms of a step with arrivals at some times, where they are not always the same.
    most_at_once
        Rows in a step at most; as many as is quick when left out.
    hashes
        A stable hash of each code's key, for joins that are not inner.
    """

    def __init__(
        self,
        terms: Terms,
        left: Rows,
        right: Rows,
        codes: int,
        *,
        learner: Learner | None = None,
        pacing: EventPacing | None = None,
        terms_at: Callable[[Numbers], Terms] | None = None,
        most_at_once: int | None = None,
        hashes: np.ndarray | None = None,
    ) -> None:
        self._terms, self._codes, self._sides = terms, codes, (left, right)
        self._hashes = hashes
        self._terms_at = terms_at or (lambda _: terms)
        self._pacing, self._most_at_once = pacing, most_at_once
        nothing = PlacedRows(np.empty(0, np.int64), Rows.empty())
        coding = FixedCoding[PlacedRows](codes, learner, hashes)
        self._at_end: list[RowsAtEnd] = []
        self._driver = Driver[PlacedRows](coding, (nothing, nothing), pacing=pacing)

    @property
    def stats(self) -> Stats:
        """What happened so far."""
        stats = self._driver.stats
        for decided in self._at_end:
            stats = decided.counted(stats)
        return stats

    @property
    def let_in(self) -> tuple[int, int]:
        """Rows of each side admitted within the CPU budget."""
        return self._driver.progress.seen

    @property
    def followed(self) -> Counter[str]:
        """How many arrivals each policy handled, where the policy is learned."""
        return self._driver.followed

    def pairs(self) -> Iterator[PairBlock]:
        """Pairs in blocks: row numbers of the left side and of the right side, as given.

        Rows that come out alone are in blocks of their own.
        """
        for numbers in self._cuts():
            left, right = (
                Screened(PlacedRows(own, side.take(own)))
                for side, own in zip(self._sides, numbers, strict=True)
            )
            step = self._driver.begin(self._terms_at((left.time, right.time)), (left, right))
            yield from step.pairs()
            self._driver.finish(step)
            self._driver.keep(step)
        self._at_end = still_stored(self._terms, self._driver.stored)
        for decided in self._at_end:
            yield from decided.shown(self._terms.shows_undecided)

    def _keys(self) -> np.ndarray | None:
        """The hashes of the rows' keys, where the join follows keys."""
        if not ResultRows.of(self._terms).by_key:
            return None
        hashes = hashes_of_codes(self._codes) if self._hashes is None else self._hashes
        codes = np.concatenate([side.code for side in self._sides])
        keys: np.ndarray = np.append(hashes, np.uint64(0))[codes]  # the last stands for null
        return keys

    def _step_rows(self, time: np.ndarray) -> int:
        """How many of the rows with these times to take at once."""
        size = max(ROWS_AT_ONCE, 2 * self._driver.stored_rows)
        if self._pacing is not None:
            rate = len(time) / max(int(time.max() - time.min()) / SECOND_US, 1e-6)
            least = int(rate * self._pacing.least_s())
            size = max(min(size, len(time) // PACED_STEPS), least, 1)
        return size if self._most_at_once is None else min(size, self._most_at_once)

    def total(self) -> Stats:
        """The stats of the whole replay, without keeping any pair."""
        for _ in self.pairs():
            pass
        return self.stats

    def count_pairs(self) -> int:
        """Number of pairs, without listing them; for inner joins without limits."""
        nothing = (Rows.empty(), Rows.empty())
        return Step(StepInput(self._terms, nothing, self._sides, self._codes)).count_pairs()

    def _cuts(self) -> Iterator[Numbers]:
        """Row numbers of each side for step after step, in event order."""
        left, right = (side.time for side in self._sides)
        time = np.concatenate([left, right])
        side = np.repeat(np.array([0, 1], np.uint8), [len(left), len(right)])
        order = event_order(time, side)
        coming = None
        if self._driver.looks_ahead(self._terms):
            joins = np.concatenate([rows.code != NULL_KEY for rows in self._sides])
            key = self._keys()
            ordered = None if key is None else key[order]
            coming = Coming(side[order], time[order], joins[order], ordered)
        are_in_order = [bool(np.all(own[1:] >= own[:-1])) for own in (left, right)]
        at, begun = 0, [0, 0]
        while at < len(order):
            size = self._step_rows(time)
            if coming is not None:
                # Better a somewhat larger step than one more, which takes up all stored rows for
                # the few arrivals left of an epoch.
                wanted = size if self._most_at_once else size + size // STRETCH
                until = self._driver.most_at_once(self._terms, coming.after(at).first(wanted))
                size = until if until < wanted else size
            part = order[at : at + size]
            of_right = part >= len(left)
            rights = int(np.count_nonzero(of_right))
            ends = [begun[0] + len(part) - rights, begun[1] + rights]
            yield (
                np.arange(begun[0], ends[0]) if are_in_order[0] else part[~of_right],
                np.arange(begun[1], ends[1]) if are_in_order[1] else part[of_right] - len(left),
            )
            at, begun = at + len(part), ends


def observed_rates(left: Rows, right: Rows) -> tuple[float, float]:
    """Rows of each side a second, over the event time that both cover."""
    times = [side.time for side in (left, right) if len(side.time)]
    if not times:
        return 0.0, 0.0
    lasts = max(int(time.max()) for time in times) - min(int(time.min()) for time in times)
    seconds = max(lasts / SECOND_US, 1e-6)
    return len(left.time) / seconds, len(right.time) / seconds
