"""Runs the trials of rival policies in a step, within their share of memory."""

import numpy as np

from headgate.kernel.step import Step
from headgate.kernel.step_input import StepInput
from headgate.learning import Monitor
from headgate.learning.key_worth import Worth
from headgate.learning.monitor import KEYS_A_ROW
from headgate.learning.rivals import BothRows, RivalRows, Round, coins
from headgate.learning.standing import Standing
from headgate.policies.learned import BY_KEY, Learned
from headgate.spec.budget import UNLIMITED

ALIKE = 2.5
"""Rivals store many of the same rows: so many times what each may store, all together have."""


class Trial:
    """Trial of the rival policies in one step.

    Parameters
    ----------
    given
        What the join's own step is given.
    policy
        That of its terms.
    rows
        What the rivals stored after the step before; None before the first trial.
    """

    def __init__(self, given: StepInput, policy: Learned, rows: BothRows | None) -> None:
        self._given = given
        self._policy, self._names = policy, policy.rivals(given.terms.windows)
        self._rows = rows

    def play(
        self, monitor: Monitor, worth: Worth, step: Step, most: int, key_bytes: int
    ) -> BothRows | None:
        """Once the join has had its step: let the rivals have theirs; what they store after it.

        Nothing is tried before memory first runs full: until then all policies do the same, and
        there are no rows to hand on. ``most`` is how many rows they may be tried on, ``key_bytes``
        the most that a key takes.
        """
        capacity = self._capacity()
        stored_rows = [len(rows.time) for rows in self._given.stored]
        came = sum(len(rows.time) for rows in self._given.arriving)
        full = sum(stored_rows) + came > capacity or monitor.tried > 0
        if not most or not full:
            return None
        # Rows say by number which rival stores them, so they are of use to the same rivals alone.
        rows = self._rows if monitor.standing.names == self._names else None
        if not came:
            return rows and _fitting((rows[0].unmoved(), rows[1].unmoved()), monitor, most)
        if monitor.standing.names != self._names:
            monitor.standing = Standing(self._names, self._costs(monitor, capacity, key_bytes))
            monitor.tried = min(1.0, most / (ALIKE * capacity))
        weights = None if worth.by_code is None else worth.by_code.ravel()
        left, right = (step.sequences(side)[stored_rows[side] :] for side in (0, 1))
        rows, made = Round(self._given, (left, right), monitor.seed, monitor.tried).play(
            tuple(self._policy.named(name, worth.curves, weights) for name in self._names),
            rows or (RivalRows.none(len(self._names)), RivalRows.none(len(self._names))),
            worth.weighed,
        )
        monitor.standing.add(made)
        return _fitting(rows, monitor, most)

    def _costs(self, monitor: Monitor, capacity: float, key_bytes: int) -> tuple[float, ...]:
        """What following each rival costs, as a share of what the join stores: counts of keys."""
        needs = [monitor.room.needed(by_key).most_keys(key_bytes) for by_key in (False, True)]
        part = (needs[1] - needs[0]) / KEYS_A_ROW / capacity
        return tuple(part if name in BY_KEY else 0.0 for name in self._names)

    def _capacity(self) -> float:
        """Approximate number of rows the join can store."""
        terms = self._given.terms
        sizes = np.concatenate([rows.size for rows in self._given.arriving])
        pools = (0,) if terms.pooled else (0, 1)
        rows = float(sum(terms.most_rows[pool] for pool in pools))
        size = float(sum(terms.most_bytes[pool] for pool in pools))
        if not len(sizes) or size >= UNLIMITED:
            return rows
        return min(rows, size / max(float(sizes.mean()), 1.0))


def _fitting(rows: BothRows, monitor: Monitor, most: int) -> BothRows:
    """The rows, fewer of them where they take more than their room; the share says how many."""
    while len(rows[0].time) + len(rows[1].time) > most:
        share = monitor.tried / 2
        left, right = (
            side.where(coins(monitor.seed, which, side.sequence) < share)
            for which, side in enumerate(rows)
        )
        # What was made with twice as many rows counts for half.
        monitor.standing.forget(0.5)
        monitor.tried, rows = share, (left, right)
    return rows
