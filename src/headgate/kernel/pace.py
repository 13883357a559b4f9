"""The CPU budget of a step, and which arrivals are worth the work that storing them causes."""

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from headgate.models.knapsack import best_rule
from headgate.policies.policy import Arrivals
from headgate.spec import Window

SKIP_SALT = 0x2545F4914F6CDD1D
"""Separates the random draws for skipped work from those that choose watched or stored rows."""

MOST_LOOKED_AT = 4096
"""Arrivals sampled to decide which rows to store, so that planning itself stays cheap."""


class Costs(NamedTuple):
    """Costs of work, in seconds of CPU time."""

    arrive: float
    """Processing an arrival, whether or not it is stored or matches."""
    store: float
    """Storing it, and removing it later."""
    pair: float
    """Making a result row."""

    def times(self, factor: float) -> "Costs":
        """The costs on a machine that is slower by ``factor``."""
        return Costs(*(factor * cost for cost in self))

    def of(self, arrivals: float, stored: float, pairs: float) -> float:
        """The cost of that many arrivals, stored rows and pairs."""
        return arrivals * self.arrive + stored * self.store + pairs * self.pair


USUAL_COSTS = Costs(arrive=4e-7, store=2e-7, pair=1e-7)
"""Defaults for a current machine, until it is calibrated; measurements correct them."""


@dataclass(frozen=True)
class Pace:
    """The CPU budget of one step.

    Every arrival may probe; the plan chooses which rows to store, since a stored row causes work
    throughout its window: its own, and that of the pairs it will make. Rows are chosen by expected
    pairs per unit of work (a fractional knapsack over side and key), and within a memory budget
    also by the room they take.

    Parameters
    ----------
    costs
        Of the work.
    seconds
        Total CPU time of the step.
    storing
        CPU time for the rows stored in this step, now and throughout their window.
    meets
        By side: how many rows of the other side arrive within the window of one of its rows.
    chance
        By side: the probability that such a row matches, where the rows' weights do not say.
    by_weight
        Whether a row's weight is that probability.
    waits
        By side: how long a row is stored, in seconds.
    span
        The event time that the step covers, in seconds.
    let_in
        The share of incoming rows, of both sides, admitted to the step; only those are among the
        arrivals.

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
        """The same where a row's weight is the rate of its key on the other side, in rows per
        microsecond."""
        return replace(self, meets=(windows[0].span, windows[1].span), by_weight=True)

    def shares_stored(self, arrivals: Arrivals, most_rows: float = np.inf) -> np.ndarray:
        """For each arrival, the share of rows like it to store.

        With room for ``most_rows`` at most, rows are stored no faster than they leave, since each
        takes room throughout its window.
        """
        chance = arrivals.weight if self.by_weight else np.array(self.chance)[arrivals.side]
        gain = np.array(self.meets)[arrivals.side] * chance
        cost = self.costs.store + self.costs.pair * gain
        room = np.array(self.waits)[arrivals.side]
        most_room = most_rows * self.span
        rule = best_rule(gain, cost, self.storing, room, most_room, MOST_LOOKED_AT)
        return rule.shares(gain, cost, room)
