"""Memory that moves between the shards of one join: in process, and in a real query."""

import uuid
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyspark.sql import DataFrame, Row, SparkSession

import headgate as hg
from headgate.metrics.metric_groups import BY_SHARD
from headgate.planner.balancer import SETTLES, Balancer, Member, MostResults
from headgate.spark.join.join_metrics import of_shard
from headgate.spark.join.limits_folder import KEPT
from headgate.spark.join.shard_balance import ShardLimits, balance_shards
from headgate.spark.join.split_keys import SplitKeys
from headgate.spark.spark_versions import figures_of
from tests.spark.one_shard import OneShard
from tests.spark.streams import START_US, multiset, timestamps, write_side

pytestmark = pytest.mark.spark

SHARDS, ROWS, BUDGET = 4, 40_000, 1200
BATCH = 2000
KEYS = 20_000


def side(seed: int, time: str, rows: int = ROWS) -> pa.Table:
    """Zipf(1.1) keys, 20 rows a second."""
    rng = np.random.default_rng(seed)
    share = np.arange(1, KEYS + 1) ** -1.1
    keys = rng.choice(KEYS, rows, p=share / share.sum())
    return pa.table({"key": keys, time: timestamps(START_US + np.arange(rows) * 50_000 + seed)})


def make_join(rows: int, policy: str = "prob") -> hg.WindowJoin:
    """A tenth of the 12,000 rows in the windows, if it has the whole budget."""
    return hg.WindowJoin(
        on="key",
        left=hg.Side(time="left_at", window="300 seconds"),
        right=hg.Side(time="right_at", window="300 seconds"),
        budget=hg.Budget(rows=rows),
        policy=policy,
    )


def shard_of(keys: np.ndarray) -> np.ndarray:
    return keys * 2654435761 % (1 << 32) % SHARDS


