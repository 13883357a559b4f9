"""Operators after a streaming join get what they would get after Spark's own join."""

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

import headgate as hg
from headgate.spark.requirements import WATERMARK
from tests.spark.needed_spark import needs_spark
from tests.spark.streams import START_US, multiset, read_side, timestamps, write_side
from tests.thoroughness import LONG

pytestmark = pytest.mark.spark

MINUTE_US = 60_000_000
SCHEMAS = {
    "left": "k bigint, lt timestamp",
    "right": "k bigint, rt timestamp",
    "third": "k bigint, at timestamp",
}
TIMES = {"left": "lt", "right": "rt", "third": "at"}
TIMES_OF = ("lt", "rt")
"""Of results."""
FILES = 5
WITHOUT_A_STOP = ((0, FILES),)
WITH_A_STOP = ((0, 2), (2, FILES))
BEFORE_WINDOWS_CLOSE = ((0, FILES - 2),)
"""The files, each a micro-batch, that a query reads before it is stopped and started again."""


def make_files(seed: int) -> dict[str, list[pa.Table]]:
    """Four minutes a file, rows up to a minute late; at last two far ahead, so windows close."""
    rng = np.random.default_rng(seed)
    files: dict[str, list[pa.Table]] = {}
    for name, time in TIMES.items():
        minutes = [4 * n + rng.uniform(-1, 4, 40) for n in range(FILES - 2)]
        minutes += [np.array([90.0]), np.array([91.0])]
        files[name] = [
            pa.table(
                {
                    "k": rng.integers(0, 12, len(part)),
                    time: timestamps(START_US + np.rint(part * MINUTE_US).astype(np.int64)),
                }
            )
            for part in minutes
        ]
    return files


FILES_OF = make_files(17)
JOIN = hg.WindowJoin(
    on="k",
    left=hg.Side(time="lt", window="10 minutes"),
    right=hg.Side(time="rt", window="90 seconds"),
    budget=hg.Budget(rows=10_000),
)
ODD_JOINS = {
    "window of 0": (
        hg.WindowJoin(
            on="k",
            left=hg.Side(time="lt", window="10 minutes"),
            right=hg.Side(time="rt", window="0 seconds"),
            budget=hg.Budget(rows=10_000),
        ),
        ("l.k = r.k", "10 minutes", "0 seconds"),
    ),
    "band": (
        hg.WindowJoin(
            where=hg.Band("k", lower=0, upper=1),
            left=hg.Side(time="lt", window="10 minutes"),
            right=hg.Side(time="rt", window="90 seconds"),
            budget=hg.Budget(rows=10_000),
        ),
        # Spark joins streams by an equality only.
        ("l.one = r.one and r.k - l.k between 0 and 1", "10 minutes", "90 seconds"),
    ),
}
"""With the same in Spark's words."""


def own_join(
    left: DataFrame,
    right: DataFrame,
    times: tuple[str, str],
    after: str,
    before: str,
    same: str = "l.k = r.k",
) -> DataFrame:
    """Spark's own join with the same windows."""
    lt, rt = times
    near = f"r.{rt} >= l.{lt} - interval {before} and r.{rt} <= l.{lt} + interval {after}"
    left, right = (side.withColumn("one", F.length("k") * 0) for side in (left, right))
    joined = left.alias("l").join(right.alias("r"), F.expr(f"{same} and {near}"))
    return joined.select("l.k", f"l.{lt}", f"r.{rt}")


def own(left: DataFrame, right: DataFrame) -> DataFrame:
    return own_join(left, right, ("lt", "rt"), "10 minutes", "90 seconds")


def own_again(left: DataFrame, right: DataFrame, time: str = "lt") -> DataFrame:
    return own_join(left, right, (time, "at"), "2 minutes", "1 minute")


def by_minute(time: str) -> Callable[[DataFrame, DataFrame], DataFrame]:
    def counted(results: DataFrame, third: DataFrame) -> DataFrame:
        return results.groupBy(F.window(time, "1 minute")).count().select("window.start", "count")

    return counted


