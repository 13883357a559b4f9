"""Where a stream is cut into batches changes nothing: not the results, not what is stored, not what
is learned. For every policy that learns, and every goal; exceptions are in
docs/concepts/internals.md.
"""

import json
import uuid
from itertools import pairwise, permutations
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import headgate as hg
from headgate.columns.times import microseconds
from headgate.learning.keys_seen import KeysSeen
from headgate.policies import Hist
from headgate.spark.state.blobs import from_blob
from tests.spark.one_shard import LABEL, OneShard
from tests.spark.streams import START_US, multiset, timestamps
from tests.thoroughness import examples, usually

pytestmark = pytest.mark.spark

WINDOW_S = 40
KINDS: dict[str, Any] = {
    "prob": {"policy": "prob"},
    "life": {"policy": "life"},
    "age": {"policy": "age"},
    "auto": {"policy": "auto"},
    "auto on a band": {"policy": "auto", "on": None, "where": hg.Band("key", lower=-1, upper=1)},
    "hist": {"policy": Hist("walk")},
    "trend": {"policy": Hist("trend")},
    "prob by importance": {"policy": "prob", "goal": hg.MaxImportance("worth")},
    "age by importance": {"policy": "age", "goal": hg.MaxImportance("worth")},
    "sample": {"goal": hg.Sample("auto")},
    "fifo": {"policy": "fifo"},
    "left outer": {"policy": "prob", "how": "left"},
    "auto, left": {"policy": "auto", "how": "left"},
    "auto, full": {"policy": "auto", "how": "full"},
    "auto, semi": {"policy": "auto", "how": "semi"},
    "semi": {"policy": "age", "how": "semi"},
    "features": {"policy": "features", "features": ["status", "worth"]},
    "auto with features": {"policy": "auto", "features": ["status", "worth"]},
}
USUAL = ("prob", "age", "auto", "hist", "age by importance", "sample", "auto, full", "features")


class Stream(NamedTuple):
    """Both sides, and the order in which their rows come."""

    left: pa.Table
    right: pa.Table
    side: np.ndarray

    def part(self, first: int, end: int) -> tuple[pa.Table, pa.Table]:
        """The rows of both sides between two places of the whole order."""
        rights = np.concatenate([[0], np.cumsum(self.side)])
        cuts = [(first - rights[first], end - rights[end]), (rights[first], rights[end])]
        left, right = (
            table.slice(begin, stop - begin)
            for table, (begin, stop) in zip((self.left, self.right), cuts, strict=True)
        )
        return left, right


def stream(seed: int, rows: int, keys: int, rate: float, told: bool = False) -> Stream:
    """Zipf keys that drift, rows at random times, some with the same, some keys null.

    Where a column tells (``told``), rows of most statuses never match.
    """
    rng = np.random.default_rng(seed)
    time = np.sort(rng.integers(0, int(rows / rate * 1e6), rows)) // 20_000 * 20_000
    side = rng.integers(0, 2, rows)
    order = np.lexsort((side, time))
    time, side = time[order] + START_US, side[order]
    share = np.arange(1, keys + 1) ** -1.0
    key = rng.choice(keys, rows, p=share / share.sum()) + np.arange(rows) * 2 // rows * 3
    tables = []
    for which, at, number in ((0, "left_at", "left_id"), (1, "right_at", "right_id")):
        mine = side == which
        count = int(mine.sum())
        status = rng.choice(["live", "dead", "test", None], count) if told else np.full(count, "")
        known = np.where(told & (status != "live"), key[mine] + (1 + which) * rows, key[mine])
        tables.append(
            pa.table(
                {
                    "key": pa.array(known, mask=rng.random(count) < 0.02),
                    at: timestamps(time[mine]),
                    number: np.arange(count),
                    "worth": rng.choice([0.3, 1.0, 2.7], count),
                    "status": pa.array(status.tolist(), pa.string()),
                }
            )
        )
    return Stream(tables[0], tables[1], side)


class Left(NamedTuple):
    """What a stream leaves behind."""

    pairs: Any
    stored: list[Any]
    facts: dict[str, Any]
    tracked: pa.Table | None
    watched: list[Any]
    rivals: list[Any]
    memory: str


