"""What a shard holds, counted anew from its stored tables: never above its budget."""

import uuid
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import headgate as hg
from headgate.columns.sizes import BOOKKEEPING_BYTES
from headgate.policies import ALL_POLICIES, Policy
from headgate.spark.blobs import from_blob
from headgate.spark.segments import payload
from tests.row_sizes import plain_row_bytes
from tests.spark.one_shard import LABEL, OneShard
from tests.spark.streams import START_US, timestamps

pytestmark = pytest.mark.spark

TIMES = ("opened_at", "bid_at")
ROWS, BATCHES, MEMORY = 400, 10, 400_000


def stored_tables(shard: OneShard) -> list[pa.Table]:
    """The payload of a shard's segments, as they lie in its state store."""
    head = from_blob(shard.tester.peekValueState("head", LABEL)[0])
    parts = shard.tester.peekMapState("segments", LABEL)
    blobs = [
        b"".join(parts[(name, part)][0] for part in range(count))
        for name, count in zip(
            head.column("name").to_pylist(), head.column("parts").to_pylist(), strict=True
        )
    ]
    return [payload(from_blob(blob)) for blob in blobs]


def large_where_frequent(rng: np.random.Generator, side: int, batch: int) -> pa.Table:
    """5 % of the rows have arrays of 500 numbers: those of the two frequent keys."""
    large = rng.random(ROWS) < 0.05
    keys = np.where(large, rng.integers(0, 2, ROWS), rng.integers(2, 1_000, ROWS))
    seconds = 10 * batch + np.sort(rng.integers(0, 10, ROWS))
    return pa.table(
        {
            "key": keys,
            TIMES[side]: timestamps(START_US + seconds * 1_000_000),
            "place": [{"name": "x" * int(k % 7), "floor": None} for k in keys],
            "many": pa.array([list(range(500)) if big else [] for big in large], pa.list_(pa.int64())),
        }
    )


def bytes_held(policy: str) -> list[tuple[int, int, dict[str, Any]]]:
    """After every batch: bytes of the stored rows one by one, bytes of their tables, figures."""
    rng = np.random.default_rng(17)
    batches = [
        [large_where_frequent(rng, side, batch) for side in (0, 1)] for batch in range(BATCHES)
    ]
    both = [pa.concat_tables(batch[side] for batch in batches) for side in (0, 1)]
    join = hg.WindowJoin(
        on="key",
        left=hg.Side(time=TIMES[0], window="100 seconds"),
        right=hg.Side(time=TIMES[1], window="100 seconds"),
        budget=hg.Budget(memory=MEMORY),
        policy=policy,
        frequencies=hg.Frequencies.of_tables(*both, left_on=["key"], right_on=["key"]),
        ages=hg.AgeCurves.of_buckets((100_000_000, 100_000_000), ((1, 2), (2, 1))),
    )
    shard = OneShard(join, (both[0].schema, both[1].schema), uuid.uuid4().hex)
    held = []
    for left, right in batches:
        metrics = shard.batch(left, right).metrics
        tables = stored_tables(shard)
        rows = sum(sum(plain_row_bytes(table)) for table in tables)
        held.append((rows, sum(table.nbytes for table in tables), metrics))
    return held


@pytest.mark.parametrize("policy", ["prob", "greedy", "fifo"])
def test_rows_that_are_large_where_the_policy_keeps_them_stay_within_memory(policy: str) -> None:
    held = bytes_held(policy)
    print(policy, [(r, n, m["held_bytes"], m["shed"]) for r, n, m in held])
    assert sum(metrics["shed"] for _, _, metrics in held) > 100
    for rows, tables, metrics in held:
        assert tables <= rows == metrics["held_bytes"] <= MEMORY
