"""How much work a step may do, and which arrivals are worth the work they bring when stored."""

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from headgate.models.knapsack import best_rule
from headgate.policies.policy import Arrivals
from headgate.spec import Window

SKIP_SALT = 0x2545F4914F6CDD1D
"""Makes the coins of what is left skipped others than those that decide who is watched or kept."""

MOST_LOOKED_AT = 4096
"""Arrivals that are looked at to find who is worth storing; planning must cost little itself."""


class Costs(NamedTuple):
    """What work costs, in seconds of a processor."""

    arrive: float
    """Looking at an arrival, whether or not anything comes of it."""
    store: float
    """Storing it, and letting it go again."""
    pair: float
    """Making a result row."""

    def times(self, factor: float) -> "Costs":
        """The same work on a machine so many times slower."""
        return Costs(*(factor * cost for cost in self))

    def of(self, arrivals: float, stored: float, pairs: float) -> float:
        """Of so much work."""
        return arrivals * self.arrive + stored * self.store + pairs * self.pair


USUAL_COSTS = Costs(arrive=4e-7, store=2e-7, pair=1e-7)
"""Of a machine of the day, until one is calibrated; what is measured corrects them."""


@dataclass(frozen=True)
class Pace:
    """The work of one step.

    Every arrival may look for partners; what is chosen is who is stored, since a row that is
    stored brings work for as long as it waits: its own, and that of the pairs it will make. Rows
    are stored by the pairs they are expected to make for that work (the fractional knapsack over
    side and key), and within a memory budget also for the room they take.

    Parameters
    ----------
    costs
        Of the work.
    seconds
        What the step may take in all.
    storing
        What the rows stored in this step may take, now and as long as they wait.
    meets
        By side: how many rows of the other side come while one of its rows waits.
    chance
        By side: the chance that such a row is a match, where the rows' weights do not say.
    by_weight
        Whether a row's weight is that chance.
    waits
        By side: how long a row waits, in seconds.
    span
        The event time that the step covers, in seconds.
    let_in
        The share of the rows that came, of both sides, for which there was time to be looked at;
        only those are among the arrivals.

    Examples
    --------
    >>> from headgate.policies.policy import Arrivals
    >>> weight = np.array([0.5, 0.1, 0.0])
    >>> side = np.zeros(3, np.uint8)
    >>> rows = Arrivals(np.arange(3), side, np.arange(3), weight, np.ones(3))
    >>> pace = Pace(Costs(0.0, 1.0, 0.1), 9.0, 2.0, (10.0, 0.0), by_weight=True)
    >>> pace.shares_stored(rows).round(2)
    array([1.  , 0.45, 0.  ])
    """

    costs: Costs
    seconds: float
    storing: float
    meets: tuple[float, float]
    chance: tuple[float, float] = (0.0, 0.0)
    by_weight: bool = False
    waits: tuple[float, float] = (1.0, 1.0)
    span: float = 1.0
    let_in: float = 1.0

    def by_rate(self, windows: tuple[Window, Window]) -> "Pace":
        """The same where rows' weights are the rows of the other side with their key that come in
        a microsecond."""
        return replace(self, meets=(windows[0].span, windows[1].span), by_weight=True)

    def shares_stored(self, arrivals: Arrivals, most_rows: float = np.inf) -> np.ndarray:
        """The share of rows like each of the arrivals that is stored.

        Where no more than ``most_rows`` can be stored at once, no more come than leave: they take
        room for as long as they wait.
        """
        chance = arrivals.weight if self.by_weight else np.array(self.chance)[arrivals.side]
        gain = np.array(self.meets)[arrivals.side] * chance
        cost = self.costs.store + self.costs.pair * gain
        room = np.array(self.waits)[arrivals.side]
        most_room = most_rows * self.span
        rule = best_rule(gain, cost, self.storing, room, most_room, MOST_LOOKED_AT)
        return rule.shares(gain, cost, room)
