"""Chooses the shard count: as many as keys fill evenly, since each has its own memory share."""

from dataclasses import replace

import numpy as np

from headgate.columns.hashing import hash_keys
from headgate.planner.draft import Draft, Shards
from headgate.planner.planning_case import PlanningCase

NUMBERS = (2, 4, 8, 16, 32, 64)
MUCH = 1.25
"""The largest load of the fullest shard, relative to an even share."""
SPREADS = 16
"""Random key placements tried; the actual one on Spark is not known in advance."""


def plan_shards(case: PlanningCase, draft: Draft) -> Draft:
    """Spread the heavy keys and measure the load of the fullest shard."""
    numbers = sorted({*NUMBERS, *([] if case.shards is None else [case.shards])})
    load, rest = _loads(case)
    fullest = {number: _fullest(load, rest, number) for number in numbers}
    even = [number for number in NUMBERS if fullest[number] <= MUCH]
    return replace(draft, shards=Shards(case.shards, max(even, default=1), fullest))


def _loads(case: PlanningCase) -> tuple[tuple[np.ndarray, np.ndarray], float]:
    """Share of stored rows of each heavy key, by hash, and of all other keys together."""
    total = max(sum(case.window_rows), 1e-300)
    hashes, parts = [np.empty(0, np.uint64)], [np.empty(0)]
    for side, known in enumerate((case.profile.frequencies.left, case.profile.frequencies.right)):
        if len(known.share):
            hashes.append(hash_keys(known.columns)[0])
            parts.append(known.share * case.window_rows[side] / total)
    keys, place = np.unique(np.concatenate(hashes), return_inverse=True)
    load = np.bincount(place, np.concatenate(parts), minlength=len(keys))
    return (keys, load), max(1.0 - float(load.sum()), 0.0)


def _fullest(load: tuple[np.ndarray, np.ndarray], rest: float, shards: int) -> float:
    """Load of the fullest shard relative to an even one, averaged over random key placements."""
    keys, parts = load
    found = []
    for spread in range(SPREADS):
        mixed = (keys ^ np.uint64(spread * 0x9E3779B97F4A7C15 % (1 << 64))) * np.uint64(
            0xBF58476D1CE4E5B9
        )
        shard = (mixed >> np.uint64(33)) % np.uint64(shards)
        held = np.bincount(shard.astype(np.int64), parts, minlength=shards)
        found.append(float(held.max(initial=0.0)) * shards + rest)
    return float(np.mean(found))
