"""What a shard holds, counted anew from its stored tables: never above its budget."""

import json
import uuid
from collections.abc import Iterator, Sequence
from itertools import cycle
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import headgate as hg
from headgate.columns.row_sizes import BOOKKEEPING_BYTES
from headgate.learning.key_counts import COUNT_BYTES
from headgate.learning.keys_seen import SEEN_BYTES
from headgate.learning.room import TRIED_BYTES, WATCHED_BYTES
from headgate.learning.watch_limits import KEYED_BYTES
from headgate.spark.join.shard_replay import ReplayShards
from headgate.spark.state.blobs import from_blob
from headgate.spark.state.segments import payload
from tests.arrow_values import STORABLE, nested_types
from tests.byte_budgets import LEARNED, LEARNING, TIMES, WAYS, join_within, make_side
from tests.row_sizes import most_bytes, plain_row_bytes
from tests.spark.one_shard import LABEL, OneShard
from tests.thoroughness import examples, usually

pytestmark = pytest.mark.spark

Batches = Sequence[tuple[pa.Table, pa.Table]]


class AfterBatch(NamedTuple):
    """What a shard holds after a batch, by its rows and as it says."""

    row_bytes: int
    figures: dict[str, Any]

    @property
    def given_up(self) -> int:
        return int(self.figures["shed"] + self.figures["refused"])


def driven(join: hg.WindowJoin, batches: Batches) -> Iterator[AfterBatch]:
    """A shard driven batch by batch; its segments read as they lie in the state store."""
    shard = OneShard(join, (batches[0][0].schema, batches[0][1].schema), uuid.uuid4().hex)
    for left, right in batches:
        figures = shard.batch(left, right).metrics
        head = from_blob(shard.tester.peekValueState("head", LABEL)[0])
        parts = shard.tester.peekMapState("segments", LABEL)
        tables = [
            payload(from_blob(b"".join(parts[(name, part)][0] for part in range(count))))
            for name, count in zip(
                *(head.column(n).to_pylist() for n in ("name", "parts")), strict=True
            )
        ]
        assert all(table.get_total_buffer_size() <= most_bytes(table) for table in tables)
        yield AfterBatch(sum(sum(plain_row_bytes(table)) for table in tables), figures)


