"""Bad input: the error a person needs, at the call, and nothing lost."""

import os
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyspark.errors import StreamingQueryException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

import headgate as hg
from headgate.spark.requirements import PARTITIONS, PROVIDER
from tests.spark.needed_spark import needs_classic
from tests.spark.streams import START_US, collect, multiset, timestamps, write_side

pytestmark = pytest.mark.spark

LEFT = "key bigint, opened_at timestamp, note string, left_id bigint"
RIGHT = "key bigint, bid_at timestamp, note string, right_id bigint"
LEFT_AND_RIGHT = ("key", "opened_at", "left_id", "bid_at", "right_id")


def side_of(window: str, time: str = "opened_at") -> hg.Side:
    return hg.Side(time=time, window=window)


def make_join(**changed: object) -> hg.WindowJoin:
    return hg.WindowJoin(
        **{
            "on": "key",
            "left": side_of("60 seconds"),
            "right": side_of("30 seconds", "bid_at"),
            "budget": hg.Budget(rows=50),
            **changed,
        }
    )


def source(spark: SparkSession, folder: Path, schema: str = LEFT) -> DataFrame:
    folder.mkdir(parents=True, exist_ok=True)
    return spark.readStream.schema(schema).option("maxFilesPerTrigger", 1).parquet(str(folder))


