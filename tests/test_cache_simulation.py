"""Caches simulated: against the lookup, the join, and sums over the future."""

from collections.abc import Sequence
from functools import cache
from typing import ClassVar

import numpy as np
import pandas as pd
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

import headgate as hg
from headgate.lookup import cache_simulation
from headgate.lookup.reduction import as_streams
from headgate.models import (
    ExponentialLife,
    Noise,
    Now,
    RandomWalk,
    estimated_benefit,
)
from headgate.policies import Heeb, JoinToLive
from headgate.policies.kinds.fixed_score import FixedScore
from headgate.policies.offline import Opt
from headgate.policies.offline.lfd import longest_forward_distance
from headgate.policies.policy import Arrivals
from tests.lookups import (
    KEYS,
    POLICIES,
    careful,
    keys_of_streams,
    lookup,
    rooms,
    stream,
)


class TestSimulation:
    """The plain cache itself."""

    def test_perfect_lfu_remembers_what_it_gave_up(self) -> None:
        keys = list("aabbcbcc")
        perfect = cache_simulation.simulate(keys, 1, cache_simulation.perfect_lfu(keys))
        # "b" gets in when it has come as often as "a", though "a" alone was cached so far.
        assert perfect == [False, True, False, False, False, True, False, False]

    @careful
    @given(keys=keys_of_streams, room=rooms)
    def test_nothing_beats_lfd(self, keys: list[int], room: int) -> None:
        best = sum(cache_simulation.simulate(keys, room, cache_simulation.lfd(keys)))
        others = [
            *((worth(keys), takes) for worth, takes in POLICIES.values()),
            (cache_simulation.perfect_lfu(keys), False),
        ]
        assert all(sum(cache_simulation.simulate(keys, room, *other)) <= best for other in others)

    @careful
    @given(keys=keys_of_streams, room=rooms)
    def test_the_plan_of_lfd_is_the_plain_one(self, keys: list[int], room: int) -> None:
        plan = longest_forward_distance(np.array(keys, np.int64), room)
        assert sum(plan.is_hit) == sum(
            cache_simulation.simulate(keys, room, cache_simulation.lfd(keys))
        )


class Planned(FixedScore):
    """Keeps supplies until a place known beforehand; what has been met is past its place."""

    name: ClassVar[str] = "planned"
    weighs_keys: ClassVar[bool] = True
    until: ClassVar[dict[tuple[int, int], float]] = {}

    def weigh(self, columns: Sequence[pa.ChunkedArray], side: int) -> np.ndarray:
        pairs = zip(*(column.to_pylist() for column in columns), strict=True)
        return np.array([self.until.get(pair, 0.0) for pair in pairs])

    def score(self, arrivals: Arrivals) -> np.ndarray:
        return arrivals.weight


def results_of_the_join(
    keys: list[int], room: int, policy: hg.policies.Policy | None = None
) -> int:
    """How many rows the window join of references and supplies makes, at best if so asked."""
    start = pd.Timestamp("2026-01-01")
    sides = []
    for numbered, shift in zip(as_streams(keys), (0, 1), strict=True):
        times = [start + pd.Timedelta(seconds=2 * n + shift) for n in range(len(keys))]
        columns = {"v": [v for v, _ in numbered], "i": [i for _, i in numbered], "at": times}
        sides.append(pa.Table.from_pandas(pd.DataFrame(columns)))
    join = hg.WindowJoin(
        on=["v", "i"],
        left=hg.Side(time="at", window="1000 days"),
        right=hg.Side(time="at", window="0 seconds"),
        budget=hg.Budget(rows=room),
        policy=policy or "fifo",
    )
    if policy is None:
        return Opt.for_join(join, sides[1], sides[0]).value
    return join.run(sides[1], sides[0]).stats.pairs


@careful
@given(keys=st.lists(st.integers(0, KEYS - 1), min_size=1, max_size=60), room=rooms)
def test_a_cache_is_a_join_in_which_matched_rows_are_worthless(keys: list[int], room: int) -> None:
    """SIGMOD 2005, section 3.1: the join of R' and S' has as many rows as the cache has hits."""
    # Supplies that were met go first, then the oldest: the row whose key was used longest ago.
    by_age = results_of_the_join(keys, room, JoinToLive(matches=1))
    assert by_age == lookup("lru", hg.Budget(rows=room)).run(stream(keys)).stats.hits
    plan = longest_forward_distance(np.array(keys), room)
    Planned.until = dict(zip(as_streams(keys)[1], plan.kept_until.tolist(), strict=True))
    planned = results_of_the_join(keys, room, Planned())
    assert planned == lookup("lfd", hg.Budget(rows=room)).run(stream(keys)).stats.hits
    assert planned == results_of_the_join(keys, room)


WALK = RandomWalk(0, Noise.of({-1: 0.3, 0: 0.3, 1: 0.4}))
"""Not symmetric, so that no two values are worth the same."""


@cache
def first_reference_worth(offset: int, room: int) -> float:
    """What a value is worth, so far from where the walk is now, by the definition."""
    now, value = Now(0, 0), np.array([offset])
    return float(estimated_benefit(WALK, now, value, ExponentialLife(room), caching=True)[0])


@careful
@given(keys=keys_of_streams, room=rooms)
def test_heeb_makes_the_hits_of_a_plain_cache_that_sums_over_the_future(
    keys: list[int], room: int
) -> None:
    def worth(row: cache_simulation.CacheResult, now: int) -> float:
        return first_reference_worth(row.key - keys[now], room)

    wanted = sum(cache_simulation.simulate(keys, room, worth))
    asked = lookup(Heeb.of_references(WALK), hg.Budget(rows=room))
    assert asked.run(stream(keys)).stats.hits == wanted
