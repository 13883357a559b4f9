"""Runs the trials of rival policies in a step, within their share of memory."""

from dataclasses import replace

import numpy as np

from headgate.kernel.layout import Fate
from headgate.kernel.step import Step
from headgate.kernel.step_input import StepInput
from headgate.kernel.terms import Terms
from headgate.learning import Monitor
from headgate.learning.key_worth import KeyWorth
from headgate.learning.rival_list import regrouped, regrouped_rows
from headgate.learning.rival_round import BothRows, RivalRound, RivalRows, coins
from headgate.learning.standing import Standing
from headgate.policies import Policy
from headgate.policies.density import Density
from headgate.policies.learned import BY_KEY, Learned
from headgate.spec import How
from headgate.spec.budget import UNLIMITED

DOUBTFUL = np.uint8(Fate.DOUBTFUL)
LAST_ROWS_WORTH = 0.3
"""What the rows worth least make for their memory, of what all make for theirs: a guess in the
middle. Of Zipf keys under PROB it was 0.6 (Zipf 1) and 0.35 (0.8) from a tenth of the memory to a
fifth, and 0.06 (0.8) from four tenths to five."""

TRIED_ENOUGH, COMES_BACK = 0.5, 1 / 32
"""What must be left, of what is forgotten by windows, of the time when all were tried last: before
any is paused, and before those paused are tried again."""

MUCH_MORE, LITTLE_MORE = 1.3, 1.1
"""Times the share of arrivals put to rivals for which there must be room to raise it, and beyond
which it is cut to what there is room for."""


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
        self._given, self._policy, self._rows = given, policy, rows

    def play(self, monitor: Monitor, worth: KeyWorth, step: Step, most: int) -> BothRows | None:
        """Once the join has had its step: let the rivals have theirs; what they store after it.

        ``most`` is how many rows all of them may store together.
        """
        if not any(len(rows.time) for rows in self._given.arriving):
            return self._rows and (self._rows[0].unmoved(), self._rows[1].unmoved())
        names, epoch = monitor.standing.names, monitor.epoch
        stored_rows = [len(rows.time) for rows in self._given.stored]
        left, right = (step.sequences(side)[stored_rows[side] :] for side in (0, 1))
        rows, made = RivalRound(
            self._as_doubted(step, stored_rows),
            (left, right),
            monitor.seed,
            monitor.tried,
            most // len(names),
        ).play(
            self._policies(monitor, worth),
            self._rows or (RivalRows.none(len(names)), RivalRows.none(len(names))),
            worth.weighed,
        )
        epoch.made = made if epoch.made is None else epoch.made + made
        return rows

    def _policies(self, monitor: Monitor, worth: KeyWorth) -> tuple[Policy, ...]:
        """The rivals, with the models learned so far."""
        return tuple(
            self._policy.named(name, worth.curves, worth.levels, worth.density).in_miniature(
                monitor.stay_us, monitor.importance, monitor.tried
            )
            for name in monitor.standing.names
        )

    def _as_doubted(self, step: Step, stored_rows: list[int]) -> StepInput:
        """What the step was given, with arrivals doubtful that were so in it: a rival gives up too
        few rows to tell."""
        given = self._given
        left, right = (
            rows if fates is None else rows._replace(fate=fates[stored:] & DOUBTFUL)
            for rows, fates, stored in zip(
                given.arriving, (step.fates(0), step.fates(1)), stored_rows, strict=True
            )
        )
        return given._replace(
            arriving=(left, right), terms=replace(given.terms, shows_undecided=False)
        )


def begin_at_once(monitor: Monitor, given: StepInput, key_bytes: int) -> None:
    """Try the rivals from the first arrival on, where it is known how many rows can be stored."""
    terms = given.terms
    rows, size = terms.limits
    policy = terms.policy.learned
    if policy is None or not policy.tries_others or size < UNLIMITED or any(given.progress.seen):
        return
    if monitor.tried == 0 and monitor.room.most_tried(key_bytes) > 0:
        begin_trial(monitor, policy, terms, max(rows, 1), key_bytes)


