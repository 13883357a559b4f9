"""A cache in plain Python, a dictionary and loops: the definition of right for hits and misses.

A reference is a hit when its key is cached. Otherwise the key may be cached; when the cache is
full, the key worth least goes, be it the newcomer. The lookup makes the same hits on every stream.
"""

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from math import inf

import numpy as np

from headgate.policies.chance import uniform

Key = Hashable


@dataclass
class Cached:
    """A cached key, or one that may be."""

    key: Key
    since: int
    """Which reference brought it."""
    hits: int = 0
    used: int = 0
    """The last reference to it."""


Worth = Callable[[Cached, int], float]
"""What a cached key is worth at a reference; the key worth least goes, of equals the elder."""


def simulate(
    references: Sequence[Key], room: int, worth: Worth, takes_newcomers: bool = False
) -> list[bool]:
    """For each reference, whether it is a hit.

    Parameters
    ----------
    references
        Keys in order of arrival.
    room
        How many keys the cache holds.
    worth
        What a key is worth keeping.
    takes_newcomers
        Whether a newcomer is cached whatever it is worth.

    Examples
    --------
    >>> simulate("abcab", 2, lru)
    [False, False, False, False, False]
    >>> simulate("abcab", 2, lfd("abcab"))
    [False, False, False, True, True]
    """
    cache: dict[Key, Cached] = {}
    hits = []
    for now, key in enumerate(references):
        hits.append(key in cache)
        if key in cache:
            cache[key].hits += 1
            cache[key].used = now
            continue
        newcomer = Cached(key, now, used=now)
        if len(cache) < room:
            cache[key] = newcomer
            continue
        candidates = [*cache.values()] if takes_newcomers else [*cache.values(), newcomer]
        least = min(candidates, key=lambda row: (worth(row, now), row.since), default=newcomer)
        if least is not newcomer:
            del cache[least.key]
            cache[key] = newcomer
    return hits


def lru(row: Cached, now: int) -> float:
    """The last use."""
    return row.used


def lfu(row: Cached, now: int) -> float:
    """Hits while it was cached; to be used with ``takes_newcomers``."""
    return row.hits


def fifo(row: Cached, now: int) -> float:
    """When it was cached."""
    return row.since


def random(seed: int = 0) -> Worth:
    """A number of its own, drawn when it was cached: as the policy RANDOM draws it."""

    def drawn(row: Cached, now: int) -> float:
        return float(uniform(seed, np.zeros(1, np.uint8), np.array([row.since]))[0])

    return drawn


def perfect_lfu(references: Sequence[Key]) -> Worth:
    """How often it was referenced in the whole past, cached or not."""
    places = _places(references)
    return lambda row, now: bisect_right(places[row.key], now)


def lfd(references: Sequence[Key]) -> Worth:
    """The sooner it is referenced again, the more: the best there is, knowing the future."""
    places = _places(references)

    def soon(row: Cached, now: int) -> float:
        mine = places[row.key]
        at = bisect_left(mine, now + 1)
        return -float(mine[at]) if at < len(mine) else -inf

    return soon


def _places(references: Sequence[Key]) -> dict[Key, list[int]]:
    places = defaultdict(list)
    for place, key in enumerate(references):
        places[key].append(place)
    return places
