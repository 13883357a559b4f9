"""LFD: the optimal cache policy, given the whole stream in advance."""

from dataclasses import dataclass
from heapq import heappop, heappush
from typing import ClassVar, NamedTuple

import numpy as np

from headgate.policies.kinds.fixed_score import FixedScore
from headgate.policies.policy import Arrivals, RanksBy


class LfdPlan(NamedTuple):
    """What LFD does with the row supplied after each reference."""

    is_hit: np.ndarray
    """Whether the reference itself finds its row cached."""
    kept_until: np.ndarray
    """The next reference to the key, where the row is kept until then; else the reference after
    which it goes. Infinite where it is never needed again and never in the way."""


@dataclass(frozen=True)
class Lfd(FixedScore):
    """Longest forward distance: evict the row whose next reference is farthest away.

    The newcomer may be the one, and is then not stored. What LFD would do is worked out over the
    whole stream at first, in rows of equal size; each row then gets a fixed score, the place in the
    stream at which it is due to go. When room is needed, the row that is due is the one whose
    place has come, so the plan is carried out to the letter.

    Examples
    --------
    >>> Lfd().plan(np.array([0, 1, 2, 0, 1]), room=2).tolist()
    [inf, inf, 2.0, inf, inf]

    References
    ----------
    Belady, "A study of replacement algorithms for virtual-storage computers", IBM Systems Journal
    5 (2), 1966; LFD in Xie, Yang, Chen, SIGMOD 2005, sections 7.1 and 8.
    """

    name: ClassVar[str] = "lfd"
    caches: ClassVar[bool] = True
    is_offline: ClassVar[bool] = True
    weighs_keys: ClassVar[bool] = True
    ranks_by: ClassVar[RanksBy] = RanksBy.FREQUENCY

    def plan(self, references: np.ndarray, room: int) -> np.ndarray:
        """Until which reference the row that each one brings stays, hits on the way included."""
        is_hit, kept_until = longest_forward_distance(references, room)
        after = next_references(references)
        end = kept_until.copy()
        for place in range(len(end) - 1, -1, -1):
            later = int(after[place])
            if later < len(end) and is_hit[later]:
                end[place] = end[later]
        return end

    def reference_weights(self, references: np.ndarray, room: int) -> np.ndarray:
        """The plan."""
        return self.plan(references, room)

    def score(self, arrivals: Arrivals) -> np.ndarray:
        """The place at which the row is due to go."""
        return arrivals.weight


def longest_forward_distance(references: np.ndarray, room: int) -> LfdPlan:
    """Simulate LFD on keys given as whole numbers. O(log room) a reference."""
    count = len(references)
    after = next_references(references)
    is_hit = np.zeros(count, bool)
    kept_until = np.full(count, np.inf)
    cached: dict[int, int] = {}
    """The last reference to each cached key."""
    farthest: list[tuple[int, int, int]] = []
    """Next references, the farthest first, with key and last reference; stale when that is not
    the last any more."""
    for place, key in enumerate(references.tolist()):
        if key in cached:
            is_hit[place] = True
            kept_until[cached[key]] = place
        elif len(cached) >= room:
            while farthest and cached.get(farthest[0][1]) != farthest[0][2]:
                heappop(farthest)
            if not farthest or -farthest[0][0] <= after[place]:
                kept_until[place] = place
                continue
            _, worst, _ = heappop(farthest)
            kept_until[cached.pop(worst)] = place
        cached[key] = place
        heappush(farthest, (-int(after[place]), key, place))
    return LfdPlan(is_hit, kept_until)


def next_references(references: np.ndarray) -> np.ndarray:
    """For each reference the place of the next one to its key; their number where there is none.

    Examples
    --------
    >>> next_references(np.array([7, 8, 7])).tolist()
    [2, 3, 3]
    """
    count = len(references)
    order = np.argsort(references, kind="stable")
    same = references[order][1:] == references[order][:-1]
    after = np.full(count, count, np.int64)
    after[order[:-1][same]] = order[1:][same]
    return after