def emitted(
    spark: SparkSession,
    folder: Path,
    build: Callable[..., DataFrame],
    mode: str = "append",
    runs: tuple[tuple[int, int], ...] = WITHOUT_A_STOP,
) -> dict[int, Counter]:
    """What a query put out, batch by batch."""
    batches: dict[int, Counter] = {}

    def keep(frame: DataFrame, number: int) -> None:
        rows = multiset(frame)
        if rows:
            batches[number] = rows

    for first, last in runs:
        frames = []
        for name, schema in SCHEMAS.items():
            write_side(folder / name, FILES_OF[name][first:last], first)
            frames.append(read_side(spark, folder / name, schema, TIMES[name], "1 minute"))
        query = (
            build(*frames)
            .writeStream.foreachBatch(keep)
            .outputMode(mode)
            .option("checkpointLocation", str(folder / "checkpoint"))
            .trigger(availableNow=True)
            .start()
        )
        query.awaitTermination()
    return batches


def by_both_times(results: DataFrame, third: DataFrame) -> DataFrame:
    counted = [by_minute(time)(results, third).withColumn("by", F.lit(time)) for time in TIMES_OF]
    return counted[0].unionAll(counted[1])


@pytest.mark.usefixtures("batches_without_rows")
@pytest.mark.parametrize(
    "runs", [pytest.param(WITH_A_STOP, marks=pytest.mark.long), WITHOUT_A_STOP], ids=["stop", "go"]
)
def test_results_are_counted_by_either_time_as_those_of_sparks_own_joins(
    runs: tuple[tuple[int, int], ...], spark: SparkSession, tmp_path: Path
) -> None:
    """Those of a join on keys by left time; in the long round also those of a band by right time,
    in one query.
    """
    band, (same, after, before) = ODD_JOINS["band"]

    def counted(on_keys: DataFrame, on_a_band: DataFrame | None, third: DataFrame) -> DataFrame:
        by_left = by_minute("lt")(on_keys, third).withColumn("by", F.lit("lt"))
        if on_a_band is None:
            return by_left
        by_right = by_minute("rt")(on_a_band, third).withColumn("by", F.lit("rt"))
        return by_left.unionAll(by_right)

    wanted = emitted(
        spark,
        tmp_path / "own",
        lambda left, right, third: counted(
            own(left, right),
            own_join(left, right, TIMES_OF, after, before, same) if LONG else None,
            third,
        ),
        runs=runs,
    )
    got = emitted(
        spark,
        tmp_path / "headgate",
        lambda left, right, third: counted(
            JOIN.stream(left, right),
            band.stream(left, right, name="band") if LONG else None,
            third,
        ),
        runs=runs,
    )
    found = Counter(row[-1] for rows in wanted.values() for row in rows.elements())
    assert found.keys() == ({"lt", "rt"} if LONG else {"lt"})
    assert min(found.values()) > 5, found
    assert got == wanted


@pytest.mark.long
@pytest.mark.parametrize(
    "after",
    [
        pytest.param(by_both_times, id="counted by left time and by right time"),
        pytest.param(
            lambda results, third: results.select("k", "lt").dropDuplicates(["k", "lt"]),
            id="deduplicated by left time",
        ),
        pytest.param(
            lambda results, third: results.select("k", "rt").dropDuplicatesWithinWatermark(),
            id="deduplicated within the watermark",
        ),
        pytest.param(
            lambda results, third: own_again(results.select("k", "lt"), third),
            id="joined by Spark on left time",
        ),
    ],
)
def test_an_operator_after_the_join_puts_out_what_it_does_after_sparks_own_join(
    after: Callable[[DataFrame, DataFrame], DataFrame], spark: SparkSession, tmp_path: Path
) -> None:
    wanted = emitted(
        spark,
        tmp_path / "own",
        lambda left, right, third: after(own(left, right), third),
        runs=WITH_A_STOP,
    )
    got = emitted(
        spark,
        tmp_path / "headgate",
        lambda left, right, third: after(JOIN.stream(left, right), third),
        runs=WITH_A_STOP,
    )
    assert sum(rows.total() for rows in wanted.values()) > 10
    assert got == wanted


