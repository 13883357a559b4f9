"""Processor time of a join that learns while it runs, by part."""

import time
from dataclasses import dataclass

from headgate.calibration.part_times import PartTimes
from headgate.engine.limits import room_for, terms_for
from headgate.engine.replay import Replay
from headgate.kernel.rows import Rows
from headgate.learning.learner import Learner, new_monitor
from headgate.policies import Learned
from headgate.spec import Budget, TimeWindow
from headgate.spec.budget import MONITOR

GAP_US = 1_000
"""Between two arrivals of a side."""


@dataclass(frozen=True)
class LearnedTime:
    """Processor seconds of a join, by part, the pairs it made, and the policies it followed."""

    policy: str
    seconds: dict[str, float]
    pairs: int
    followed: dict[str, int]

    @property
    def total(self) -> float:
        """Of all parts."""
        return sum(self.seconds.values())


def least(one: LearnedTime | None, other: LearnedTime) -> LearnedTime:
    """The one that took less."""
    return other if one is None or other.total < one.total else one


def time_learned(
    policy: str,
    sides: tuple[Rows, Rows],
    budget: int,
    at_once: int,
    are_numbers: tuple[tuple[bool, ...], tuple[bool, ...]] = ((), ()),
) -> LearnedTime:
    """Join these rows within a budget of so many rows, so many arrivals at once.

    Rows come `GAP_US` apart on each side, and both windows together hold twice as many as fit.
    """
    windows = (TimeWindow(budget * GAP_US),) * 2
    limit, learned = Budget(rows=budget), Learned(policy)
    room = room_for(limit, learned, 1, MONITOR)
    replay = Replay(
        terms_for(limit, windows, learned, monitor=MONITOR),
        *sides,
        at_once,
        learner=Learner(new_monitor(windows, room, are_numbers=are_numbers)),
    )
    with PartTimes() as parts:
        began = time.process_time()
        pairs = sum(len(block.left) for block in replay.pairs())
        total = time.process_time() - began
    spent = dict(parts.seconds)
    spent["rest"] = total - sum(spent.values())
    return LearnedTime(policy, spent, pairs, dict(replay.followed))
