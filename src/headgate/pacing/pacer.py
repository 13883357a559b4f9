"""Keeps a join within its CPU budget: planned from costs, corrected by measured time.

A step may use the CPU budget times the time elapsed, minus what earlier steps overspent. Costs are
given in advance; the time a step really took scales them for the next. A row stored now causes work
throughout its window, so the number of rows to store is adjusted slowly (`PaceState.lean`), and
arrivals that find no CPU time left do not probe.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from math import exp, inf
from typing import Any, NamedTuple

import numpy as np

from headgate.kernel.layout import Count
from headgate.kernel.pace import Costs, Pace
from headgate.kernel.step import Step
from headgate.kernel.step_progress import NO_WATERMARK, StepProgress
from headgate.pacing.speed import Speed
from headgate.policies.chance import uniform
from headgate.spec import RowWindow, Window
from headgate.spec.quantity import SECOND_US

AIM = 0.98
"""The share of the budget used for planning; the rest is a reserve."""
LEAST, MOST = 0.1, 1.25
"""What a step may take, in units of what it earns, however much was taken too much or left over."""
MOST_OWED, MOST_SAVED = 2.0, 4.0
"""Most CPU time carried over, in units of what a step earns."""
KEPT = 0.7
"""The part of what was seen of work and rates that still counts after a step."""
FEWER, MORE = 0.25, 0.75
"""Strength, per window, of the correction to the number of rows stored when work differs from the
plan. Excess work usually comes from rows stored before rates rose, and passes by itself."""
AT_THE_DOOR = 0x6C62272E07BB0142
"""Separates the random draws for admission from those that choose watched or stored rows."""
LEANEST, FULLEST = 0.02, 50.0
IN_TIME, BATCH_S = 0.85, 0.4
"""The part of the time that a step's rows cover which may pass until they are done with; and how
much of it Spark is taken to need for a batch, whatever it brings."""
MOST_LOOKING = 0.6
"""The part of the time for work that may be taken by looking at arrivals."""
FEWEST = 0.02
"""Smallest share of the arrivals to admit, however little CPU time there is."""
SMALL_PART = 0.2
"""The part of the time that steps should cost by themselves at most, where they can be cut so."""


class Passed(NamedTuple):
    """Work done in a step, and the time it took."""

    arrived: tuple[int, int]
    """Rows by side."""
    pairs: tuple[int, int]
    """By the side whose arrivals made them."""
    unprobed: tuple[int, int]
    admitted: int
    unstored: int
    stored: tuple[int, int]
    """Rows stored in the end, by side."""
    seconds: float
    """Processor time it took."""
    busy_s: float = 0.0
    """How long it took by the clock on the wall, where that matters: results must be taken off as
    fast as they are made."""

    @classmethod
    def of_step(cls, step: Step, arrived: tuple[int, int], seconds: float) -> "Passed":
        """From what a step with so many arrivals did."""
        counts = step.counts.tolist()
        left, right = (int(step.alive(side).sum()) for side in (0, 1))
        return cls(
            arrived=arrived,
            pairs=tuple(counts[Count.PAIRS]),
            unprobed=tuple(counts[Count.UNPROBED]),
            admitted=sum(counts[Count.ADMITTED]),
            unstored=sum(counts[Count.UNSTORED]),
            stored=(left, right),
            seconds=seconds,
        )

    @classmethod
    def of(cls, given: Sequence[Any]) -> "Passed":
        """From the same as a list, lists in place of tuples."""
        known: list[Any] = [tuple(at) if isinstance(at, list) else at for at in given]
        return cls(*known)

    def looked(self, side: int, stored_before: tuple[int, int]) -> float:
        """How many stored rows the probes of a side looked through, matching or not."""
        probed = self.arrived[side] - self.unprobed[side]
        return probed * (stored_before[1 - side] + self.stored[1 - side]) / 2


def covered_s(before: StepProgress, times: tuple[np.ndarray, np.ndarray]) -> float:
    """The event time, in seconds, from where a join had got to up to the last of some rows."""
    some = [side for side in times if len(side)]
    if not some:
        return 0.0
    first = min(int(side.min()) for side in some)
    last = max(int(side.max()) for side in some)
    start = first if before.clock == NO_WATERMARK else before.clock >> 1
    return max(last - start, 0) / SECOND_US


def inside(seed: int, side: int, numbers: np.ndarray, share: float) -> np.ndarray:
    """Which rows of a side, told by a number each, are looked at: a share of them, by chance."""
    if share >= 1.0:
        return np.ones(len(numbers), bool)
    sides = np.full(len(numbers), side, np.uint8)
    chosen: np.ndarray = uniform(seed ^ AT_THE_DOOR, sides, numbers) < share
    return chosen


def _each(of_side: Callable[[int], float]) -> tuple[float, float]:
    """Something for the left side and for the right."""
    return of_side(0), of_side(1)


class Admitted(NamedTuple):
    """The rows admitted within the CPU budget, and the work they may cause."""

    inside: tuple[np.ndarray, np.ndarray]
    """For each row that came, by side."""
    pace: Pace


@dataclass(frozen=True)
class PaceState:
    """What one step hands to the next about work and time; recent steps count most.

    Parameters
    ----------
    owed
        Seconds taken beyond what was earned; negative where some were left over.
    speed, wall
        What steps took, against the seconds of work as costs have it: of processor time, and by
        the clock on the wall.
    rows, seconds
        Arrivals by side, and the event time they covered.
    made, could
        Pairs that probes of each side made, and the rows they looked through for them.
    stored
        Rows stored, by side.
    lean
        How much more (or less) is stored than costs suggest.
    """

    owed: float = 0.0
    speed: Speed = field(default_factory=Speed)
    wall: Speed = field(default_factory=Speed)
    rows: tuple[float, float] = (0.0, 0.0)
    seconds: float = 0.0
    made: tuple[float, float] = (0.0, 0.0)
    could: tuple[float, float] = (0.0, 0.0)
    stored: tuple[int, int] = (0, 0)
    lean: float = 1.0

    @classmethod
    def of(cls, given: dict[str, Any]) -> "PaceState":
        """From the same as a dictionary, lists in place of tuples."""
        known: dict[str, Any] = {
            key: tuple(at) if isinstance(at, list) else at for key, at in given.items()
        }
        for clock in ("speed", "wall"):
            known[clock] = Speed(*known[clock])
        return cls(**known)


@dataclass(frozen=True)
class Pacer:
    """Decides how much work a step may do, and learns from what it took.

    Parameters
    ----------
    cpu
        The part of a core that the join, or a shard of it, may take.
    costs
        Of work, as told beforehand.
    windows
        Of both sides.
    by_weight
        Whether rows' weights are the chance that the other side's next row matches.
    step_s
        What a step costs by itself, in seconds, until that is seen.

    Examples
    --------
    >>> from headgate.spec import TimeWindow
    >>> second = TimeWindow(SECOND_US)
    >>> pacer = Pacer(0.5, Costs(1e-6, 1e-6, 1e-6), (second, second))
    >>> pacer.pace(PaceState(), (1000, 1000), span_s=1.0, elapsed_s=1.0).seconds
    0.49
    >>> slow = Passed((1000, 1000), (0, 0), (0, 0), 1000, 0, (500, 500), seconds=0.6)
    >>> first = pacer.after(PaceState(), slow, span_s=1.0, elapsed_s=1.0)
    >>> after = pacer.after(first, slow, span_s=1.0, elapsed_s=1.0)
    >>> round(after.owed, 3), round(after.speed.scale(step_s=0.0))
    (0.11, 187)
    """

    cpu: float
    costs: Costs
    windows: tuple[Window, Window]
    by_weight: bool = False
    step_s: float = 0.0

    def admit(
        self,
        state: PaceState,
        seed: int,
        came: tuple[np.ndarray, np.ndarray],
        span_s: float,
        elapsed_s: float,
    ) -> "Admitted":
        """Which of the rows that came, told by a number each, there is time to look at, and how
        much work they may bring."""
        share = self.let_in(state, len(came[0]) + len(came[1]), elapsed_s)
        left, right = (inside(seed, side, numbers, share) for side, numbers in enumerate(came))
        arrived = (int(np.count_nonzero(left)), int(np.count_nonzero(right)))
        pace = self.pace(state, arrived, span_s, elapsed_s)
        return Admitted((left, right), replace(pace, let_in=share))

    def let_in(self, state: PaceState, arrived: int, elapsed_s: float) -> float:
        """The share of the arrivals to admit within the CPU budget; the others are dropped.

        Processing arrivals must not use up the time for probing and storing. Where a window counts
        rows, all arrivals must be admitted, or it would reach too far back.
        """
        if any(isinstance(window, RowWindow) for window in self.windows):
            return 1.0
        earned = AIM * self.cpu * elapsed_s
        work = max(earned - state.speed.step_s(self.step_s) - max(state.owed, 0.0), LEAST * earned)
        looking = self.costs.arrive * state.speed.scale(self.step_s) * arrived
        return min(max(MOST_LOOKING * work / looking, FEWEST), 1.0) if looking > 0 else 1.0

    def least_s(self, state: PaceState) -> float:
        """How much time a step should cover at least, for its own cost to be a small part."""
        return state.speed.step_s(self.step_s) / (SMALL_PART * self.cpu)

    def pace(
        self, state: PaceState, arrived: tuple[int, int], span_s: float, elapsed_s: float
    ) -> Pace:
        """The CPU budget for the arrivals of a step.

        Parameters
        ----------
        state
            What the step before left.
        arrived
            Rows that have come, by side.
        span_s
            The event time they cover, in seconds.
        elapsed_s
            How much time has passed since the step before: on a stream by the clock on the wall,
            where all is at hand by that of the events.
        """
        earned = AIM * self.cpu * elapsed_s
        costs = self.costs.times(state.speed.scale(self.step_s))
        work = max(earned - state.speed.step_s(self.step_s), LEAST * earned)
        in_time = self._in_time(state, span_s)
        seen = self._seen(state, arrived, span_s)
        waits = _each(lambda side: self._wait(seen, side))
        return Pace(
            costs=costs,
            seconds=min(max(work - state.owed, LEAST * earned), MOST * earned, in_time),
            storing=state.lean * max(min(work, in_time) - costs.arrive * sum(arrived), 0.0),
            meets=_each(lambda side: seen.rows[1 - side] / seen.seconds * waits[side]),
            chance=_each(lambda side: self._chance(state, side)),
            by_weight=self.by_weight,
            waits=waits,
            span=span_s,
        )

    def after(self, state: PaceState, passed: Passed, span_s: float, elapsed_s: float) -> PaceState:
        """The state for the next step, updated with this one."""
        earned = AIM * self.cpu * elapsed_s
        work = self.costs.of(sum(passed.arrived), passed.admitted, sum(passed.pairs))
        state = replace(
            self._seen(state, passed.arrived, span_s),
            owed=self._owed(state, passed.seconds - earned, earned),
            speed=state.speed.after(work, passed.seconds, self.step_s),
            wall=state.wall.after(work, passed.busy_s) if passed.busy_s else state.wall,
            made=_each(lambda side: KEPT * state.made[side] + passed.pairs[side]),
            could=_each(lambda side: KEPT * state.could[side] + passed.looked(side, state.stored)),
            stored=passed.stored,
        )
        earned = min(earned, self._in_time(state, span_s) + state.speed.step_s(self.step_s))
        return replace(state, lean=self._lean(state, passed, work, span_s, earned))

    def _in_time(self, state: PaceState, span_s: float) -> float:
        """The work, in seconds of processor time, that is done before as much comes again.

        Results are only made as fast as they are taken off, by Spark and what comes after it. A
        step that takes longer than the time its rows cover has more rows to come after it, and so
        on without end.
        """
        if state.wall.work <= 0:
            return inf
        free_s = max(IN_TIME * span_s - state.wall.step_s(BATCH_S), LEAST * span_s)
        return free_s / state.wall.scale(BATCH_S) * state.speed.scale(self.step_s)

    def _owed(self, state: PaceState, more: float, earned: float) -> float:
        """What is owed after a step; not for the first, which has code to load or to compile."""
        if not state.speed.steps:
            return 0.0
        return min(max(state.owed + more, -MOST_SAVED * earned), MOST_OWED * earned)

    def _seen(self, state: PaceState, arrived: tuple[int, int], span_s: float) -> PaceState:
        """Rates with those of a step."""
        rows = _each(lambda side: KEPT * state.rows[side] + arrived[side])
        seconds = max(KEPT * state.seconds + span_s, 1e-6)
        return replace(state, rows=rows, seconds=seconds)

    def _wait(self, seen: PaceState, side: int) -> float:
        """How long a row of the side waits, in seconds."""
        window = self.windows[side]
        if isinstance(window, RowWindow):
            return window.span * seen.seconds / max(seen.rows[side], 1.0)
        return window.span / SECOND_US

    def _chance(self, state: PaceState, side: int) -> float:
        """The chance that a row of the other side matches one of this side that is stored."""
        could = state.could[1 - side]
        return state.made[1 - side] / could if could > 0 else 0.0

    def _lean(
        self, state: PaceState, passed: Passed, work: float, span_s: float, earned: float
    ) -> float:
        """Less is stored where there was more to do than time, more where time was left over.

        Rows stored now bring work over their whole window, so it takes a window to see what a
        change did.
        """
        if earned <= 0:
            return state.lean
        probed = sum(passed.arrived) - sum(passed.unprobed)
        missed = sum(passed.pairs) * sum(passed.unprobed) / probed if probed > 0 else 0.0
        scale = state.speed.scale(self.step_s)
        wanted = state.speed.step_s(self.step_s) + scale * (work + missed * self.costs.pair)
        error = min(max((earned - wanted) / earned, -1.0), 1.0)
        if error > 0 and not passed.unstored:
            error = -0.5 if state.lean > 1.0 else 0.0  # all was stored, and there was time for it
        longest = max(self._wait(state, 0), self._wait(state, 1))
        change = (MORE if error > 0 else FEWER) * min(span_s / longest if longest > 0 else 1.0, 1.0)
        return min(max(state.lean * exp(change * error), LEANEST), FULLEST)
