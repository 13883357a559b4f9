"""FlowExpect: at each arrival, follow the best fixed plan for the expected near future."""

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, Protocol

import numpy as np

from headgate.models.process import Now
from headgate.policies.offline.planned import NOT_KEPT, Planned
from headgate.policies.offline.sequence import best_sequence
from headgate.spec import SpecError

LEFT, RIGHT = 0, 1
ROUNDING = 1e-12
MOST_VALUES = 1_000_000


class ValueProcess(Protocol):
    """What FlowExpect needs from the process of a stream's values, one per step."""

    def chance(self, values: np.ndarray, now: Now, ahead: np.ndarray) -> np.ndarray:
        """The chance of each value to come so many steps from now, by step and value."""

    def spread(self, now: Now, ahead: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The lowest and the highest value that may come so many steps from now."""


@dataclass(frozen=True, eq=False)
class FlowExpect(Planned):
    """Keep what the best predetermined sequence of replacements keeps, replanned at each eviction.

    Knows the past, the present, and the processes by which values come about; not the future.
    Whenever a row must go it finds the sequence of replacements with the greatest expected benefit
    over the steps ahead, a flow, and takes its first decision. Even without limit to the look-ahead
    that is not the best one can do, since a sequence cannot wait and see.

    Made by `plan`, which goes over a whole input, and then followed by the real join. Of rows that
    are expected to do the same, the eldest goes.

    Examples
    --------
    Left rows wait for right ones, which are 1 nine times out of ten:

    >>> class MostlyOne:
    ...     def chance(self, values, now, ahead):
    ...         return np.tile(np.array([0.1, 0.9])[values], (len(ahead), 1))
    ...
    ...     def spread(self, now, ahead):
    ...         return np.zeros(len(ahead), int), np.ones(len(ahead), int)
    >>> processes = (MostlyOne(), MostlyOne())
    >>> plan = FlowExpect.plan(
    ...     [0, 1, 0], [1, 0, 1], processes, rows=1, look_ahead=4, windows=(None, 0)
    ... )
    >>> plan.label, plan.ends_left.tolist(), plan.ends_right.tolist()
    ('FLOWEXPECT', [2, 6, -1], [-1, -1, -1])

    References
    ----------
    Xie, Yang, Chen, *On Joining and Caching Stochastic Streams*, SIGMOD 2005, section 4. The
    paper replaces two rows a step at once. Here the left row of a step comes first and is stored
    or not before the right one is known, as in the join. So a left row may also be kept for the
    right row of its own step, and a slot can serve both arrivals of a step, with a right row for
    the left one and then with the left one for the next: FlowExpect makes use of that.
    """

    name: ClassVar[str] = "flowexpect"

    @classmethod
    def plan(
        cls,
        left: np.ndarray,
        right: np.ndarray,
        processes: tuple[ValueProcess, ValueProcess],
        rows: int,
        look_ahead: int,
        windows: tuple[int | None, int | None] = (None, None),
    ) -> "FlowExpect":
        """Follow the algorithm over two streams of values, a left and a right row a step.

        Parameters
        ----------
        left, right
            The values, as many on each side.
        processes
            How each side's values come about.
        rows
            How many rows fit, of both sides together.
        look_ahead
            Steps to look ahead.
        windows
            For how many steps rows of each side wait; None for all.
        """
        values = (_checked(left, "left"), _checked(right, "right"))
        if len(values[LEFT]) != len(values[RIGHT]):
            raise SpecError(
                f"there are {len(values[LEFT]):,} left and {len(values[RIGHT]):,} right values: "
                f"FlowExpect takes one of each a step"
            )
        for name, given in (("rows", rows), ("look_ahead", look_ahead)):
            if not isinstance(given, int) or given < 1:
                raise SpecError(f"{name}={given!r} is not accepted: give a whole number from 1 on")
        if any(window is not None and window < 0 for window in windows):
            raise SpecError(
                f"windows={windows!r} are not accepted: give the steps that rows of each side "
                f"wait, from 0 on, or None for all"
            )
        steps = len(values[LEFT])
        spans = [steps if window is None else window for window in windows]
        ends = _Simulation(values, processes, rows, look_ahead, (spans[0], spans[1])).run()
        return cls(ends[LEFT], ends[RIGHT])


def _checked(given: Any, which: str) -> np.ndarray:
    values = np.asarray(given)
    if values.ndim != 1 or not np.issubdtype(values.dtype, np.integer):
        raise SpecError(f"{which}={given!r} is not accepted: give a whole number a step")
    return values.astype(np.int64)


class _Outlook(NamedTuple):
    """What a side is expected to do: chances by step ahead and value, from value ``first`` on."""

    first: int
    chance: np.ndarray

    @classmethod
    def of(cls, process: ValueProcess, now: Now, steps: int) -> "_Outlook":
        ahead = np.arange(1, steps + 1)
        lowest, highest = process.spread(now, ahead)
        first, last = int(lowest.min()), int(highest.max())
        if last - first >= MOST_VALUES:
            raise SpecError(
                f"{process!r} spreads over the values from {first:,} to {last:,}: FlowExpect looks "
                f"at each, give values that lie closer (codes in place of values will do)"
            )
        return cls(first, process.chance(np.arange(first, last + 1), now, ahead))

    def of_values(self, values: np.ndarray) -> np.ndarray:
        """By value and step, the chance of each."""
        place = values - self.first
        known = (place >= 0) & (place < self.chance.shape[1])
        chance: np.ndarray = self.chance[:, np.where(known, place, 0)] * known
        return chance.T

    def meets(self, other: "_Outlook") -> np.ndarray:
        """By step of this and of the other side, the chance that their values are equal."""
        first = max(self.first, other.first)
        end = min(self.first + self.chance.shape[1], other.first + other.chance.shape[1])
        if end <= first:
            return np.zeros((len(self.chance), len(other.chance)))
        own = self.chance[:, first - self.first : end - self.first]
        met: np.ndarray = own @ other.chance[:, first - other.first : end - other.first].T
        return met


class _Calendar(NamedTuple):
    """The arrivals to come after one of a side, from moment 1 on."""

    side: np.ndarray
    step: np.ndarray
    """From the present step."""
    ahead: np.ndarray
    """From the latest step of the side that has come, less one."""
    moments: tuple[np.ndarray, np.ndarray]
    """Those of each side."""

    @classmethod
    def after(cls, side: int, look_ahead: int) -> "_Calendar":
        events = np.arange(side + 1, 2 * look_ahead + 2)
        of_side, step = events % 2, events // 2
        ahead = np.where((of_side == RIGHT) & (side == LEFT), step, step - 1)
        moments = [np.flatnonzero(of_side == which) + 1 for which in (LEFT, RIGHT)]
        return cls(of_side, step, ahead, (moments[0], moments[1]))


class _Simulation:
    """A run of FlowExpect: one arrival after the other."""

    def __init__(
        self,
        values: tuple[np.ndarray, np.ndarray],
        processes: tuple[ValueProcess, ValueProcess],
        rows: int,
        look_ahead: int,
        windows: tuple[int, int],
    ) -> None:
        self._values, self._processes = values, processes
        self._rows, self._look_ahead, self._windows = rows, look_ahead, windows
        self._calendars = tuple(_Calendar.after(side, look_ahead) for side in (LEFT, RIGHT))
        self._outlooks: list[_Outlook | None] = [None, None]
        self._held = np.empty((0, 2), np.int64)
        """Step and side of the stored rows, the eldest first."""
        self._ends = tuple(np.full(len(side), NOT_KEPT, np.int64) for side in values)

    def run(self) -> tuple[np.ndarray, ...]:
        """The end of every row."""
        for step in range(len(self._values[LEFT])):
            for side in (LEFT, RIGHT):
                self._outlooks[side] = None
                self._arrive(step, side)
        for step, side in self._held:
            self._ends[side][step] = 2 * len(self._values[LEFT])
        return self._ends

    def _arrive(self, step: int, side: int) -> None:
        event = 2 * step + side
        held_step, held_side = self._held.T
        # A left row is last met by the right row of its window's last step, a right row by a left.
        last = 2 * (held_step + np.array(self._windows)[held_side]) + 1 - held_side
        self._let_go(last < event, event)
        if 2 * (step + self._windows[side]) + 1 - side <= event:
            return  # its window is empty
        self._held = np.vstack([self._held, (step, side)])
        if len(self._held) > self._rows:
            worst = np.arange(len(self._held)) == self._choose(step, side)
            self._let_go(worst, event)

    def _let_go(self, gone: np.ndarray, event: int) -> None:
        for step, side in self._held[gone]:
            is_newcomer = 2 * step + side == event
            self._ends[side][step] = NOT_KEPT if is_newcomer else event
        self._held = self._held[~gone]

    def _choose(self, step: int, side: int) -> int:
        """The candidate to evict."""
        calendar = self._calendars[side]
        moments = len(calendar.side) + 1
        candidates = self._candidates(step, side, moments)
        expected = np.cumsum(candidates, axis=1)
        least = int(np.argmin(expected[:, -1]))
        # One that is worth least up to every moment can go whatever comes (Theorem 1).
        if np.all(expected[least] <= expected + ROUNDING):
            return least
        arrives = np.append(np.zeros(len(candidates), np.int64), np.arange(1, moments))
        benefits = np.vstack([candidates, self._newcomers(step, side, moments)])
        best = best_sequence(arrives, benefits, self._rows)
        given_up = np.flatnonzero(~best.stored[: len(candidates)])
        # Where slots are left over, the best of those not needed fill them.
        return int(given_up[np.argmin(expected[given_up, -1])])

    def _candidates(self, step: int, side: int, moments: int) -> np.ndarray:
        """By stored row and newcomer, and by moment, the chance of a match."""
        calendar = self._calendars[side]
        benefits = np.zeros((len(self._held), moments))
        for own in (LEFT, RIGHT):
            mine = np.flatnonzero(self._held[:, 1] == own)
            if not mine.size:
                continue
            came = self._held[mine, 0]
            at = calendar.moments[1 - own]
            chance = self._outlook(1 - own, step, side).of_values(self._values[own][came])
            waits = step + calendar.step[at - 1] - came[:, None] <= self._windows[own]
            benefits[np.ix_(mine, at)] = chance[:, calendar.ahead[at - 1]] * waits
        return benefits

    def _newcomers(self, step: int, side: int, moments: int) -> np.ndarray:
        """The same for rows yet to come, whose values are as uncertain as those they meet."""
        calendar = self._calendars[side]
        outlooks = [self._outlook(which, step, side) for which in (LEFT, RIGHT)]
        meets = outlooks[LEFT].meets(outlooks[RIGHT])
        benefits = np.zeros((moments - 1, moments))
        for own, chance in ((LEFT, meets), (RIGHT, meets.T)):
            mine, at = calendar.moments[own], calendar.moments[1 - own]
            waits = calendar.step[at - 1] - calendar.step[mine - 1][:, None] <= self._windows[own]
            ahead = np.ix_(calendar.ahead[mine - 1], calendar.ahead[at - 1])
            benefits[np.ix_(mine - 1, at)] = chance[ahead] * waits * (at > mine[:, None])
        return benefits

    def _outlook(self, which: int, step: int, side: int) -> _Outlook:
        """What a side is expected to do, as of its latest row; kept until it has another."""
        known = self._outlooks[which]
        if known is None:
            latest = step - 1 if (which, side) == (RIGHT, LEFT) else step
            now = Now(latest, int(self._values[which][latest]))
            known = _Outlook.of(self._processes[which], now, self._look_ahead + 1)
            self._outlooks[which] = known
        return known
