"""Reference simulation of a cache in plain Python, which defines the correct hits and misses.

A reference is a hit when its key is cached. Otherwise the key is a candidate; when the cache is
full, the key of lowest worth is evicted, possibly the candidate itself. The lookup must produce the
same hits on every stream.
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
class CacheResult:
    """A cached key, or a candidate."""

    key: Key
    since: int
    """The reference that cached it."""
    hits: int = 0
    used: int = 0
    """The last reference to it."""


Worth = Callable[[CacheResult, int], float]
"""Score of a cached key at a reference; the lowest is evicted, of equals the oldest."""


def simulate(
    references: Sequence[Key], room: int, worth: Worth, takes_newcomers: bool = False
) -> list[bool]:
    """Tell for each reference whether it is a hit.

    Parameters
    ----------
    references
        Keys in order of arrival.
    room
        How many keys the cache holds.
    worth
        The score of a key; the lowest is evicted.
    takes_newcomers
        Whether a new key is always cached, whatever its score.

    Examples
    --------
    >>> simulate("abcab", 2, lru)
    [False, False, False, False, False]
    >>> simulate("abcab", 2, lfd("abcab"))
    [False, False, False, True, True]
    """
    cache: dict[Key, CacheResult] = {}
    hits = []
    for now, key in enumerate(references):
        hits.append(key in cache)
        if key in cache:
            cache[key].hits += 1
            cache[key].used = now
            continue
        newcomer = CacheResult(key, now, used=now)
        if len(cache) < room:
            cache[key] = newcomer
            continue
        candidates = [*cache.values()] if takes_newcomers else [*cache.values(), newcomer]
        least = min(candidates, key=lambda row: (worth(row, now), row.since), default=newcomer)
        if least is not newcomer:
            del cache[least.key]
            cache[key] = newcomer
    return hits


def lru(row: CacheResult, now: int) -> float:
    """Score: time of the last use."""
    return row.used


def lfu(row: CacheResult, now: int) -> float:
    """Score: hits while cached; use with ``takes_newcomers``."""
    return row.hits


def fifo(row: CacheResult, now: int) -> float:
    """Score: the time at which the key was cached."""
    return row.since


def random(seed: int = 0) -> Worth:
    """Score: a random number drawn when the key is cached, as the policy RANDOM draws it."""

    def drawn(row: CacheResult, now: int) -> float:
        return float(uniform(seed, np.zeros(1, np.uint8), np.array([row.since]))[0])

    return drawn


def perfect_lfu(references: Sequence[Key]) -> Worth:
    """Score: number of past references, cached or not."""
    places = _places(references)
    return lambda row, now: bisect_right(places[row.key], now)


def lfd(references: Sequence[Key]) -> Worth:
    """Score: higher the sooner the next reference comes; optimal, since it knows the future."""
    places = _places(references)

    def soon(row: CacheResult, now: int) -> float:
        mine = places[row.key]
        at = bisect_left(mine, now + 1)
        return -float(mine[at]) if at < len(mine) else -inf

    return soon


def _places(references: Sequence[Key]) -> dict[Key, list[int]]:
    places = defaultdict(list)
    for place, key in enumerate(references):
        places[key].append(place)
    return places
