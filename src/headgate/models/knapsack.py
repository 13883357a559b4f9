"""The fractional knapsack with one limit (cost) or two (cost and room)."""

from dataclasses import dataclass

import numpy as np

HALVINGS = 48


@dataclass(frozen=True)
class Rule:
    """Which entries to take: those with the most gain per cost, net of the price of their room.

    Parameters
    ----------
    least
        The threshold: entries with more gain per cost than this are taken.
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
        ratio = _worth(gain, cost, room, self.price)
        return np.where(ratio > self.least, 1.0, np.where(ratio == self.least, self.at_least, 0.0))


@dataclass(frozen=True)
class Blend:
    """A mixture of two rules that differ in tied entries, the first applied to a share of them."""

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
    looked_at: int | None = None,
) -> Rule | Blend:
    """The rule that gains most within a limit on cost and, where given, one on room.

    With one limit, entries are taken by gain per cost; free ones always. With two, room has a price
    (a Lagrange multiplier) found by bisection. Just below it too much room is taken, just above it
    not all of it; both are optimal at the price itself, and so is any mixture. O(entries log
    entries) per bisection step; with ``looked_at``, computed on at most that many evenly spaced
    entries.

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
    step = -(-len(gain) // (looked_at or len(gain)))
    scale = len(gain[::step]) / len(gain)
    gain, cost = gain[::step], cost[::step]
    most_cost = max(most_cost, 0.0) * scale  # earlier subtractions may have been rounded
    room = np.zeros(len(gain)) if room is None else room[::step]
    most_room *= scale
    if cost.sum() <= most_cost and (room.sum() <= most_room or not room.any()):
        return ALL
    free = _within(gain, cost, most_cost, room, 0.0)
    if _taken(free, gain, cost, room) <= most_room:
        return free
    takes = room > 0
    if not takes.any():
        return free
    low, high = 0.0, float((gain[takes] / room[takes]).max())
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
    ratio = _worth(gain, cost, room, price)
    worth_it = ratio >= 0.0
    levels, level = np.unique(ratio[worth_it], return_inverse=True)
    if not len(levels):
        return Rule(np.inf, 0.0, price)
    by_level = np.bincount(level, cost[worth_it], len(levels))
    above = np.cumsum(by_level[::-1])[::-1]
    fits = int(np.searchsorted(-above, -most_cost))
    if fits == 0:
        return Rule(float(levels[0]), 1.0, price)
    rest = most_cost - (above[fits] if fits < len(levels) else 0.0)
    costs = by_level[fits - 1]
    return Rule(float(levels[fits - 1]), max(rest, 0.0) / costs if costs > 0 else 1.0, price)


def _worth(gain: np.ndarray, cost: np.ndarray, room: np.ndarray, price: float) -> np.ndarray:
    """Gain net of the price of room, per cost: infinite for free entries, minus infinity for those
    not worth their room."""
    net = gain - price * room
    free = cost <= 0
    worth: np.ndarray = np.where(free, np.inf, net / np.where(free, 1.0, cost))
    unpaid = (net < 0) | ((net <= 0) & (room > 0) & (price > 0))
    return np.where(unpaid, -np.inf, worth)
