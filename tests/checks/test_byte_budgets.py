"""A budget in bytes holds by what rows take: every type, every policy, every step."""

from functools import cache

import numpy as np
import pyarrow as pa
import pytest

import headgate as hg
from headgate.columns.plain_form import plain
from tests.arrow_values import KINDS, make_array
from tests.byte_budgets import WAYS, join_within, make_side, steps
from tests.row_sizes import most_bytes, plain_row_bytes
from tests.thoroughness import LONG

ROWS, STEPS = 48, 3
Sides = tuple[pa.Table, pa.Table]


@cache
def sides_and_size(name: str) -> tuple[Sides, int]:
    """Two sides with a payload of this type, and the bytes of all their rows."""
    rng = np.random.default_rng(17)
    left, right = (plain(make_side(rng, side, ROWS, payload=KINDS[name])) for side in (0, 1))
    return (left, right), sum(plain_row_bytes(left)) + sum(plain_row_bytes(right))


def in_turn(name: str, policies: tuple[str, ...]) -> tuple[str, ...]:
    """One of the policies for each type, all in the long round."""
    return policies if LONG else (policies[list(KINDS).index(name) % len(policies)],)


@pytest.mark.parametrize("way", WAYS)
def test_stored_rows_stay_within_memory_after_every_step(way: str) -> None:
    # Every type under three policies, every policy with a sixth of the types.
    some = slice(None) if LONG else slice(list(WAYS).index(way) % 6, None, 6)
    for sides, needed in map(sides_and_size, list(KINDS)[some]):
        memory, given_up = needed // 3, 0
        for after in steps(join_within(memory, way, sides), sides, STEPS):
            counted = sum(sum(plain_row_bytes(table)) for table in after.stored)
            assert after.stored_bytes == counted <= memory
            for table in after.stored:
                assert table.get_total_buffer_size() <= most_bytes(table)
            given_up += after.given_up
        assert given_up > 0


@pytest.mark.parametrize("name", KINDS)
def test_run_counts_what_rows_take(name: str) -> None:
    sides, needed = sides_and_size(name)
    # A tenth is kept back, as on a stream.
    exact = join_within(-(-needed * 10 // 9) + 1, "fifo", sides).run(*sides)
    assert exact.stats.peak_bytes == exact.stats.stored_bytes == needed
    assert exact.pairs.num_rows == exact.stats.pairs > 100
    for way in in_turn(name, ("fifo", "prob", "size")):
        lean = join_within(needed // 3, way, sides).run(*sides)
        assert lean.stats.lost_rows > 0
        assert lean.stats.stored_bytes <= lean.stats.peak_bytes <= needed // 3


@pytest.mark.parametrize("name", KINDS)
def test_cached_rows_stay_within_memory(name: str) -> None:
    rng = np.random.default_rng(29)
    payload = make_array(KINDS[name], rng, np.arange(12) < 4)
    table = pa.table({"key": np.arange(12), "payload": payload})
    stream = pa.table({"key": rng.zipf(1.5, 60) % 12})
    sizes = plain_row_bytes(plain(table))
    memory = sum(sizes) // 2
    for policy in in_turn(name, ("lru", "lfu", "fifo", "random")):
        asked = hg.CachedLookup(
            on="key", table=hg.ArrowTable(table), budget=hg.Budget(memory=memory), policy=policy
        )
        found = asked.run(stream, batch_rows=13)
        places = stream.column("key").to_pylist()
        assert found.rows.column("payload").to_pylist() == [payload[at].as_py() for at in places]
        assert found.stats.peak_bytes <= memory
        assert found.stats.evictions + found.stats.refused > 0
        everything = hg.CachedLookup(
            on="key",
            table=hg.ArrowTable(table),
            budget=hg.Budget(memory=10 * memory),
            policy=policy,
        )
        assert everything.run(stream).stats.stored_bytes == sum(sizes[at] for at in set(places))
