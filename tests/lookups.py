"""Lookups for tests: streams of keys, a table, and every policy with its plain form."""

from collections.abc import Callable, Iterator, Sequence

import pyarrow as pa
import pytest
from hypothesis import strategies as st

import headgate as hg
from headgate.engine.table_rows import TableRows
from headgate.kernel.step_progress import StepProgress
from headgate.lookup import cache_simulation
from headgate.lookup.lookup_step import LookupStep
from headgate.models import (
    Frequencies,
)
from tests.thoroughness import examples

KEYS = 12
POLICIES: dict[str, tuple[Callable[[list], cache_simulation.Worth], bool]] = {
    "lru": (lambda keys: cache_simulation.lru, False),
    "lfu": (lambda keys: cache_simulation.lfu, True),
    "fifo": (lambda keys: cache_simulation.fifo, False),
    "random": (lambda keys: cache_simulation.random(0), False),
    "lfd": (cache_simulation.lfd, False),
    "prob": (lambda keys: lambda row, now: SHARES.get(row.key, 0.0), False),
}
"""Worth in the plain cache, and whether newcomers always get in."""
SHARES = {key: 1 / (2 + key * key) for key in range(KEYS)}
MODEL = Frequencies.of_mappings(SHARES, SHARES)
CONSUMPTION = pa.table(
    {
        "temperature": pa.array(range(KEYS), pa.int64()),
        "energy": [100.0 - key for key in range(KEYS)],
        "note": ["x" * (7 * key % 40) for key in range(KEYS)],
    }
)
every_policy = pytest.mark.parametrize("policy", list(POLICIES))
careful = examples(20)
keys_of_streams = st.lists(st.integers(0, KEYS - 1), max_size=60)
rooms = st.integers(1, 8)


def lookup(policy: str, budget: hg.Budget, table: object = None, **more: object) -> hg.CachedLookup:
    """A lookup by temperature."""
    table = hg.ArrowTable(CONSUMPTION) if table is None else table
    if policy == "prob":
        more["frequencies"] = MODEL
    return hg.CachedLookup(on="temperature", table=table, budget=budget, policy=policy, **more)


def stream(keys: Sequence[int | None]) -> pa.Table:
    """Numbered days with a temperature each."""
    return pa.table({"day": range(len(keys)), "temperature": pa.array(keys, pa.int64())})


def steps(
    asked: hg.CachedLookup, given: pa.Table, cuts: Sequence[int]
) -> Iterator[tuple[LookupStep, TableRows]]:
    """A lookup cut as asked for, step after step, each with the cache it leaves."""
    stored, progress = TableRows.nothing(asked.schema), StepProgress()
    for first, end in zip([0, *cuts], [*cuts, given.num_rows], strict=True):
        step = LookupStep(
            asked.terms(),
            asked.shape(given.schema),
            asked.table,
            asked.schema,
            stored,
            given.slice(first, end - first),
            progress,
            asked.how,
            asked.policy,
        )
        stored, progress = step.survivors(0).compact(), step.after
        yield step, stored
