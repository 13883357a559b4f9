"""A ceiling for any policy at any size: what memory could make if room had a price.

OPT-offline is a flow, and its solver's time grows with the square of a skewed stream. This is the
dual of the same problem (Lagrangian relaxation). Put a price on a row's place in memory at every
moment. Each row, on its own, then stays as long as its matches pay for its place; what rows gain
after paying, plus what all places cost, is at least what any policy can make. That holds for any
prices, so the least bound of many is taken. With a price for every event it would meet the optimum,
for a flow has no duality gap; with one price for every stretch of events it comes near.

Following the rows' own choices within the budget is a plan, and what the join makes by it is a
lower bound of the optimum: both together state the gap.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from headgate.policies.offline.course import LEFT, RIGHT, Course, Events, meetings
from headgate.policies.offline.pair_benefit import Importance, benefit_of
from headgate.policies.offline.planned import NOT_KEPT, Planned
from headgate.spec import Budget, Window
from headgate.spec.budget import Split
from headgate.spec.window import parse_window

STRETCHES = 1024
"""Prices: one for each of so many equal stretches of events."""
ROUNDS, HALVINGS = 120, 30
FADING = 0.9
"""How fast the usual size of a stretch's surplus, by which its steps are scaled, is forgotten."""


@dataclass(frozen=True, eq=False)
class Ceiling:
    """An upper bound on the result rows of any policy, and a plan that comes near it.

    Attributes
    ----------
    value
        Pairs, or their importance, that no policy can exceed within the budget.
    plan
        A policy for the real join, whose result is a lower bound of the optimum.
    """

    value: float
    plan: Planned

    @classmethod
    def of(
        cls,
        left: Events,
        right: Events,
        windows: "tuple[Window | str, Window | str]",
        rows: int,
        split: Split = "pooled",
        importance: Importance | None = None,
    ) -> "Ceiling":
        """Bound what a join within a budget can make. O(pairs), some hundred times.

        Parameters
        ----------
        left, right, windows, rows, split, importance
            As in `Opt.plan`.

        Examples
        --------
        Three pairs in all, with room for one row at a time: two can be made.

        >>> left, right = Events([1, 2], [7, 8]), Events([3, 4, 5], [7, 8, 8])
        >>> ceiling = Ceiling.of(left, right, ("9 seconds", "0 seconds"), rows=1)
        >>> 2.0 <= ceiling.value <= 3.0
        True
        """
        parsed = (parse_window(windows[LEFT]), parse_window(windows[RIGHT]))
        course = Course.of(left, right, parsed)
        shares = Budget(rows=rows, split=split).shares
        pools: list[tuple[tuple[int, ...], int]] = [((LEFT, RIGHT), rows)]
        if shares is not None:
            pools = [((side,), int(rows * share)) for side, share in enumerate(shares)]
        value, end = 0.0, np.full(course.events, NOT_KEPT, np.int64)
        for sides, memory in pools:
            stays = Stays.of(course, sides, importance)
            best = cheapest(stays, memory)
            value += best.value
            end[best.row] = best.end
        plan = Planned(end[course.side == LEFT], end[course.side == RIGHT], "PRICES")
        return cls(value, plan)


class Stays(NamedTuple):
    """Every match of the rows of a pool, by row, then partner; both as events."""

    row: np.ndarray
    """Rows that have a match."""
    first: np.ndarray
    """Where the matches of each begin."""
    owner: np.ndarray
    """Of each match: which of the rows it is of."""
    partner: np.ndarray
    made: np.ndarray
    """Of each match: how many the row has made with it, or what they are worth."""
    events: int

    @classmethod
    def of(
        cls, course: Course, sides: tuple[int, ...], importance: Importance | None = None
    ) -> "Stays":
        """The matches of rows of some sides."""
        row, partner = meetings(course, sides)
        is_first = np.append(True, row[1:] != row[:-1])[: len(row)]
        first = np.flatnonzero(is_first)
        owner = np.cumsum(is_first) - 1
        made = np.arange(len(row)) - first[owner] + 1.0
        if importance is not None:
            benefit = benefit_of(course, row, partner, importance)
            total = np.append(0.0, np.cumsum(benefit))
            made = total[1:] - total[first[owner]]
        return cls(row[first], first, owner, partner, made, course.events)

    @property
    def most(self) -> float:
        """The most that a single match brings: no row stays where an event costs more."""
        single = np.diff(self.made, prepend=0.0)
        single[self.first] = self.made[self.first]
        return float(single.max())


