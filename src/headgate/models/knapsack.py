"""What to take when not all can be had: the fractional knapsack, with one limit or two."""

from dataclasses import dataclass

import numpy as np

MOST_LOOKED_AT = 4096
"""Entries a rule is made from; more are sampled evenly."""
HALVINGS = 40


@dataclass(frozen=True)
class Rule:
    """Which entries to take: those with most gain for their cost, after paying for their room.

    Parameters
    ----------
    least
        Gain per cost from which entries are taken.
    at_least
        The share of the entries with exactly that gain per cost that is taken.
    price
        What a unit of room costs, in units of gain.
    """

    least: float
    at_least: float
    price: float = 0.0

    def shares(self, gain: np.ndarray, cost: np.ndarray, room: np.ndarray) -> np.ndarray:
        """The share of each entry that is taken."""
        ratio = _ratio(gain - self.price * room, cost)
        return np.where(ratio > self.least, 1.0, np.where(ratio == self.least, self.at_least, 0.0))


@dataclass(frozen=True)
class Blend:
    """Two rules that differ in entries which tie: the first to a share, the second for the rest."""

    one: Rule
    other: Rule
    share: float

    def shares(self, gain: np.ndarray, cost: np.ndarray, room: np.ndarray) -> np.ndarray:
        """The share of each entry that is taken."""
        one, other = (rule.shares(gain, cost, room) for rule in (self.one, self.other))
        return self.share * one + (1 - self.share) * other


ALL = Rule(-np.inf, 1.0)


def best_rule(
    gain: np.ndarray,
    cost: np.ndarray,
    most_cost: float,
    room: np.ndarray | None = None,
    most_room: float = np.inf,
) -> Rule | Blend:
    """The rule that gains most within a limit on cost and, where given, one on room.

    With one limit the best is to take entries by gain per cost. With two, room has a price, found
    by halving: the lowest at which what is worth its price fits.

    Examples
    --------
    >>> gain, cost = np.array([6.0, 5.0, 4.0]), np.array([2.0, 1.0, 4.0])
    >>> best_rule(gain, cost, most_cost=2.0).shares(gain, cost, cost)
    array([0.5, 1. , 0. ])
    >>> room = np.array([1.0, 4.0, 1.0])
    >>> rule = best_rule(gain, cost, most_cost=6.0, room=room, most_room=2.0)
    >>> rule.shares(gain, cost, room).round(3)
    array([1., 0., 1.])
    """
    if not len(gain):
        return ALL
    step = -(-len(gain) // MOST_LOOKED_AT)
    scale = len(gain[::step]) / len(gain)
    gain, cost = gain[::step], cost[::step]
    most_cost *= scale
    room = np.zeros(len(gain)) if room is None else room[::step]
    most_room *= scale
    if cost.sum() <= most_cost and room.sum() <= most_room:
        return ALL
    free = _within(gain, cost, most_cost, room, 0.0)
    if _taken(free, gain, cost, room) <= most_room:
        return free
    low, high = 0.0, float((gain / np.maximum(room, 1e-300)).max())
    for _ in range(HALVINGS):
        price = (low + high) / 2
        if _taken(_within(gain, cost, most_cost, room, price), gain, cost, room) <= most_room:
            high = price
        else:
            low = price
    # Between the two prices lie entries that tie; a share of them fills the room.
    cheap, dear = (_within(gain, cost, most_cost, room, price) for price in (low, high))
    much, little = (_taken(rule, gain, cost, room) for rule in (cheap, dear))
    return Blend(cheap, dear, (most_room - little) / max(much - little, 1e-300))


def _taken(rule: Rule, gain: np.ndarray, cost: np.ndarray, room: np.ndarray) -> float:
    """The room that a rule takes up."""
    return float((rule.shares(gain, cost, room) * room).sum())


def _within(
    gain: np.ndarray, cost: np.ndarray, most_cost: float, room: np.ndarray, price: float
) -> Rule:
    """The best rule within a cost, where room has a price."""
    ratio = _ratio(gain - price * room, cost)
    worth_it = ratio >= 0.0 if price == 0.0 else ratio > 0.0
    levels, level = np.unique(ratio[worth_it], return_inverse=True)
    if not len(levels):
        return Rule(np.inf, 0.0, price)
    by_level = np.bincount(level, cost[worth_it], len(levels))
    above = np.cumsum(by_level[::-1])[::-1]
    fits = int(np.searchsorted(-above, -most_cost))
    if fits == 0:
        return Rule(float(levels[0]), 1.0, price)
    rest = most_cost - (above[fits] if fits < len(levels) else 0.0)
    return Rule(float(levels[fits - 1]), max(rest, 0.0) / by_level[fits - 1], price)


def _ratio(gain: np.ndarray, cost: np.ndarray) -> np.ndarray:
    ratio: np.ndarray = gain / np.maximum(cost, 1e-300)
    return ratio