def check(way: str, sides: tuple[pa.Table, pa.Table], batches: int = 3) -> None:
    """Whatever is asked for, a third of what all rows take is never passed."""
    memory = sum(sum(plain_row_bytes(side)) for side in sides) // 3
    size, given_up = -(-sides[0].num_rows // batches), 0
    cut = [
        (sides[0].slice(first, size), sides[1].slice(first, size))
        for first in range(0, sides[0].num_rows, size)
    ]
    for after in driven(join_within(memory, way, sides), cut):
        monitor = after.figures["monitor_bytes"] if way in LEARNED else 0
        assert after.row_bytes == after.figures["held_bytes"] <= memory - monitor
        given_up += after.given_up
    assert given_up > 0


@pytest.mark.parametrize("way", usually(tuple(WAYS)[::3], WAYS))
def test_every_policy_stays_within_memory_with_a_column_of_every_type(way: str) -> None:
    rng = np.random.default_rng(3)
    check(way, tuple(make_side(rng, side, 40, **STORABLE) for side in (0, 1)))


def test_every_type_stays_within_memory() -> None:
    for kind, way in zip(STORABLE.values(), cycle(WAYS), strict=False):
        rng = np.random.default_rng(4)
        check(way, tuple(make_side(rng, side, 45, payload=kind) for side in (0, 1)))


@examples(15)
@given(kind=nested_types(), way=st.sampled_from(list(WAYS)), seed=st.integers(0, 99))
def test_memory_is_kept_however_types_nest(kind: pa.DataType, way: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    check(way, tuple(make_side(rng, side, 45, payload=kind) for side in (0, 1)))


class TestLargeWhereFrequent:
    """5 % of the rows have arrays of 500 numbers: those of the frequent keys, and important."""

    rows, batches, memory = 400, 8, 400_000

    def make_batch(self, rng: np.random.Generator, side: int, batch: int) -> pa.Table:
        large = rng.random(self.rows) < 0.05
        keys = np.where(large, rng.integers(0, 2, self.rows), rng.integers(2, 1_000, self.rows))
        seconds = 10 * batch + np.sort(rng.integers(0, 10, self.rows))
        return pa.table(
            {
                "key": keys,
                TIMES[side]: pa.array(seconds * 1_000_000, pa.timestamp("us", "UTC")),
                "place": [{"name": "x" * int(key % 7), "floor": None} for key in keys],
                "many": pa.array(
                    [list(range(500)) if big else [] for big in large], pa.list_(pa.int64())
                ),
                "urgency": np.where(large, 5.0, 1.0),
            }
        )

    @pytest.mark.parametrize("policy", ["prob", "greedy", "fifo"])
    def test_rows_that_are_large_where_the_policy_keeps_them_stay_within_memory(
        self, policy: str
    ) -> None:
        rng = np.random.default_rng(17)
        batches = [
            (self.make_batch(rng, 0, batch), self.make_batch(rng, 1, batch))
            for batch in range(self.batches)
        ]
        whole = [pa.concat_tables(batch[side] for batch in batches) for side in (0, 1)]
        models = {
            "frequencies": hg.Frequencies.of_tables(*whole, left_on=["key"], right_on=["key"])
        }
        goal = {"goal": hg.MaxImportance(left="urgency", right="urgency")}
        join = hg.WindowJoin(
            on="key",
            left=hg.Side(time=TIMES[0], window="100 seconds"),
            right=hg.Side(time=TIMES[1], window="100 seconds"),
            budget=hg.Budget(memory=self.memory),
            policy=policy,
            **(goal if policy == "greedy" else models),
        )
        given_up, most = 0, 0
        for after in driven(join, batches):
            assert after.row_bytes == after.figures["held_bytes"] <= self.memory
            given_up, most = given_up + after.given_up, max(most, after.row_bytes)
        assert given_up > 1_000
        assert most > 0.75 * self.memory


@pytest.mark.parametrize("how", ["inner", "full"])
def test_a_monitor_counts_the_long_keys_that_it_still_keeps(how: str) -> None:
    memory, rows, rng = 120_000, 120, np.random.default_rng(9)
    batches = []
    for batch, length in enumerate((200, 200, 1, 1, 1)):
        keys = [f"{number:0{length}}" for number in range(8)]
        batches.append(
            tuple(
                pa.table(
                    {
                        "key": [keys[at] for at in rng.zipf(1.5, rows) % 8],
                        time: pa.array(
                            (batch * rows + np.arange(rows)) * 100_000, pa.timestamp("us", "UTC")
                        ),
                    }
                )
                for time in TIMES
            )
        )
    join = hg.WindowJoin(
        on="key",
        left=hg.Side(time=TIMES[0], window="5 seconds"),
        right=hg.Side(time=TIMES[1], window="5 seconds"),
        budget=hg.Budget(memory=memory, monitor=LEARNING),
        how=how,
    )
    shard = OneShard(join, (batches[0][0].schema, batches[0][1].schema), uuid.uuid4().hex)
    for batch, (left, right) in enumerate(batches):
        figures = shard.batch(left, right, watermark_ms=1 + batch * rows * 100).metrics
        kept = shard.tester.peekValueState("lessons", LABEL)
        size = from_blob(kept[3]).num_rows * COUNT_BYTES
        if how == "full":
            entries, *_ = json.loads(kept[0])["followed_keys"]["seen"]
            size += entries * SEEN_BYTES
            size += KEYED_BYTES * sum(from_blob(blob).num_rows for blob in kept[1:3])
        for blob, entry in zip(
            (*kept[1:3], *kept[4:]), (WATCHED_BYTES,) * 2 + (TRIED_BYTES,) * 2, strict=True
        ):
            keys = (from_blob(blob) if blob is not None else left.slice(0, 0)).select(["key"])
            size += sum(plain_row_bytes(keys)) + (entry - BOOKKEEPING_BYTES) * keys.num_rows
        assert 0 < size <= figures["monitor_bytes"] <= LEARNING * memory


def test_a_batch_join_keeps_no_buffers_of_rows_it_gave_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("headgate.spark.join.shard_replay.ROWS_AT_ONCE", 1)  # a step a batch
    rows, wide = 2_000, 5_000
    schema = pa.schema(
        {"key": pa.int64(), TIMES[0]: pa.timestamp("us", "UTC"), "text": pa.string()}
    )
    join = hg.WindowJoin(
        on="key",
        left=hg.Side(time=TIMES[0], window="1 hour"),
        right=hg.Side(time=TIMES[1], window="1 hour"),
        budget=hg.Budget(rows=10),
        policy="fifo",
    )
    schemas = (schema, schema.set(1, pa.field(TIMES[1], schema.types[1])))
    shard = OneShard(join, schemas, uuid.uuid4().hex)
    in_use: list[int] = []

    def batches() -> Iterator[pa.RecordBatch]:
        for number in range(6):
            in_use.append(pa.total_allocated_bytes())
            yield step(number)

    def step(number: int) -> pa.RecordBatch:
        count, text = (rows, "x" * wide) if number < 2 else (1, "y")
        time = pa.array(np.arange(count) + 10_000 * number, pa.timestamp("us", "UTC"))
        key = pa.array(np.arange(count))
        texts = pa.array([text] * count)
        own = pa.StructArray.from_arrays([key, time, texts], fields=list(schemas[0]))
        none = pa.nulls(count, pa.struct(schemas[1]))
        return pa.record_batch(
            {
                "shard": pa.array([LABEL] * count, pa.int32()),
                "time": time,
                "side": pa.array([0] * count, pa.int32()),
                "position": pa.array(np.arange(count)),
                "left": own,
                "right": none,
            }
        )

    for _ in ReplayShards(shard.plan, join.policy)(batches()):
        pass
    assert in_use[-1] - in_use[0] < rows * wide / 10
