"""Figures of state and totals are true in every batch, also in one that brings a shard no rows.

Three joins in one query, so that all see the same batches: Spark's own, Headgate with room for
everything, which must store as many rows as Spark's does, and Headgate short of room.
"""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

import headgate as hg
from headgate.spark.spark_versions import figures_of
from tests.thoroughness import LONG

pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("batches_without_rows")]

LEFT, RIGHT, OTHER = "key int, lt timestamp, l int", "key int, rt timestamp, r int", "l int"
AMPLE, SHORT = "ample", "short"
ROOM = 12
UNCHANGED = (
    "total_recall",
    "total_recall_low",
    "total_recall_high",
    "total_exact_pairs",
    "total_lost",
)
"""What a batch without rows leaves as it was."""


def make_join(rows: int) -> hg.WindowJoin:
    return hg.WindowJoin(
        on="key",
        left=hg.Side(time="lt", window="10 minutes"),
        right=hg.Side(time="rt", window="10 minutes"),
        budget=hg.Budget(rows=rows),
    )


class Inputs:
    """Files of three streams; a file is a batch."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._files = 0
        for name in ("left", "right", "other"):
            (folder / name).mkdir()

    def put(self, name: str, text: str) -> None:
        self._files += 1
        unseen = self.folder / name / f"_{self._files:03d}.csv"
        unseen.write_text(text)
        unseen.rename(unseen.with_name(unseen.name[1:]))

    def rows(self, name: str, minute: int, keys: range) -> None:
        self.put(name, "".join(f"{key},2026-01-01 00:{minute:02d}:00,{key}\n" for key in keys))

    def read(self, spark: SparkSession, name: str, schema: str) -> DataFrame:
        return spark.readStream.schema(schema).csv(str(self.folder / name))

    def sides(self, spark: SparkSession) -> tuple[DataFrame, DataFrame]:
        left = self.read(spark, "left", LEFT).withWatermark("lt", "0 seconds")
        right = self.read(spark, "right", RIGHT).withWatermark("rt", "0 seconds")
        return left, right


def three_joins(spark: SparkSession, inputs: Inputs) -> DataFrame:
    """Spark's join and Headgate's two, and rows of a stream that concerns none of them."""
    # Read once for all three, or a file might come to one of them a batch later.
    left, right = inputs.sides(spark)
    near = F.expr("rt >= lt - interval 10 minutes AND rt <= lt + interval 10 minutes")
    found = [left.join(right.withColumnRenamed("key", "k"), near & F.expr("key = k"))]
    for name, rows in ((AMPLE, 1000), (SHORT, ROOM)):
        found.append(make_join(rows).stream(left, right, shards=2, name=name, watermark=False))
    result = inputs.read(spark, "other", OTHER).select(F.lit("other").alias("of"), "l")
    for of, frame in zip(("spark", AMPLE, SHORT), found, strict=True):
        result = result.unionAll(frame.select(F.lit(of), "l"))
    return result


class Batches:
    """A query that is started, fed and stopped; every batch is checked when it is done."""

    def __init__(self, checkpoint: Path) -> None:
        self._checkpoint = checkpoint
        self._made: dict[int, Counter] = {}
        self._before: dict[str, Any] = {}
        self.empty: list[str] = []
        """What was going on in the batches that brought the joins no rows."""

    @contextmanager
    def of(self, frame: DataFrame) -> Iterator[None]:
        self._query = (
            frame.writeStream.foreachBatch(self._count)
            .option("checkpointLocation", str(self._checkpoint))
            .start()
        )
        self._seen = 0
        try:
            yield
        finally:
            self._query.stop()

    def _count(self, frame: DataFrame, number: int) -> None:
        self._made[number] = Counter(row["of"] for row in frame.collect())

    def check(self, what: str) -> None:
        """Let everything be done that can be, and check the batches this takes."""
        self._query.processAllAvailable()
        reports = [report for report in self._query.recentProgress if report["observedMetrics"]]
        assert len(reports) > self._seen, what
        for report in reports[self._seen :]:
            self._check(report, what)
        self._seen = len(reports)

    def _check(self, report: dict[str, Any], what: str) -> None:
        ample, short = (figures_of(report["observedMetrics"][name]) for name in (AMPLE, SHORT))
        upto = range(report["batchId"] + 1)
        made = sum((self._made[number] for number in upto), Counter())
        assert ample["stored_rows"] == stored_by_spark(report), what
        assert ample["total_pairs"] == made[AMPLE] == made["spark"], what
        assert (ample["total_recall"], ample["total_exact_pairs"]) == (1.0, made["spark"]), what
        assert short["stored_rows"] <= ROOM
        assert short["total_pairs"] == made[SHORT], what
        for figures in (ample, short):
            assert figures["shards_monitored"] == 2, what
            assert figures["stored_rows"] <= figures["peak_rows"], what
            assert (figures["held_bytes"] > 0) == (figures["stored_rows"] > 0), what
        before, self._before = self._before, short
        if short["left_rows"] + short["right_rows"] == 0:
            self.empty.append(what)
            assert [short[name] for name in UNCHANGED] == [before[name] for name in UNCHANGED], what
            assert short["stored_rows"] == before["stored_rows"] - short["expired"], what


def stored_by_spark(report: dict[str, Any]) -> int:
    operators = report["stateOperators"]
    own = [one for one in operators if one["operatorName"] == "symmetricHashJoin"]
    assert len(own) == 1
    return int(own[0]["numRowsTotal"])


def test_figures_are_true_in_every_batch_also_in_one_without_rows(
    spark: SparkSession, tmp_path: Path
) -> None:
    inputs, batches = Inputs(tmp_path), Batches(tmp_path / "checkpoint")
    with batches.of(three_joins(spark, inputs)):
        inputs.rows("left", 1, range(20))
        inputs.rows("right", 2, range(5, 25))
        batches.check("rows on both sides, then the watermark alone")
        inputs.put("other", "7\n")
        batches.check("rows of another stream alone")
        if LONG:
            inputs.put("left", "")
            batches.check("a file without a byte")
        inputs.rows("left", 9, range(10, 30))
        batches.check("rows on one side")
        inputs.rows("right", 16, range(15))
        batches.check("the watermark lets rows expire")
    assert len(set(batches.empty)) >= (4 if LONG else 3), batches.empty
    if not LONG:
        return
    with batches.of(three_joins(spark, inputs)):
        inputs.put("other", "8\n")
        batches.check("after a restart, rows of another stream alone")
        inputs.rows("left", 40, range(3))
        inputs.rows("right", 40, range(3))
        batches.check("after a restart, all old rows expire")
    assert len(set(batches.empty)) >= 6, batches.empty


@pytest.mark.parametrize(
    "marked",
    [pytest.param(False, id="no watermark", marks=pytest.mark.long), True],
    ids=["no watermark", "watermark"],
)
def test_a_lookup_says_what_it_caches_in_every_batch(
    spark: SparkSession, tmp_path: Path, marked: bool
) -> None:
    inputs, said = Inputs(tmp_path), []
    table = hg.ArrowTable(pa.table({"key": pa.array(range(8), pa.int32()), "note": ["a"] * 8}))
    lookup = hg.CachedLookup(table=table, on="key", budget=hg.Budget(rows=100), policy="lru")

    def run() -> None:
        stream = inputs.read(spark, "left", LEFT)
        stream = stream.withWatermark("lt", "0 seconds") if marked else stream
        found = lookup.stream(stream, shards=2, name="lookup").select("l")
        query = (
            found.unionAll(inputs.read(spark, "other", OTHER))
            .writeStream.format("noop")
            .option("checkpointLocation", str(tmp_path / "checkpoint"))
            .trigger(availableNow=True)
            .start()
        )
        query.awaitTermination()
        for report in query.recentProgress:
            if report["observedMetrics"]:
                figures = figures_of(report["observedMetrics"]["lookup"])
                said.append((figures["rows"], figures["stored_rows"], figures["held_bytes"] > 0))

    inputs.rows("left", 1, range(5))
    run()
    inputs.put("other", "7\n")
    run()
    inputs.put("left", "")
    run()
    assert said[0] == (5, 5, True)
    assert set(said[1:]) == {(0, 5, True)}
    assert len(said) == 3 + marked
