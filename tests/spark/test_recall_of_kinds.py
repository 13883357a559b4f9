"""Live recall of outer, semi and anti joins on a stream, where every row can be watched."""

from collections import Counter
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

import headgate as hg
from headgate.learning import room
from tests.spark.one_shard import OneShard
from tests.spark.streams import START_US, collect, read_side, timestamps, write_side
from tests.thoroughness import LONG, usually

pytestmark = pytest.mark.spark

SECOND_US = 1_000_000
WAIT_S, DELAY_S = 40, 20
ROWS, BATCHES = 120, 8
ON_SPARK = BATCHES if LONG else 5
"""Batches of a query."""
SCHEMAS = ("k long, lt timestamp, lid long", "rk long, rt timestamp, rid long")


def minutes(
    seed: int, late: float = 0.0, batches: int = BATCHES
) -> tuple[list[pa.Table], list[pa.Table]]:
    """A batch a minute: few partners a row, some keys null, some rows late by up to the delay."""
    rng = np.random.default_rng(seed)
    sides: tuple[list[pa.Table], list[pa.Table]] = ([], [])
    for minute in range(batches):
        for side, (key, time, number) in enumerate((("k", "lt", "lid"), ("rk", "rt", "rid"))):
            behind = np.where(rng.random(ROWS) < late, rng.integers(0, DELAY_S, ROWS), 0)
            at = (60 * minute + rng.integers(0, 60, ROWS) - behind) * SECOND_US
            at += rng.integers(0, SECOND_US, ROWS)
            numbers = np.arange(ROWS * minute, ROWS * (minute + 1))
            sides[side].append(
                pa.table(
                    {
                        key: pa.array(rng.integers(0, 60, ROWS), mask=rng.random(ROWS) < 0.05),
                        time: timestamps(START_US + at, np.zeros(ROWS, bool)),
                        number: pa.array(numbers),
                    }
                )
            )
    return sides


def kind(how: str, budget: hg.Budget, policy: str = "random") -> hg.WindowJoin:
    """A join whose other side waits for nobody."""
    waits, others = f"{WAIT_S} seconds", "0 seconds"
    return hg.WindowJoin(
        how=how,
        left_on="k",
        right_on="rk",
        left=hg.Side("lt", others if how == "right" else waits),
        right=hg.Side("rt", waits if how == "right" else others),
        budget=budget,
        policy=policy,
    )


def decided(how: str, sides: tuple[list[pa.Table], list[pa.Table]], until_us: int) -> Counter:
    """The exact result's rows with and without a partner; of the latter, those that no row after a
    watermark can meet."""
    database = duckdb.connect()
    database.register("l", pa.concat_tables(sides[0]))
    database.register("r", pa.concat_tables(sides[1]))
    first, other = ("rt", "lt") if how == "right" else ("lt", "rt")
    on = f"k = rk AND {other} BETWEEN {first} AND {first} + INTERVAL {WAIT_S} SECOND"
    own, them, key = ("r", "l", "rk") if how == "right" else ("l", "r", "k")
    found = Counter()
    matched = f"FROM {own} WHERE EXISTS (FROM {them} WHERE {on})"
    pairs = {"semi": f"SELECT count(*) {matched}", "anti": "SELECT 0"}
    found["matched"] = database.sql(
        pairs.get(how, f"SELECT count(*) FROM l JOIN r ON {on}")
    ).fetchall()[0][0]
    if how != "semi":
        passed = f"({key} IS NULL OR epoch_us({first}) + {WAIT_S * SECOND_US} <= {until_us})"
        found["alone"] = database.sql(
            f"SELECT count(*) FROM {own} WHERE NOT EXISTS (FROM {them} WHERE {on}) AND {passed}"
        ).fetchall()[0][0]
    return found


