"""Measured speed: fixed seconds per step, and real seconds per second of estimated work."""

from typing import NamedTuple

KEPT = 0.8
"""The part of what was seen before that still counts after a step."""
STIFFNESS = 0.05
"""How much steps must differ in work, in variance over squared mean, to tell a step's own cost from
that of its work."""
LEAST_SCALE = 1e-3
FIRST, MOST_AT_FIRST = 0.1, 20.0
"""How much the first step counts, and how many times as long as told its work may take."""
MOST_TIMES = 10.0
"""How many times as long as expected a step may have taken, to be believed."""


class Speed(NamedTuple):
    """What steps took, against the work they did; recent ones count most.

    A line through what was seen: where steps are all alike and a line could lie anyhow, a step's
    own cost is taken to be as it was told.

    Examples
    --------
    >>> speed = Speed()
    >>> for work in (1.0, 2.0, 3.0, 4.0):
    ...     speed = speed.after(work, seconds=0.5 + 2 * work)
    >>> round(speed.scale(0.0), 1), round(speed.step_s(0.0), 1)
    (2.1, 0.3)
    >>> round(Speed().after(1.0, 3.0, step_s=1.0).scale(step_s=1.0), 6)
    2.0
    >>> round(Speed().after(1.0, 60.0).scale(0.0), 6)
    20.0
    """

    steps: float = 0.0
    work: float = 0.0
    squares: float = 0.0
    seconds: float = 0.0
    products: float = 0.0

    def after(self, work: float, seconds: float, step_s: float = 0.0) -> "Speed":
        """With a step that did so much work in so many seconds.

        The first has code to load or to compile and tells little; later, what takes many times as
        long as expected is something else that came between.
        """
        weight = 1.0
        if not self.steps:
            weight, seconds = FIRST, min(seconds, step_s + MOST_AT_FIRST * work)
        elif self.steps >= 1.0:
            most = MOST_TIMES * (self.step_s(step_s) + self.scale(step_s) * work)
            seconds = min(seconds, most)
        seen = (1.0, work, work * work, seconds, work * seconds)
        return Speed(*(KEPT * old + weight * new for old, new in zip(self, seen, strict=True)))

    def scale(self, step_s: float) -> float:
        """How many times as long work takes as the costs say, where a step is told to cost so
        much by itself."""
        if self.work <= 0:
            return 1.0
        mean, took = self.work / self.steps, self.seconds / self.steps
        variance = max(self.squares / self.steps - mean * mean, 0.0)
        covariance = self.products / self.steps - mean * took
        stiffness = STIFFNESS * mean * mean
        told = max(took - step_s, 0.1 * took) / mean
        found = (covariance + stiffness * told) / (variance + stiffness)
        return min(max(found, LEAST_SCALE), took / mean)

    def step_s(self, step_s: float) -> float:
        """What a step costs by itself, where it is told to cost so much."""
        if self.steps <= 0:
            return step_s
        return max((self.seconds - self.scale(step_s) * self.work) / self.steps, 0.0)