# The watermark is that of the results, whoever reads them: the usual round counts them.
@pytest.mark.long
@pytest.mark.parametrize("time", ["lt", "rt"])
def test_a_second_join_on_either_time_finds_all_that_sparks_own_joins_find(
    time: str, spark: SparkSession, tmp_path: Path
) -> None:
    count = by_minute(time)
    again = hg.WindowJoin(
        on="k",
        left=hg.Side(time=time, window="2 minutes"),
        right=hg.Side(time="at", window="1 minute"),
        budget=hg.Budget(rows=10_000),
    )
    wanted = emitted(
        spark,
        tmp_path / "own",
        lambda left, right, third: count(
            own_again(own(left, right).select("k", time), third, time), third
        ),
    )
    got = emitted(
        spark,
        tmp_path / "headgate",
        lambda left, right, third: count(
            again.stream(JOIN.stream(left, right, name="first").select("k", time), third), third
        ),
    )
    assert sum(rows.total() for rows in wanted.values()) > 5
    assert got == wanted


@pytest.mark.long
@pytest.mark.parametrize("kind", ODD_JOINS)
def test_results_of_other_joins_are_counted_as_those_of_sparks_own(
    kind: str, spark: SparkSession, tmp_path: Path
) -> None:
    join, (same, after, before) = ODD_JOINS[kind]
    count = by_minute("lt")
    wanted = emitted(
        spark,
        tmp_path / "own",
        lambda left, right, third: count(
            own_join(left, right, ("lt", "rt"), after, before, same), third
        ),
    )
    got = emitted(
        spark,
        tmp_path / "headgate",
        lambda left, right, third: count(join.stream(left, right), third),
    )
    assert sum(rows.total() for rows in wanted.values()) > 10
    assert got == wanted


@pytest.mark.parametrize("mode", ["update", "complete"])
def test_a_query_in_another_mode_is_told_what_to_leave_out(
    mode: str, spark: SparkSession, tmp_path: Path
) -> None:
    with pytest.raises(AnalysisException, match=r"need stream\(watermark=False\)"):
        emitted(
            spark,
            tmp_path,
            lambda left, right, third: by_minute("lt")(JOIN.stream(left, right), third),
            mode,
        )


def test_each_join_of_a_group_does_with_or_without_a_watermark(
    spark: SparkSession, tmp_path: Path
) -> None:
    left, right = (
        read_side(spark, write_side(tmp_path / name, []), SCHEMAS[name], TIMES[name])
        for name in ("left", "right")
    )
    group = hg.JoinGroup(budget=hg.Budget(rows=100), joins={"one": JOIN})
    for watermark, times in ((True, {"lt", "rt"}), (False, set())):
        folder = tmp_path / f"limits-{watermark}"
        shared = group.stream({"one": (left, right)}, folder=folder, watermark=watermark)
        shared.stop()
        schema = shared["one"].schema
        assert {field.name for field in schema if WATERMARK in field.metadata} == times


@pytest.mark.long
@needs_spark(4, 2, why="its own join takes append mode alone")
def test_without_a_watermark_windows_are_counted_in_update_mode(
    spark: SparkSession, tmp_path: Path
) -> None:
    count = by_minute("lt")
    wanted = emitted(
        spark,
        tmp_path / "own",
        lambda left, right, third: count(own(left, right), third),
        mode="update",
        runs=BEFORE_WINDOWS_CLOSE,
    )
    got = emitted(
        spark,
        tmp_path / "headgate",
        lambda left, right, third: count(JOIN.stream(left, right, watermark=False), third),
        mode="update",
        runs=BEFORE_WINDOWS_CLOSE,
    )
    assert len(wanted) == FILES - 2
    assert got == wanted


def test_times_that_may_be_of_any_age_have_no_watermark(
    spark: SparkSession, tmp_path: Path
) -> None:
    left, right = (
        read_side(spark, write_side(tmp_path / name, []), SCHEMAS[name], TIMES[name])
        for name in ("left", "right")
    )

    def marked(windows: tuple[str, str], watermark: bool = True) -> set[str]:
        join = hg.WindowJoin(
            on="k",
            left=hg.Side(time="lt", window=windows[0]),
            right=hg.Side(time="rt", window=windows[1]),
            budget=hg.Budget(rows=1_000),
        )
        schema = join.stream(left, right, watermark=watermark).schema
        return {field.name for field in schema if WATERMARK in field.metadata}

    assert marked(("1 minute", "0 seconds")) == {"lt", "rt"}
    assert marked(("10 rows", "1 minute")) == {"rt"}
    assert marked(("1 minute", "10 rows")) == {"lt"}
    assert marked(("10 rows", "10 rows")) == set()
    assert marked(("1 minute", "0 seconds"), watermark=False) == set()
