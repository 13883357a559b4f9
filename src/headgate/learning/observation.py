"""What a step shows of the watched rows, added to the open epoch."""

from typing import NamedTuple

import numpy as np

from headgate.kernel.step_progress import StepProgress
from headgate.learning.evidence import Evidence
from headgate.learning.key_worth import KeyWorth
from headgate.learning.model_fit import Judged
from headgate.learning.monitor import Monitor
from headgate.learning.result_rows import ResultRows
from headgate.learning.watch_room import Spans
from headgate.learning.watched_rows import Observed, WatchedRows
from headgate.policies.structures.ordered_sums import in_order


class Observation(NamedTuple):
    """A step as it is observed.

    Sums run by side in the order in which rows came, which is the order in which their windows
    pass. So they are the same wherever steps are cut.

    Parameters
    ----------
    worth
        The models that are judged by what rows met.
    result
        What the rows of the join's result are.
    before, after
        How far the join had come before the step, and after it.
    most_examples
        How many rows whose window has passed are kept for what their columns tell.
    """

    monitor: Monitor
    spans: Spans
    worth: KeyWorth
    result: ResultRows
    before: StepProgress
    after: StepProgress
    most_examples: int = 0

    def take_in(self, side: int, seen: Observed, ages: np.ndarray) -> WatchedRows:
        """Add a side's watched rows to the epoch, and those whose window passed to the evidence.

        Returns the rows to watch on: those whose window is open, and those that a row out of order
        could still meet.
        """
        epoch, rows = self.monitor.epoch, seen.rows
        before_us, after_us = self.before.clock >> 1, self.after.clock >> 1
        since = np.where(seen.is_new, 0, np.maximum(before_us - rows.time, 0))
        until = np.maximum(after_us - rows.time, since)
        epoch.matches[side] += ages
        epoch.watched_us[side] += self.monitor.ages.followed(side, since, until)
        was_past = ~seen.is_new & self.spans.are_past(rows, self.before)
        is_past = self.spans.are_past(rows, self.after)
        passed = rows.where(is_past & ~was_past)
        in_order = passed.in_order()
        self._add_evidence(side, in_order)
        columns = self.monitor.columns
        if columns.learns:
            columns.take_in(passed.examples, self.most_examples)
        self._add_late(side, seen, was_past)
        self._add_settled(side, seen)
        self._add_clusters(side, seen)
        self.judge(side, in_order)
        return rows.where(~is_past | seen.is_open)

    def judge(self, side: int, rows: WatchedRows) -> None:
        """Score how well each model predicted what rows met in this epoch, up to now."""
        curves, epoch = self.worth.curves, self.monitor.epoch
        if self.worth.levels is None or not len(rows.time):
            return
        window, began_us = self.spans.spans[side], epoch.began_us or 0
        since = np.clip(began_us - rows.time, 0, window)
        until = np.clip((self.after.clock >> 1) - rows.time, since, window)
        met = (rows.met - rows.before) * rows.let_in
        if self.worth.has_tail:
            epoch.add_tail(side, self.worth.tail_classes(rows.code), met, until - since)
        if curves is None:
            return
        ages, total = curves[side].ages, curves[side].cumulative
        judged = self.monitor.fit.judged(
            Judged(
                met=met,
                by_age=np.interp(until, ages, total) - np.interp(since, ages, total),
                weight=self.worth.weights(side, rows.code),
                watched_us=until - since,
                importance=rows.importance,
            )
        )
        for place, more in enumerate(judged):
            epoch.judged[side, place] = in_order(epoch.judged[side, place], more)

    def _add_evidence(self, side: int, rows: WatchedRows) -> None:
        found = self.result.matched(rows.met, rows.made, rows.fate)
        self._add(side, Evidence.terms(*found, rows.share))

    def _add_late(self, side: int, seen: Observed, was_past: np.ndarray) -> None:
        """What rows that had passed have met since, of rows that came out of order."""
        more = was_past & (seen.rows.met != seen.before.met)
        if not more.any():
            return
        now, then = (
            Evidence.terms(*self.result.matched(rows.met, rows.made, rows.fate), rows.share)
            for rows in (seen.rows.where(more), seen.before.where(more))
        )
        self._add(side, now - then)

    def _add_settled(self, side: int, seen: Observed) -> None:
        """Rows that none can meet any more: whether they have a partner is known."""
        if self.result.by_row and self.result.wait:
            rows = seen.rows.where(seen.is_settled).in_order()
            found = self.result.unmatched(side, rows.met, rows.fate)
            self.monitor.alone = _sum(self.monitor.alone, Evidence.terms(*found, rows.share))

    def _add_clusters(self, side: int, seen: Observed) -> None:
        """Likewise, of rows that are watched by their key."""
        if self.result.by_key:
            rows = seen.rows.where(seen.is_settled & (seen.rows.by_key > 0)).in_order()
            keys = self.monitor.followed_keys
            found = self.result.drawn_by_key(side, rows.met, rows.fate)
            sides = list(keys.sums)
            sides[side] = sides[side].then(*found, rows.together)
            keys.sums = (sides[0], sides[1])

    def _add(self, side: int, terms: np.ndarray) -> None:
        sides = list(self.monitor.passed)
        sides[side] = _sum(sides[side], terms)
        self.monitor.passed = (sides[0], sides[1])


def _sum(evidence: Evidence, terms: np.ndarray) -> Evidence:
    """The evidence, and what each of some rows adds to it, in their order."""
    return Evidence(
        *(in_order(total, more) for total, more in zip(evidence.sums, terms, strict=True))
    )
