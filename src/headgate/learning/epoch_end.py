"""The end of an epoch: models take in what it showed, and the next one is set up."""

from typing import NamedTuple

import numpy as np

from headgate.kernel.step_progress import StepProgress
from headgate.kernel.terms import Terms
from headgate.learning.epoch import Epoch, capacity_of, epoch_rows
from headgate.learning.key_counts import most_frequent, padded, short
from headgate.learning.learned_rows import LearnedRows
from headgate.learning.monitor import Monitor
from headgate.learning.observation import Observation
from headgate.learning.rival_list import ages_together
from headgate.learning.rival_round import RivalRows
from headgate.learning.standing import LEAST_GAIN
from headgate.learning.trial import begin_trial, choose_rivals, end_trial, fitting, sharing
from headgate.learning.watch_limits import WatchLimits
from headgate.policies.age import Age
from headgate.policies.density import Density
from headgate.policies.features import Features
from headgate.policies.learned import BY_KEY, KEEP_HISTORY, Learned
from headgate.policies.policy import Policy
from headgate.policies.prob import Prob
from headgate.policies.random import Random
from headgate.spec import RowWindow

STEADY_STAYS = 10.0
"""Stays for which a policy must have been followed before room is taken from the others."""
LEAST_SHARE = 0.01
"""Of the windows that memory is thought to hold, where models by columns are judged."""
JUDGED = (Random.name, Prob.name, Age.name)
"""The policies like the models beside which columns are judged, or where these know nothing."""
NEARLY = 0.8
"""Of the memory: what fills it may fill all of it."""


class Ended(NamedTuple):
    """An epoch at its end."""

    terms: Terms
    """Of the join, with the policy that was asked for."""
    after: StepProgress
    key_bytes: int
    """The most that a key takes."""
    epoch: Epoch

    @property
    def arrived(self) -> int:
        """Rows of both sides that came in it."""
        return sum(self.after.seen) - sum(self.epoch.seen)

    @property
    def capacity(self) -> int:
        """About how many rows can be stored."""
        size = self.epoch.bytes / self.arrived if self.arrived else 0.0
        return max(capacity_of(self.terms, size), 1)

    @property
    def stored(self) -> int:
        """About how many rows are stored."""
        return max(min(self.capacity, sum(self.after.seen)), 1)

    @property
    def lived_us(self) -> int:
        """The event time that it took."""
        began = self.epoch.began_us
        return 0 if began is None else (self.after.clock >> 1) - began

    @property
    def is_pressed(self) -> bool:
        """Whether memory has run full, or will at the present rate."""
        if self.epoch.lost:
            return True
        return self.held > NEARLY * self.capacity

    @property
    def held(self) -> float:
        """How many rows the windows hold at the rate of this epoch."""
        lived = max(self.lived_us, 1)
        held = 0.0
        for side, window in enumerate(self.terms.windows):
            came = self.after.seen[side] - self.epoch.seen[side]
            by_rows = isinstance(window, RowWindow)
            held += window.span if by_rows else came * window.span / lived
        return held

    def windows_passed(self, by_rows: tuple[bool, bool]) -> float:
        """How many windows have passed, by the longer of the two."""
        spans = [window.span for window in self.terms.windows]
        side = int(np.argmax(spans))
        if not spans[side]:
            return 0.0
        came = self.after.seen[side] - self.epoch.seen[side]
        return (came if by_rows[side] else self.lived_us) / spans[side]


