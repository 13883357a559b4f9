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
ON_SPARK = 16 if LONG else 5
"""Batches of a query; anti joins where both sides wait need many for their recall to be known."""
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


def waits_of(how: str, others: int) -> tuple[int, int]:
    """How long rows of each side wait, in seconds; those of the side that is not asked for wait so
    many."""
    return (others, WAIT_S) if how == "right" else (WAIT_S, others)


def kind(
    how: str, budget: hg.Budget, others: int = 0, where: hg.Band | None = None
) -> hg.WindowJoin:
    """A join whose other side waits for nobody, or for some seconds."""
    left, right = (f"{wait} seconds" for wait in waits_of(how, others))
    return hg.WindowJoin(
        how=how,
        left_on="k",
        right_on="rk",
        left=hg.Side("lt", left),
        right=hg.Side("rt", right),
        where=where,
        budget=budget,
        policy="random",
    )


def decided(
    how: str, sides: tuple[list[pa.Table], list[pa.Table]], until_us: int, others: int = 0
) -> Counter:
    """The exact result's rows with and without a partner; of the latter, and of a semi join's where
    rows of both sides wait, those that no row after a watermark can meet."""
    database = duckdb.connect()
    database.register("l", pa.concat_tables(sides[0]))
    database.register("r", pa.concat_tables(sides[1]))
    left, right = waits_of(how, others)
    on = f"k = rk AND rt BETWEEN lt - INTERVAL {right} SECOND AND lt + INTERVAL {left} SECOND"

    def count(query: str) -> int:
        return database.sql(f"SELECT count(*) {query}").fetchall()[0][0]

    def passed(time: str, wait: int) -> str:
        return f"epoch_us({time}) + {wait * SECOND_US} <= {until_us}"

    found = Counter()
    if how == "semi":
        settled = passed("lt", left) if others else "true"
        found["matched"] = count(f"FROM l WHERE EXISTS (FROM r WHERE {on}) AND {settled}")
    elif how != "anti":
        found["matched"] = count(f"FROM l JOIN r ON {on}")
    if how in ("left", "full", "anti"):
        settled = f"(k IS NULL OR {passed('lt', left)})"
        found["alone"] += count(f"FROM l WHERE NOT EXISTS (FROM r WHERE {on}) AND {settled}")
    if how in ("right", "full"):
        settled = f"(rk IS NULL OR {passed('rt', right)})"
        found["alone"] += count(f"FROM r WHERE NOT EXISTS (FROM l WHERE {on}) AND {settled}")
    return found


ONE_WAITS = [(how, 0) for how in ("left", "right", "semi", "anti")]
BOTH_WAIT = [(how, 15) for how in ("left", "right", "full", "semi", "anti")]


@pytest.mark.parametrize("late", [0.0, 0.3], ids=["in order", "some late"])
@pytest.mark.parametrize(("how", "others"), [*ONE_WAITS, *BOTH_WAIT])
def test_with_every_row_watched_the_evidence_is_the_truth(
    how: str, others: int, late: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Some rows are given up, others retired before the watermark passes them.

    Of rows out of order, one may have been retired before its partner came, which watched rows do
    not see.
    """
    monkeypatch.setattr(room, "WATCHED_A_ROW", 1000)
    sides = minutes(3, late)
    # Some 80 rows wait for a partner, and 40 to 120 more for the watermark.
    shard = OneShard(
        kind(how, hg.Budget(rows=50, monitor=0.2), others),
        (sides[0][0].schema, sides[1][0].schema),
        f"recall-of-{how}-{others}-{late}",
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
    exact, off = decided(how, sides, last, others), 0.02 if late else 0.0
    assert made["shed"] > 20
    assert made["retired"] > 50
    assert told["total_alone_met"] == pytest.approx(exact["alone"], rel=off)
    assert told["total_alone_made"] == made["unmatched"]
    assert told["total_met"] == pytest.approx(exact["matched"] + exact["alone"], rel=off)
    if how == "semi" and others:  # rows count once they are settled
        assert 0.9 * made["pairs"] < told["total_made"] <= made["pairs"]
    else:
        assert told["total_made"] == made["pairs"] < told["total_met"]


@pytest.mark.parametrize("asked", usually([("full", 15)], [*ONE_WAITS, *BOTH_WAIT]))
def test_a_query_says_how_much_of_its_kind_it_makes(
    spark: SparkSession, tmp_path: Path, asked: tuple[str, int]
) -> None:
    how, others = asked
    sides = minutes(seed=4, batches=ON_SPARK)
    frames = [
        read_side(spark, write_side(tmp_path / time, side), schema, time, f"{DELAY_S} seconds")
        for side, schema, time in zip(sides, SCHEMAS, ("lt", "rt"), strict=True)
    ]
    rows = 200 if others and how != "semi" else 80  # a semi join stores none that has matched
    join = kind(how, hg.Budget(rows=rows, monitor=0.5), others)
    got = collect(join.stream(*frames, shards=2, watermark=False), tmp_path / "checkpoint")
    last = got.metrics[-1]
    ends = [pa.compute.max(side[-1].column(1).cast(pa.int64())).as_py() for side in sides]
    until_us = min(ends) // 1000 * 1000 - DELAY_S * SECOND_US
    exact, made = decided(how, sides, until_us, others), got.rows.total()
    if how == "semi" and others:  # rows come out before they count as settled
        last_us = until_us - WAIT_S * SECOND_US
        made = sum(count for row, count in got.rows.items() if row[1] <= last_us)
    true = made / exact.total()
    assert last["shards_settling"] == 0
    assert 0.1 < true < 1.0
    assert last["total_recall_low"] <= true <= last["total_recall_high"]
    assert last["total_exact_pairs"] == pytest.approx(got.rows.total() / last["total_recall"])
    parts = last["total_recall_matched"], last["total_recall_unmatched"]
    if how in ("semi", "anti"):
        assert sorted(parts, key=lambda part: part is None) == [last["total_recall"], None]
    elif None not in parts:
        assert min(parts) <= last["total_recall"] <= max(parts)


def test_a_band_where_both_sides_wait_leaves_recall_unknown_once_rows_are_lost() -> None:
    """What a row could have met before it came is not known: keys alone do not tell."""
    sides = minutes(seed=5)
    near = hg.Band(left="lid", right="rid", lower=-500, upper=500)
    shard = OneShard(
        kind("left", hg.Budget(rows=60, monitor=0.5), others=10, where=near),
        (sides[0][0].schema, sides[1][0].schema),
        "recall-of-a-band",
    )
    for minute in range(3):
        told = shard.batch(*(side[minute] for side in sides)).metrics
    assert told["total_lost"] > 0
    assert told["shards_settling"] == 1
    assert told["total_alone_met"] == 0
    assert 0 < told["total_made"] < told["total_met"]
