"""While memory is far from full a join learns nothing, and knows its recall all the same."""

import json
import uuid
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest

import headgate as hg
from headgate.engine import replay
from headgate.learning import resting
from headgate.learning.learner import new_monitor
from headgate.learning.room import BudgetPart, Room
from headgate.spark.join import join_processor
from headgate.spec import TimeWindow
from tests.spark.one_shard import OneShard, ShardBatch
from tests.spark.streams import START_US, multiset, timestamps
from tests.thoroughness import usually

pytestmark = pytest.mark.spark

CALM, BUSY, KEYS, ROOM = 8_000, 14_000, 1_500, 4_000
KINDS = usually(("inner", "left", "semi"), ("inner", "left", "right", "full", "semi", "anti"))
COVERS = 0.02
"""How far recall may lie outside its interval in one run; set after seeing them all."""


@pytest.fixture(autouse=True)
def small_memory_rests(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resting, "LEAST_CAPACITY", 1_000)


def side(seed: int, time: str, number: str) -> pa.Table:
    """Two rows a second, then a hundred; keys of a Zipf distribution."""
    rng = np.random.default_rng(seed)
    share = np.arange(1, KEYS + 1) ** -0.8
    apart = np.repeat([500_000, 10_000], [CALM, BUSY])
    rows = len(apart)
    return pa.table(
        {
            "key": rng.permutation(KEYS)[rng.choice(KEYS, rows, p=share / share.sum())],
            time: timestamps(START_US + np.cumsum(apart) + seed),
            number: np.arange(rows),
        }
    )


SIDES = (side(1, "left_at", "left_id"), side(2, "right_at", "right_id"))


def make_join(how: str = "inner", policy: str = "auto", rows: int = ROOM) -> hg.WindowJoin:
    return hg.WindowJoin(
        on="key",
        left=hg.Side(time="left_at", window="40 seconds"),
        right=hg.Side(time="right_at", window="40 seconds"),
        budget=hg.Budget(rows=rows),
        policy=policy,
        how=how,
    )


def facts(shard: OneShard) -> dict:
    """What the monitor of a shard has written."""
    shard.tester.handle.setGroupingKey(0)
    return json.loads(shard.tester.processor._store.learned.get()[0])


@pytest.mark.parametrize("how", KINDS)
def test_recall_is_known_at_rest_and_estimated_after_it(how: str) -> None:
    join = make_join(how)
    shard = OneShard(join, (SIDES[0].schema, SIDES[1].schema), uuid.uuid4().hex)
    rested = False
    for first, end in pairwise([*range(0, CALM, 500), CALM, CALM + 7_000, CALM + BUSY]):
        now = int(SIDES[0]["left_at"][first].value) // 1000
        batch = shard.batch(*(table.slice(first, end - first) for table in SIDES), now - 1)
        known = facts(shard)
        assert batch.metrics["peak_rows"] <= ROOM
        if end <= CALM:
            rested |= known["is_resting"]
            assert not known["has_given_up"]
            watched = known["finished"][0]
            if known["is_resting"]:
                assert watched["met"] == watched["made"] > 0 or how == "anti"
                assert watched["met_met"] == 0
    assert rested, "it must rest for the test to mean anything"
    assert not known["is_resting"]
    assert known["has_given_up"]


@pytest.mark.parametrize("how", ["inner", "left"])
def test_the_estimate_covers_a_stream_that_was_calm_and_then_busy(how: str) -> None:
    outcome = make_join(how).run(*SIDES)
    assert outcome.recall < 0.95, "the budget must bind for the test to mean anything"
    estimate = outcome.estimated_recall
    assert estimate is not None
    assert estimate.low - COVERS <= outcome.recall <= estimate.high + COVERS


@pytest.mark.parametrize(
    ("how", "policy"), [("inner", "prob"), ("left", "auto"), ("semi", "age"), ("anti", "auto")]
)
def test_cutting_the_input_changes_nothing(
    how: str, policy: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = make_join(how, policy).run(*SIDES)
    monkeypatch.setattr(replay, "ROWS_AT_ONCE", 700)
    in_parts = make_join(how, policy).run(*SIDES)
    assert multiset(in_parts.pairs) == multiset(whole.pairs)
    assert in_parts.estimated_recall == whole.estimated_recall


def test_ample_memory_makes_the_exact_result_and_says_so() -> None:
    outcome = make_join(rows=1_000_000).run(*SIDES)
    assert outcome.estimated_recall == hg.Estimate(1.0, 1.0, 1.0)
    assert outcome.recall == 1.0


SAME = ("pairs", "expired", "late", "stored_rows", "stored_bytes", "shed", "retired", "lifetimes")


def test_setting_rows_aside_changes_nothing() -> None:
    rng = np.random.default_rng(7)
    late = rng.integers(0, 90_000_000, CALM) * (rng.random(CALM) < 0.2)
    sides = [table.slice(0, CALM) for table in SIDES]
    for place, name in enumerate(("left_at", "right_at")):
        time = sides[place][name].cast(pa.int64()).to_numpy() - late
        sides[place] = sides[place].set_column(1, name, timestamps(time))
    schemas = (SIDES[0].schema, SIDES[1].schema)
    shards = [OneShard(make_join(), schemas, uuid.uuid4().hex) for _ in range(2)]
    fewer = 0
    for first in range(0, CALM, 250):
        part = [table.slice(first, 250) for table in sides]
        # Every fourth batch brings rows of one side alone, and every fifth none.
        part[1] = part[1] if first % 1_000 else None
        part = part if first % 1_250 else [None, None]
        now = int(SIDES[0]["left_at"][first].value) // 1000 - 5_000
        one, other = (_batch(shard, part, now, aside=not at) for at, shard in enumerate(shards))
        assert multiset(one.pairs) == multiset(other.pairs)
        for name in SAME:
            assert one.metrics[name] == pytest.approx(other.metrics[name]), name
        fewer += one.metrics["peak_rows"] < other.metrics["peak_rows"]
    assert fewer, "rows must be set aside for the test to mean anything"


def _batch(shard: OneShard, part: list[pa.Table | None], now: int, aside: bool) -> ShardBatch:
    with pytest.MonkeyPatch.context() as patched:
        if not aside:
            patched.setattr(join_processor, "may_set_aside", lambda *_: False)
        return shard.batch(*part, now)


def test_rows_that_grow_at_rest_take_back_what_was_sure() -> None:
    windows = (TimeWindow(10), TimeWindow(10))
    monitor = new_monitor(windows, Room(BudgetPart(rows=10), BudgetPart(rows=10)))
    monitor.is_resting = True
    resting.rested(monitor, (5.0, 0.0), lost=False)
    assert monitor.finished.recall().low == 1.0
    monitor.has_given_up = True
    matched, _ = resting.rested(monitor, (5.0, 0.0), lost=False)
    assert matched.known() is None
    assert monitor.finished.met == 5.0
    resting.rested(monitor, (5.0, 0.0), lost=True)
    assert monitor.finished.known() is None