@pytest.fixture(scope="module")
def empty(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> tuple:
    """Streams of no rows, with watermarks."""
    folder = tmp_path_factory.mktemp("streams")
    return (
        source(spark, folder / "l", LEFT).withWatermark("opened_at", "0 seconds"),
        source(spark, folder / "r", RIGHT).withWatermark("bid_at", "0 seconds"),
    )


@pytest.fixture(scope="module")
def bounded(spark: SparkSession) -> tuple:
    return spark.createDataFrame([], LEFT), spark.createDataFrame([], RIGHT)


class TestColumns:
    @pytest.mark.parametrize(
        ("join", "says"),
        [
            (make_join(on="auction"), 'no column "auction": it has key, opened_at'),
            (make_join(left=side_of("1 second", "opened")), 'no column "opened"'),
            (make_join(right=side_of("1 second", "closed")), 'right side has no column "closed"'),
            (make_join(on=None, left_on="note", right_on="key"), "differ in type"),
            (make_join(left=side_of("1 second", "note")), 'column "note" of the left side is str'),
        ],
    )
    def test_missing_or_unfit_columns_are_named(
        self, empty: tuple, bounded: tuple, join: hg.WindowJoin, says: str
    ) -> None:
        with pytest.raises(hg.SpecError, match=says):
            join.stream(*empty)
        with pytest.raises(hg.SpecError, match=says):
            join.batch(*bounded)
        with pytest.raises(hg.SpecError, match=says):
            join.run(*(frame.toArrow() for frame in bounded))

    def test_shared_keys_come_once_and_taken_names_get_a_suffix(
        self, empty: tuple, bounded: tuple
    ) -> None:
        names = ["key", "opened_at", "note", "left_id", "bid_at", "note_right", "right_id"]
        assert make_join().stream(*empty).columns == names
        assert make_join().batch(*bounded).columns == names
        assert make_join().run(*(f.toArrow() for f in bounded)).pairs.column_names == names
        assert "note_of_bid" in make_join(suffix="_of_bid").batch(*bounded).columns

    def test_a_name_that_even_the_suffix_does_not_free_is_refused(self, bounded: tuple) -> None:
        left, right = bounded
        with pytest.raises(hg.SpecError, match='two columns "note_right"'):
            make_join().batch(left.withColumn("note_right", F.lit(1)), right)

    def test_repeated_and_incomparable_columns_are_refused(self, bounded: tuple) -> None:
        left, right = bounded
        with pytest.raises(hg.SpecError, match="several columns named note"):
            make_join().batch(left.select("*", F.lit(1).alias("note")), right)
        maps = [frame.withColumn("key", F.create_map("note", "key")) for frame in bounded]
        with pytest.raises(hg.SpecError, match="cannot compare"):
            make_join().batch(*maps)


class TestRequests:
    def test_windows_must_be_durations(self) -> None:
        for window, says in (
            ("-5 seconds", "negative"),
            ("-5 rows", "negative"),
            ("5 mins", 'write "5 minutes"'),
            ("soon", "not a duration"),
            ("", "not a duration"),
            (5, "not a duration"),
        ):
            with pytest.raises(hg.SpecError, match=says):
                hg.Side(time="t", window=window)

    def test_budgets_must_leave_room(self) -> None:
        for given in ({}, {"rows": 0}, {"rows": -3}, {"rows": 1.5}, {"memory": "0 MB"}):
            with pytest.raises(hg.SpecError, match="budget"):
                hg.Budget(**given)
        with pytest.raises(hg.SpecError, match="not a size"):
            hg.Budget(memory="much")

    def test_a_budget_must_hold_a_row_a_shard(self, empty: tuple, bounded: tuple) -> None:
        for budget in (hg.Budget(rows=3), hg.Budget(memory=240)):
            with pytest.raises(hg.SpecError, match="too small for one row in each of 4 shards"):
                make_join(budget=budget).stream(*empty, shards=4)
            with pytest.raises(hg.SpecError, match="too small for one row in each of 5 shards"):
                make_join(budget=budget).batch(*bounded, shards=5)

    def test_shards_are_counted_from_one(self, empty: tuple, bounded: tuple) -> None:
        for shards in (0, -1, 1.5, True):
            with pytest.raises(hg.SpecError, match="whole number of shards"):
                make_join().stream(*empty, shards=shards)
            with pytest.raises(hg.SpecError, match="whole number of shards"):
                make_join().batch(*bounded, shards=shards)

    def test_row_windows_need_all_rows_in_one_place(self, empty: tuple, bounded: tuple) -> None:
        join = make_join(left=side_of("10 rows"))
        for call, frames in ((join.stream, empty), (join.batch, bounded)):
            with pytest.raises(hg.SpecError, match="use one shard"):
                call(*frames, shards=2)
            call(*frames)


class TestInputs:
    def test_streams_need_watermarks(
        self, spark: SparkSession, empty: tuple, tmp_path: Path
    ) -> None:
        bare = source(spark, tmp_path / "l")
        with pytest.raises(hg.SpecError, match=r'withWatermark\("opened_at"'):
            make_join().stream(bare, empty[1])
        other = source(spark, tmp_path / "l").withWatermark("opened_at", "1 second")
        lost = other.withColumn("opened_at", F.col("opened_at") + F.expr("INTERVAL 1 SECOND"))
        with pytest.raises(hg.SpecError, match="left side has no watermark"):
            make_join().stream(lost, empty[1])

    def test_one_stream_cannot_be_both_sides(self, empty: tuple) -> None:
        left, _ = empty
        with pytest.raises(hg.SpecError, match="same DataFrame object"):
            make_join(right=side_of("1 second")).stream(left, left)

    def test_streams_and_bounded_inputs_go_to_their_own_method(
        self, empty: tuple, bounded: tuple
    ) -> None:
        with pytest.raises(hg.SpecError, match="left side is bounded: use batch"):
            make_join().stream(*bounded)
        with pytest.raises(hg.SpecError, match="right side is bounded: use batch"):
            make_join().stream(empty[0], bounded[1])
        with pytest.raises(hg.SpecError, match="left side is streaming: use stream"):
            make_join().batch(*empty)
        with pytest.raises(hg.SpecError, match="Spark DataFrames go to batch or stream"):
            make_join().run(*bounded)
        with pytest.raises(hg.SpecError, match="pandas frames go to run"):
            make_join().batch(bounded[0].toArrow(), bounded[1])

    @needs_classic("a client has one session")
    def test_both_sides_live_in_one_session(self, spark: SparkSession, bounded: tuple) -> None:
        elsewhere = spark.newSession().createDataFrame([], RIGHT)
        with pytest.raises(hg.SpecError, match="different Spark sessions"):
            make_join().batch(bounded[0], elsewhere)

    def test_a_state_store_that_cannot_serve_is_named(
        self, spark: SparkSession, empty: tuple
    ) -> None:
        fit = spark.conf.get(PROVIDER)
        unfit = "org.apache.spark.sql.execution.streaming.state.HDFSBackedStateStoreProvider"
        spark.conf.set(PROVIDER, unfit)
        try:
            with pytest.raises(hg.SpecError, match=f"state store is {unfit}.*spark.conf.set"):
                make_join().stream(*empty)
        finally:
            spark.conf.set(PROVIDER, fit)


def test_headgate_runs_in_process_without_java(tmp_path: Path) -> None:
    program = """
import sys
import warnings
import headgate as hg, pyarrow as pa, datetime as dt
now = pa.array([dt.datetime(2026, 1, 1)])
join = hg.WindowJoin(on="k", left=hg.Side("t", "1 second"), right=hg.Side("u", "1 second"),
                     budget=hg.Budget(rows=9))
print(join.run(pa.table({"k": [1], "t": now}), pa.table({"k": [1], "u": now})).stats.pairs)
assert "pyspark" not in sys.modules
"""
    source = str(Path(hg.__file__).parents[1])
    kept = {name: os.environ[name] for name in ("HOME", "TMPDIR") if name in os.environ}
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={**kept, "PATH": str(tmp_path), "PYTHONPATH": source},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.strip() == "1", done.stderr


@pytest.mark.long
class TestRestarts:
    """A checkpoint is taken up only by the join that wrote it."""

    @pytest.fixture
    def files(self) -> tuple[list[pa.Table], list[pa.Table]]:
        rng = np.random.default_rng(51)
        return tuple(
            [
                pa.table(
                    {
                        "key": pa.array(rng.integers(0, 8, 80), mask=rng.random(80) < 0.1),
                        time: timestamps(
                            START_US + (60 * number + np.sort(rng.integers(0, 60, 80))) * 1_000_000,
                            rng.random(80) < 0.05,
                        ),
                        "note": pa.array(rng.integers(0, 9, 80)).cast(pa.string()),
                        f"{which}_id": np.arange(80) + 80 * number,
                    }
                )
                for number in range(3)
            ]
            for which, time in (("left", "opened_at"), ("right", "bid_at"))
        )  # type: ignore[return-value]

    def streams(self, spark: SparkSession, folder: Path) -> tuple[DataFrame, DataFrame]:
        return (
            source(spark, folder / "left", LEFT).withWatermark("opened_at", "0 seconds"),
            source(spark, folder / "right", RIGHT).withWatermark("bid_at", "0 seconds"),
        )

    def test_another_join_is_refused_and_the_same_goes_on(
        self, spark: SparkSession, tmp_path: Path, files: tuple
    ) -> None:
        for side, name in enumerate(("left", "right")):
            write_side(tmp_path / name, files[side])
        left, right = self.streams(spark, tmp_path)
        same = make_join().stream(left, right, shards=2, watermark=False)
        whole = collect(same, tmp_path / "whole")
        assert whole.total("shed") > 0
        assert whole.total("null_keys") > 0
        assert whole.total("null_times") == sum(
            table.column(time).null_count
            for side, time in zip(files, ("opened_at", "bid_at"), strict=True)
            for table in side
        )

        for name in ("left", "right"):
            (tmp_path / name / "0002.parquet").rename(tmp_path / f"{name}_later")
        self.run(same, tmp_path)
        for name in ("left", "right"):
            (tmp_path / f"{name}_later").rename(tmp_path / name / "0002.parquet")

        for changed, says in (
            (
                make_join(left=side_of("61 rows"), right=side_of("9 rows", "bid_at")).stream(
                    left, right, shards=1, watermark=False
                ),
                [
                    "left window was 60,000,000 microseconds and is now 61 rows (times and counts",
                    "shards was 2 and is now 1 (each shard has its own state: `headgate reshard`",
                ],
            ),
            (
                make_join(on=("key", "note"), goal=hg.Sample()).stream(
                    left, right, shards=2, watermark=False
                ),
                [
                    "left keys was key and is now key, note (rows are placed and found by",
                    "samples was false and is now true (a sample's weights follow from how",
                ],
            ),
        ):
            with pytest.raises(StreamingQueryException) as raised:
                self.run(changed.select(*LEFT_AND_RIGHT), tmp_path)
            assert "this checkpoint was written by another join" in str(raised.value)
            for change in says:
                assert change in str(raised.value)

        self.run(same, tmp_path)
        assert multiset(spark.read.parquet(str(tmp_path / "out"))) == whole.rows

    def run(self, frame: DataFrame, folder: Path) -> None:
        query = (
            frame.writeStream.format("parquet")
            .option("path", str(folder / "out"))
            .option("checkpointLocation", str(folder / "checkpoint"))
            .trigger(availableNow=True)
            .start()
        )
        query.awaitTermination()


def test_partitions_that_would_be_idle_are_worth_a_warning(
    spark: SparkSession, empty: tuple
) -> None:
    before = spark.conf.get(PARTITIONS)
    spark.conf.set(PARTITIONS, "200")
    try:
        with pytest.warns(UserWarning, match=r"writes 1000 state stores.*work for 2: call .*\"2\""):
            make_join().stream(*empty)
        with pytest.warns(UserWarning, match="writes 200 state stores"):
            make_join().stream(*empty, watermark=False)
    finally:
        spark.conf.set(PARTITIONS, before)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        make_join().stream(*empty)