def density_of_step(monitor: Monitor, terms: Terms) -> tuple[bool, bool]:
    """Whether meetings are counted by class of row, and whether match density ranks any rows."""
    policy = terms.policy
    if not policy.watches_meetings or any(monitor.by_rows):
        return False, False
    counts = monitor.room.class_bytes > 0
    if not policy.tries_others:
        return counts, True
    counts = counts and terms.how != How.ANTI
    return counts, counts and monitor.may_follow(Density.name)


def end_trial(monitor: Monitor) -> None:
    """Try no rivals for now."""
    monitor.standing, monitor.tried, monitor.epoch.made = Standing(), 0.0, None


def begin_trial(
    monitor: Monitor, policy: Learned, terms: Terms, capacity: int, key_bytes: int
) -> None:
    """Try the rivals from now on, if they are not tried yet.

    They begin before memory first runs full, so that what they store is as old as what the join
    does; what they make counts from then on.
    """
    names = all_rivals(monitor, policy, terms)
    if monitor.standing.names and set(monitor.standing.names) <= set(names) and monitor.tried > 0:
        return
    monitor.standing = Standing(names, costs_of(names, monitor, capacity), policy.important)
    monitor.tried = tried_share(monitor.room.most_tried(key_bytes), len(names), capacity)


def all_rivals(monitor: Monitor, policy: Learned, terms: Terms) -> tuple[str, ...]:
    """The policies that are tried, or may be."""
    return policy.rivals(terms.windows, terms.how, dense=monitor.room.class_bytes > 0)


def costs_of(names: tuple[str, ...], monitor: Monitor, capacity: int) -> tuple[float, ...]:
    """What following each policy costs: counts of keys, as a share of what the join stores."""
    needs = [monitor.room.needed(by_key).key_rows for by_key in (False, True)]
    part = LAST_ROWS_WORTH * (needs[1] - needs[0]) / capacity
    return tuple(part if name in BY_KEY else 0.0 for name in names)


def choose_rivals(
    monitor: Monitor, policy: Learned, terms: Terms, capacity: int, rows: BothRows
) -> BothRows:
    """Pause rivals that are far behind, or let all come back; what those on trial store."""
    before, followed = monitor.standing.names, monitor.followed
    every = all_rivals(monitor, policy, terms)
    if followed not in before:
        return rows
    names = before
    if len(before) < len(every) and monitor.trial_left < COMES_BACK:
        names, monitor.trial_left = every, 1.0
    elif monitor.trial_left < TRIED_ENOUGH:
        behind = monitor.standing.far_behind(followed)
        names = tuple(name for name in before if name not in behind)
    if names == before:
        return rows
    costs = costs_of(names, monitor, capacity)
    monitor.standing = regrouped(monitor.standing, names, costs, followed)
    return regrouped_rows(rows, before, names, followed)


def tried_share(most: int, rivals: int, capacity: int) -> float:
    """The share of the arrivals that rivals are tried on, where there is room for so many rows.

    Each stores that share of what the join can, and all of them may store others.
    """
    return min(1.0, most / (rivals * capacity))


def fitting(rows: BothRows, monitor: Monitor, most: int) -> BothRows:
    """The rows, fewer of them where they take more than their room; the share says how many."""
    while len(rows[0].time) + len(rows[1].time) > most:
        rows = _thinned(rows, monitor, monitor.tried / 2)
    return rows


def sharing(rows: BothRows, monitor: Monitor, capacity: int, most: int) -> BothRows:
    """The rows by the share that those on trial have room for: a larger one where few are left.

    More arrivals are put to them from then on, and they fill their room with these.
    """
    share = tried_share(most, max(len(monitor.standing.names), 1), capacity)
    if share > MUCH_MORE * monitor.tried:
        monitor.tried = share
    elif share < monitor.tried / LITTLE_MORE:
        rows = _thinned(rows, monitor, share)
    return rows


def _thinned(rows: BothRows, monitor: Monitor, share: float) -> BothRows:
    left, right = (
        side.where(coins(monitor.seed, which, side.sequence) < share)
        for which, side in enumerate(rows)
    )
    # What was made with twice as many rows counts for half.
    monitor.standing.forget(share / monitor.tried)
    monitor.tried = share
    return left, right