def close(monitor: Monitor, rows: LearnedRows, ended: Ended, seen: Observation) -> LearnedRows:
    """Learn from an epoch, and begin the next; the rows and keys that are kept for it."""
    had_models = monitor.knows_keys or monitor.curves() is not None
    is_open = ~seen.spans.are_past(rows.watched, ended.after)
    still_open = rows.watched.where(is_open).in_order()
    for side in (0, 1):
        seen.judge(side, still_open.of_side(side))
    came = sum(ended.after.seen) - monitor.woken_at
    windows = ended.windows_passed(monitor.by_rows)
    monitor.forget(
        windows,
        float(ended.lived_us),
        ended.arrived,
        ended.stored,
        before=1 - ended.arrived / max(came, ended.arrived, 1),
    )
    waits = monitor.take_in(ended.epoch)
    if monitor.columns.learns:
        share = min(max(ended.capacity / max(ended.held, 1.0), LEAST_SHARE), 1.0)
        now = ended.after.clock >> 1
        monitor.columns.learn(still_open.examples, now, share, seen.most_examples)
    monitor.importance = sum(ended.epoch.importance) / max(ended.arrived, 1)
    policy, key_bytes = ended.terms.policy, ended.key_bytes
    trying = policy.tries_others and monitor.room.most_tried(key_bytes) > 0
    monitor.epoch = Epoch(
        until=sum(ended.after.seen)
        + epoch_rows(came, ended.capacity, monitor.least_rows, ended.held),
        began_us=None if ended.epoch.began_us is None else ended.after.clock >> 1,
        seen=ended.after.seen,
        lean=_lean(monitor) if trying else "",
        stored=ended.stored,
        met=waits.met,
        waited_us=waits.spent_us,
    )
    # What is given back must be free: only once an epoch has kept to it.
    monitor.epoch.spare = bool(monitor.epoch.lean) and monitor.epoch.lean == ended.epoch.lean
    tracked = _settle_counts(monitor, rows.tracked)
    limits = WatchLimits.of(monitor, seen.spans, seen.result, key_bytes)
    watched = limits.resampled(rows.watched, is_open, ended.after.clock)
    rivals = rows.rivals
    if policy.learned is not None:
        if trying and (monitor.standing.made.any() or ended.is_pressed):
            begin_trial(monitor, policy.learned, ended.terms, ended.capacity, key_bytes)
        elif not monitor.standing.made.any():
            end_trial(monitor)  # there is memory for all rows
            rivals = None
        if rivals is not None:
            rivals = fitting(rivals, monitor, monitor.room_now.most_tried(key_bytes))
        if rivals is not None:
            ages = (_ages(ended, rivals[0], 0), _ages(ended, rivals[1], 1))
            monitor.standing.go_on(monitor.followed, windows, ages_together(rivals, ages))
        follow(monitor, policy.learned, had_models)
        if rivals is not None:
            rivals = choose_rivals(monitor, policy.learned, ended.terms, ended.capacity, rivals)
            most = monitor.room_now.most_tried(key_bytes)
            rivals = sharing(rivals, monitor, ended.capacity, most)
    return LearnedRows(watched._replace(before=watched.met), tracked, rivals)


def _ages(ended: Ended, rows: RivalRows, side: int) -> np.ndarray:
    """The ages of a side's rows, in parts of its window."""
    window = ended.terms.windows[side]
    if isinstance(window, RowWindow):
        age = ended.after.seen[side] - rows.sequence
    else:
        age = (ended.after.clock >> 1) - rows.time
    parts: np.ndarray = np.clip(age / max(window.span, 1), 0.0, 1.0)
    return parts


def follow(monitor: Monitor, policy: Learned, had_models: bool = True) -> None:
    """Choose the policy to follow in the epoch that begins.

    ``had_models`` is whether rivals that go by a model had one in the epoch that ended.
    """
    before = monitor.followed
    if monitor.standing.tells and not had_models:
        first = policy.prior or policy.neutral.name
        settled = policy.named(monitor.standing.leader(first), None, None)
        monitor.standing.forget(0.0)  # it says nothing of those that had no model
    else:
        settled = chosen(monitor, policy)
    switched = bool(before) and before != settled.name
    monitor.switched += int(switched)
    monitor.steady *= not switched
    if switched:
        monitor.standing.ahead_for[:] = 0.0
    monitor.followed = settled.name
    monitor.epoch.revives = settled.keeps_history and before not in KEEP_HISTORY