class PricedChoice(NamedTuple):
    """What rows do at some prices."""

    value: float
    """The bound."""
    surplus: np.ndarray
    """Places left over in each stretch, over all its events; below 0 where too many are taken."""
    row: np.ndarray
    """Rows that stay."""
    end: np.ndarray
    """The event up to which each does."""


def cheapest(stays: Stays, memory: int) -> PricedChoice:
    """The least bound found, by raising prices where too many rows stay and lowering others.

    One price for all events comes first, by bisection; then a step for every stretch, scaled by
    how large its surplus usually is.
    """
    if not len(stays.row):
        none = np.empty(0, np.int64)
        return PricedChoice(0.0, np.zeros(1), none, none)
    edges = np.linspace(0, stays.events, min(STRETCHES, stays.events) + 1).astype(np.int64)

    def choose(prices: np.ndarray) -> PricedChoice:
        return _chosen(stays, memory, edges, prices)

    same = np.ones(len(edges) - 1)
    best = choose(same * 0.0)
    if best.surplus.min() >= 0:
        return best  # everything fits
    price = _one_price(choose, same, stays.most)
    prices = same * price
    last = np.append(stays.first[1:], len(stays.partner)) - 1
    longest = np.maximum.reduceat(stays.partner, stays.first) - stays.row
    step = max(price / 2, float(stays.made[last].sum()) / float(longest.sum()) / 8)
    usual = np.zeros(len(same))
    for number in range(ROUNDS):
        now = choose(prices)
        best = now if now.value < best.value else best
        square = now.surplus**2
        usual = square if not number else FADING * usual + (1 - FADING) * square
        way = now.surplus / np.sqrt(np.maximum(usual, 1.0))
        prices = np.maximum(prices - step / np.sqrt(1 + number / 4) * way, 0.0)
    return best


def _one_price(
    choose: Callable[[np.ndarray], PricedChoice], same: np.ndarray, most: float
) -> float:
    """The least single price at which no more rows stay than there are places, on average."""
    low, high = 0.0, most
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        if choose(same * middle).surplus.sum() > 0:
            high = middle
        else:
            low = middle
    return high


def _chosen(stays: Stays, memory: int, edges: np.ndarray, prices: np.ndarray) -> PricedChoice:
    """What each row does on its own: stay up to the match at which it has gained the most."""
    length = np.diff(edges)
    paid = np.append(0.0, np.cumsum(np.repeat(prices, length)))
    gained = stays.made - paid[stays.partner]
    most = np.maximum.reduceat(gained, stays.first)
    gain = most + paid[stays.row]
    stay = gain > 0
    at = np.flatnonzero(gained == most[stays.owner])
    # The first of equally good matches, so that a row takes no more room than it must.
    at = at[np.searchsorted(at, stays.first)]
    row, end = stays.row[stay], stays.partner[at[stay]]
    # A row takes a place after every event from its own up to the one before its partner.
    came = np.bincount(row, minlength=stays.events)
    taken = np.cumsum(came - np.bincount(end, minlength=stays.events))
    surplus = memory * length - np.add.reduceat(taken, edges[:-1])
    value = memory * float(paid[-1]) + float(gain[stay].sum())
    return PricedChoice(value, surplus.astype(np.float64), row, end)