def streamed(join: hg.WindowJoin, whole: Stream, cuts: list[int]) -> Left:
    """Join in batches that end at these places of the order of all rows."""
    rows = len(whole.side)
    shard = OneShard(join, (whole.left.schema, whole.right.schema), uuid.uuid4().hex)
    pairs, clock = [], 0
    for first, end in pairwise([0, *sorted({*cuts} - {0, rows}), rows]):
        left, right = whole.part(first, end)
        batch = shard.batch(left, right, watermark_ms=clock // 1000 if clock else None)
        pairs.append(batch.pairs)
        times = [microseconds(table.column(1)) for table in (left, right)]
        # As Spark has it: the watermark follows with the next batch, 5 seconds behind.
        clock = max([clock, *(int(time.max()) - 5_000_000 for time in times if len(time))])
    return left_by(shard, pa.concat_tables(pairs), whole)


def left_by(shard: OneShard, pairs: pa.Table, whole: Stream) -> Left:
    """What is in a shard's state, in an order of its own, of rows that others in order can meet."""
    last = max(int(microseconds(table.column(1)).max()) for table in whole[:2])
    state = shard.state()
    stored = []
    for side in (0, 1):
        held = state.held(side).rows
        open_rows = held.where(held.time + WINDOW_S * 1_000_000 >= last)
        columns = ("sequence", "time", "matches", "touched")
        stored.append(sorted(zip(*(getattr(open_rows, name) for name in columns), strict=True)))
    kept = shard.tester.peekValueState("lessons", LABEL)
    memory = state.progress.memory
    pairs = matched(pairs)
    if kept is None:
        return Left(multiset(pairs), stored, {}, None, [], [], memory)
    facts = json.loads(kept[0])
    facts.pop("lost")  # a row past its window expires or makes room: both by the watermark
    if "followed_keys" in facts:
        # A row without a partner comes out, and counts, when the watermark has passed its window.
        del facts["alone"], facts["followed_keys"]["sums"]
        seen = KeysSeen.of(facts["followed_keys"]["seen"]).rows
        is_open = seen.time + WINDOW_S * 1_000_000 >= last
        facts["followed_keys"]["seen"] = [column[is_open].tolist() for column in seen]
        facts.pop("pairs")
    watched = [_rows(blob, last) for blob in kept[1:3]]
    rivals = [_rows(blob, last) for blob in kept[4:6] if blob is not None]
    return Left(multiset(pairs), stored, facts, from_blob(kept[3]), watched, rivals, memory)


def matched(pairs: pa.Table) -> pa.Table:
    """The rows of a result that have a partner; others come out by the watermark."""
    for name in {"left_id", "right_id"} & {*pairs.column_names}:
        pairs = pairs.filter(pairs.column(name).is_valid())
    return pairs


def _rows(blob: bytes, last: int) -> list[Any]:
    """Rows of the monitor whose window is open, but for where they stand in state."""
    table = from_blob(blob)
    names = [name for name in table.column_names if name != "__headgate_number"]
    is_open = table.column("__headgate_time").to_numpy() + WINDOW_S * 1_000_000 >= last
    rows = table.filter(pa.array(is_open)).select(names).to_pylist()
    return sorted((tuple(row.values()) for row in rows), key=str)


def check_same(one: Left, other: Left) -> None:
    """Everything is the same, to the last bit."""
    assert one.facts == other.facts
    assert one.memory == other.memory
    assert one.tracked == other.tracked or one.tracked.equals(other.tracked)
    assert one.watched == other.watched
    assert one.rivals == other.rivals
    assert one.stored == other.stored
    assert one.pairs == other.pairs


def make_join(kind: str, budget: hg.Budget) -> hg.WindowJoin:
    return hg.WindowJoin(
        left=hg.Side(time="left_at", window=f"{WINDOW_S} seconds"),
        right=hg.Side(time="right_at", window=f"{WINDOW_S} seconds"),
        budget=budget,
        **{"on": "key", **KINDS[kind]},
    )


@pytest.mark.parametrize(
    "kind", usually({*KINDS} - {"left outer", "semi", "auto, left", "auto, semi"}, KINDS)
)
@examples(2)
@given(data=st.data())
def test_cutting_a_stream_into_batches_anywhere_changes_nothing(
    kind: str, data: st.DataObject
) -> None:
    rows = data.draw(st.integers(3_000, 8_000), "rows")
    whole = stream(
        data.draw(st.integers(0, 1000), "seed"),
        rows,
        keys=data.draw(st.sampled_from([400, 4_000]), "keys"),
        rate=data.draw(st.sampled_from([20.0, 60.0]), "rows a second"),
        told="features" in kind,
    )
    room = data.draw(st.sampled_from([60, 300, 900]), "room")
    monitor = data.draw(st.sampled_from([0.05, 0.2]), "monitor")
    limit = {"memory": 150 * room} if data.draw(st.booleans(), "by bytes") else {"rows": room}
    join = make_join(kind, hg.Budget(**limit, monitor=monitor))
    cuts = data.draw(st.lists(st.integers(1, rows - 1), min_size=1, max_size=6), "cuts")
    check_same(streamed(join, whole, []), streamed(join, whole, cuts))


@pytest.mark.parametrize("how", ["left", "full", "semi"])
def test_what_is_learned_of_partners_is_the_same_in_the_next_batch(how: str) -> None:
    """A row that cannot come out alone any more is no row that has matched, and a followed key is
    the same key there."""
    whole = stream(5, 6_000, 400, 60.0)
    join = make_join(f"auto, {how}", hg.Budget(rows=300))
    left = streamed(join, whole, [])
    assert any(sum(made) for made in left.facts["standing"]["made"]), "policies must be tried"
    check_same(left, streamed(join, whole, [1_000, 2_500, 4_321]))


def test_importance_is_added_up_the_same_wherever_a_stream_is_cut() -> None:
    """Of these rows the sums came out different in the last bit, added up batch by batch."""
    whole = stream(375, 7_543, 400, 20.0)
    join = make_join("prob by importance", hg.Budget(memory=45_000, monitor=0.05))
    check_same(streamed(join, whole, []), streamed(join, whole, [944, 7_250]))


@pytest.mark.parametrize("kind", usually(("prob",), ("prob", "fifo")))
def test_files_of_a_batch_may_come_in_any_order(kind: str) -> None:
    """As Spark reads them: the largest first. Every order of four that begins with any of them."""
    rows, seconds = 2_000, 100
    rng = np.random.default_rng(5)
    at = START_US + np.sort(rng.choice(seconds * 1_000_000, rows, replace=False))
    sides = tuple(
        pa.table(
            {
                "key": rng.integers(0, 100, rows // 2),
                f"{side}_at": timestamps(at[number::2]),
                f"{side}_id": np.arange(rows // 2),
            }
        )
        for number, side in enumerate(("left", "right"))
    )
    join = make_join(kind, hg.Budget(rows=300, monitor=0.25))
    found = []
    for order in permutations(range(4)):
        shard = OneShard(join, (sides[0].schema, sides[1].schema), uuid.uuid4().hex)
        size = rows // 8
        came = [pa.concat_tables([s.slice(size * n, size) for n in order]) for s in sides]
        pairs = shard.batch(*came).pairs
        apart = [microseconds(pairs.column(f"{side}_at")) for side in ("left", "right")]
        assert np.abs(apart[0] - apart[1]).max() <= WINDOW_S * 1_000_000
        found.append(multiset(pairs))
    assert found[0].total() > 1_000
    assert all(pairs == found[0] for pairs in found)


@pytest.mark.parametrize("kind", usually(("prob", "auto", "trend", "sample"), KINDS))
def test_run_makes_what_a_stream_makes(kind: str) -> None:
    whole = stream(seed=5, rows=6_000, keys=400, rate=60.0)
    for budget in (hg.Budget(rows=400, monitor=0.1), hg.Budget(memory=60_000, monitor=0.1)):
        join = make_join(kind, budget)
        outcome = join.run(whole.left, whole.right)
        assert outcome.recall < 1.0, "the budget must bind for the test to mean anything"
        assert multiset(matched(outcome.pairs)) == streamed(join, whole, [1_000, 4_321]).pairs