def chosen(monitor: Monitor, policy: Learned) -> Policy:
    """The policy to follow, by the models learned so far."""
    curves, followed = monitor.curves(), monitor.followed
    weights = np.zeros(1) if monitor.knows_keys else None
    if policy.columns and columns_lead(monitor):
        return policy.named(Features.name, curves, weights, ages=monitor.columns.ages())
    dense = policy.wanted == Density.name or Density.name in monitor.standing.names
    density = monitor.density() if dense else None
    tries_density = density is not None and policy.tries_others
    begins = bool(policy.prior) and not monitor.contested
    if begins:
        followed = policy.prior
    if monitor.standing.tells:
        if begins:
            pass  # what it begins with is left for nothing but what is surely better
        elif tries_density and not monitor.contested:
            followed = Density.name
        elif not monitor.contested or followed in (Age.name, Prob.name):
            # Pairs of a trial are few: what the models are sure of goes, if others are no better.
            fitting = policy.follow(curves, weights, monitor.fit.better).name
            if monitor.fit.is_sure and not monitor.standing.leads(followed, fitting):
                followed = fitting
            elif not monitor.contested:
                followed = ""
        monitor.contested = True
        return policy.named(monitor.standing.leader(followed), curves, weights, density)
    if begins and (monitor.tried > 0 or not monitor.fit.tells_clearly):
        return policy.named(followed, curves, weights, density)
    if monitor.contested and monitor.standing.by_importance and followed in monitor.standing.names:
        # Those that are far behind, and told it apart, are tried no more.
        return policy.named(followed, curves, weights)
    if policy.wanted == Density.name or tries_density:
        return policy.named(Density.name, curves, weights, density)
    if policy.wanted == Features.name:
        if monitor.columns.is_used:
            return policy.named(Features.name, curves, weights, ages=monitor.columns.ages())
        policy = Learned("auto", policy.important)
    if monitor.tried > 0 and not monitor.fit.tells:
        # Until the choice is clear, a random sample is the best start.
        return policy.neutral
    fading = None if monitor.tried > 0 else monitor.fading(monitor.epoch.stored)
    better = monitor.fit.better
    if not (policy.important or monitor.fit.tells_clearly):
        # A handful of matches is no reason to leave the counts of keys, or to go back to them; nor
        # is one bad epoch, when other keys became frequent.
        better = "age" if followed == Age.name or policy.keyless else "key"
    return policy.follow(curves, weights, better, fading, followed)


def columns_lead(monitor: Monitor) -> bool:
    """Whether the model by columns is better than all that is tried.

    It is judged on watched rows, beside models by age and by key; these are tried in miniature,
    beside all others.
    """
    if not monitor.columns.is_used:
        return False
    least = 0.0 if monitor.followed == Features.name else LEAST_GAIN
    return monitor.standing.is_beaten(JUDGED, monitor.columns.lead, least)


def _lean(monitor: Monitor) -> str:
    """What is enough of the room, once a policy has long been followed; see `Epoch`."""
    if monitor.steady < STEADY_STAYS:
        return ""
    return "key" if monitor.followed in BY_KEY else "other"


def _settle_counts(monitor: Monitor, tracked: np.ndarray) -> np.ndarray:
    """Add up the counts of keys; the marks of those that are tracked on."""
    total = padded(monitor.counts, len(tracked)) + padded(monitor.fresh, len(tracked))
    total, room = short(total), monitor.room_now.key_room
    kept = most_frequent(total.sum(axis=1), room.tracked)
    dropped = np.setdiff1d(np.flatnonzero(total.any(axis=1)), kept, assume_unique=True)
    monitor.tail.add_keys(tracked[dropped], total[dropped].sum(axis=1))
    monitor.sketch = monitor.sketch.emptied(room)
    monitor.counts = total[kept]
    monitor.fresh = np.zeros((len(kept), 2))
    still: np.ndarray = tracked[kept]
    return still