@pytest.mark.parametrize("late", [0.0, 0.3], ids=["in order", "some late"])
@pytest.mark.parametrize("how", ["left", "right", "semi", "anti"])
def test_with_every_row_watched_the_evidence_is_the_truth(
    how: str, late: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Some rows are given up, others retired before the watermark passes them.

    Of rows out of order, one may have been retired before its partner came, which watched rows do
    not see.
    """
    monkeypatch.setattr(room, "WATCHED_A_ROW", 1000)
    sides = minutes(3, late)
    # Some 80 rows wait for a partner, and 40 to 120 more for the watermark.
    shard = OneShard(
        kind(how, hg.Budget(rows=50, monitor=0.2)),
        (sides[0][0].schema, sides[1][0].schema),
        f"recall-of-{how}-{late}",
    )
    watermark, made = 0, Counter()
    empty = sides[0][0].slice(0, 0), sides[1][0].slice(0, 0)
    for minute in range(BATCHES + 1):
        came = [side[minute] for side in sides] if minute < BATCHES else empty
        told = shard.batch(*came, watermark_ms=watermark // 1000 or None).metrics
        made.update({name: told[name] for name in ("pairs", "unmatched", "shed", "retired")})
        last = watermark
        watermark = START_US + (60 * (minute + 1) - DELAY_S - 1) * SECOND_US
    assert shard.state().learned_before().monitor.share == 1.0
    exact, off = decided(how, sides, last), 0.02 if late else 0.0
    assert made["shed"] > 20
    assert made["retired"] > 50
    assert told["total_alone_met"] == pytest.approx(exact["alone"], rel=off)
    assert told["total_alone_made"] == made["unmatched"]
    assert told["total_met"] == pytest.approx(exact["matched"] + exact["alone"], rel=off)
    assert told["total_made"] == made["pairs"] < told["total_met"]


@pytest.mark.parametrize("how", usually(("left",), ("left", "right", "semi", "anti")))
def test_a_query_says_how_much_of_its_kind_it_makes(
    spark: SparkSession, tmp_path: Path, how: str
) -> None:
    sides = minutes(seed=4, batches=ON_SPARK)
    frames = [
        read_side(spark, write_side(tmp_path / time, side), schema, time, f"{DELAY_S} seconds")
        for side, schema, time in zip(sides, SCHEMAS, ("lt", "rt"), strict=True)
    ]
    join = kind(how, hg.Budget(rows=80, monitor=0.5))
    got = collect(join.stream(*frames, shards=2, watermark=False), tmp_path / "checkpoint")
    last = got.metrics[-1]
    ends = [pa.compute.max(side[-1].column(1).cast(pa.int64())).as_py() for side in sides]
    exact = decided(how, sides, min(ends) // 1000 * 1000 - DELAY_S * SECOND_US)
    true = got.rows.total() / exact.total()
    assert last["shards_settling"] == 0
    assert 0.1 < true < 1.0
    assert last["total_recall_low"] <= true <= last["total_recall_high"]
    assert last["total_exact_pairs"] == pytest.approx(got.rows.total() / last["total_recall"])
    parts = last["total_recall_matched"], last["total_recall_unmatched"]
    if how in ("semi", "anti"):
        assert sorted(parts, key=lambda part: part is None) == [last["total_recall"], None]
    elif None not in parts:
        assert min(parts) <= last["total_recall"] <= max(parts)


def test_where_both_sides_wait_recall_is_unknown_once_rows_are_lost(
    spark: SparkSession, tmp_path: Path
) -> None:
    """What a row could have met before it came is not known: watched rows do not tell."""
    sides = minutes(seed=5, batches=ON_SPARK)
    asked = kind("left", hg.Budget(rows=60, monitor=0.5))
    join = hg.WindowJoin(
        how="left",
        left_on="k",
        right_on="rk",
        left=asked.left,
        right=hg.Side("rt", "10 seconds"),
        budget=asked.budget,
        policy="random",
    )
    frames = [
        read_side(spark, write_side(tmp_path / time, side), schema, time, f"{DELAY_S} seconds")
        for side, schema, time in zip(sides, SCHEMAS, ("lt", "rt"), strict=True)
    ]
    got = collect(join.stream(*frames, shards=1, watermark=False), tmp_path / "checkpoint")
    last = got.metrics[-1]
    assert last["total_lost"] > 0
    assert last["shards_settling"] == 1
    assert (last["total_recall"], last["total_recall_unmatched"]) == (None, None)
    assert 0 < last["total_recall_matched"] < 1