def made_by_shards(balancer: Balancer | None) -> tuple[list[int], list[list[int]]]:
    """Pairs made and limits in force in every batch of four shards."""
    sides = (side(1, "left_at"), side(2, "right_at"))
    join = make_join(BUDGET // SHARDS)
    schemas = (sides[0].schema, sides[1].schema)
    shards = [OneShard(join, schemas, uuid.uuid4().hex, shared=True) for _ in range(SHARDS)]
    told: list[list[str]] = [[] for _ in shards]
    made, limits = [], []
    for first in range(0, ROWS, BATCH):
        now = [table.slice(first, BATCH) for table in sides]
        places = [shard_of(table.column("key").to_numpy()) for table in now]
        figures = []
        for number, shard in enumerate(shards):
            mine = [t.filter(pa.array(p == number)) for t, p in zip(now, places, strict=True)]
            figures.append(shard.batch(*mine, limits=told[number]).metrics)
            told[number] = []
        made.append(sum(each["pairs"] for each in figures))
        limits.append([each["limit"] for each in figures])
        for number, each in enumerate(figures if balancer is not None else ()):
            told_by = [{**each, "shard": number}[name] for name in BY_SHARD]
            own = of_shard({"by_shard": [told_by]}, number)
            assert own is not None
            for name, limit in balancer.hear(str(number), own).items():
                told[int(name)].append(str(limit))
    return made, limits


def even_members() -> dict[str, Member]:
    even = BUDGET // SHARDS
    return {str(number): Member(even, even, settles=SETTLES) for number in range(SHARDS)}


def test_skewed_shards_make_far_more_of_one_budget_when_memory_moves() -> None:
    fixed, _ = made_by_shards(None)
    moved, limits = made_by_shards(Balancer(BUDGET, MostResults(), even_members()))
    assert all(sum(each) <= BUDGET for each in limits)
    assert max(limits[-1]) > BUDGET // 2, "the shard of the most frequent key has most"
    last = slice(-len(moved) // 4, None)
    assert sum(moved[last]) > 1.5 * sum(fixed[last])
    one = OneShard(make_join(BUDGET), (side(1, "left_at").schema, side(2, "right_at").schema), "x")
    pooled = [
        one.batch(*(side(s, t).slice(first, BATCH) for s, t in ((1, "left_at"), (2, "right_at"))))
        for first in range(0, ROWS, BATCH)
    ]
    whole = sum(batch.metrics["pairs"] for batch in pooled[last])
    assert sum(moved[last]) > 0.7 * whole


def read(spark: SparkSession, folder: Path) -> tuple[DataFrame, DataFrame]:
    left, right = (
        spark.readStream.schema(f"key long, {time} timestamp")
        .option("maxFilesPerTrigger", 1)
        .parquet(str(folder / name))
        .withWatermark(time, "0 seconds")
        for name, time in (("left", "left_at"), ("right", "right_at"))
    )
    return left, right


@pytest.mark.parametrize(("windows", "dealt"), [((300, 300), 0), ((0, 300), 1), ((300, 0), 0)])
def test_every_pair_of_a_split_key_meets_in_one_shard(windows: tuple[int, int], dealt: int) -> None:
    join = hg.WindowJoin(
        on="key",
        left=hg.Side(time="left_at", window=f"{windows[0]} seconds"),
        right=hg.Side(time="right_at", window=f"{windows[1]} seconds"),
        budget=hg.Budget(rows=10),
    )
    tables = [side(1, "left_at", 300), side(2, "right_at", 300)]
    shape = join.bind((tables[0].schema, tables[1].schema)).shape
    split = SplitKeys.of(join, shape, [0, 2, 12_345_678])
    assert split is not None
    assert split.dealt == dealt
    places: list[dict[int, set[int]]] = []
    for number, table in enumerate(tables):
        keys = table.column("key").to_numpy()
        sent, shard = split.route(table, number, shard_of(keys), SHARDS)
        at: dict[int, set[int]] = {}
        for row, place in zip(sent.tolist(), shard.tolist(), strict=True):
            assert place not in at.setdefault(row, set())
            at[row].add(place)
        assert len(at) == len(keys)
        hot = np.isin(keys, [0, 2])
        for row, where in at.items():
            assert len(where) == (SHARDS if hot[row] and number != dealt else 1)
        assert len(set().union(*(at[row] for row in np.flatnonzero(hot)))) == SHARDS
        places.append(at)
    left, right = (table.column("key").to_pylist() for table in tables)
    for row, key in enumerate(left):
        for other in (number for number, same in enumerate(right) if same == key):
            assert len(places[0][row] & places[1][other]) == 1


def test_keys_that_cannot_be_split_are_refused() -> None:
    tables = [side(1, "left_at", 3), side(2, "right_at", 3)]
    join = make_join(10)
    shape = join.bind((tables[0].schema, tables[1].schema)).shape
    assert SplitKeys.of(join, shape, []) is None
    with pytest.raises(hg.SpecError, match="a value for each key column"):
        SplitKeys.of(join, shape, [(1, 2)])


def test_a_query_with_moving_memory_tells_each_shards_figures_and_goes_on_after_a_stop(
    spark: SparkSession, tmp_path: Path
) -> None:
    rows, shards = 1200, 2
    tables = (side(1, "left_at", rows), side(2, "right_at", rows))
    for name, table in zip(("left", "right"), tables, strict=True):
        write_side(tmp_path / name, [table.slice(0, rows // 2)])
    join, limits = make_join(4 * rows, "fifo"), tmp_path / "limits"
    out = str(tmp_path / "out")

    def batches() -> list[Row]:
        frame = join.stream(
            *read(spark, tmp_path),
            shards=shards,
            name="moved",
            watermark=False,
            balance=limits,
            split_keys=[0, 1],
        )
        query = (
            frame.writeStream.format("parquet")
            .option("path", out)
            .option("checkpointLocation", str(tmp_path / "checkpoint"))
            .start()
        )
        query.processAllAvailable()
        query.stop()
        return [figures_of(each["observedMetrics"]["moved"]) for each in query.recentProgress]

    first = batches()[0]
    told = [of_shard(first, number) for number in range(shards)]
    assert all(own is not None and own["limit"] == 2 * rows for own in told)
    for name in ("left_rows", "right_rows", "pairs"):
        assert sum(own[name] for own in told if own is not None) == first[name]
    assert (limits / KEPT).exists()
    # Of split keys one side is copied to the other shard, and nothing is joined twice.
    keys = tables[1].column("key").slice(0, rows // 2).to_numpy()
    assert first["copied"] == np.count_nonzero(keys < 2) > 0
    exact = multiset(
        make_join(10 * rows, "fifo").run(*(t.slice(0, rows // 2) for t in tables)).pairs
    )
    assert multiset(spark.read.parquet(out).toArrow()) == exact
    # As if memory had moved: the limits are published, and in force with the next batch.
    listener = balance_shards(spark, "moved", 4 * rows, shards, limits)
    assert isinstance(listener, ShardLimits)
    listener.publish("0", 100)
    for name, table in zip(("left", "right"), tables, strict=True):
        write_side(tmp_path / name, [table.slice(rows // 2)], first=1)
    last = batches()[-1]
    told = [of_shard(last, number) for number in range(shards)]
    assert [own and own["limit"] for own in told] == [100, 2 * rows]
    assert last["limit"] == 2 * rows + 100
    assert last["stored_rows"] <= 2 * rows + 100
    made = multiset(spark.read.parquet(out).toArrow())
    exact = multiset(make_join(10 * rows, "fifo").run(*tables).pairs)
    assert made <= exact


def test_a_budget_of_both_rows_and_memory_does_not_move(
    spark: SparkSession, tmp_path: Path
) -> None:
    for name in ("left", "right"):
        (tmp_path / name).mkdir()
    join = make_join(10).within(hg.Budget(rows=100, memory="1 MB"))
    with pytest.raises(hg.SpecError, match="balance= moves rows or memory"):
        join.stream(*read(spark, tmp_path), shards=2, balance=tmp_path / "limits")
