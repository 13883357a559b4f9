"""Lookups on Spark: exact answers, restarts, a database that fails, metrics, and no password."""

import shutil
import threading
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pytest
from pyspark.errors import StreamingQueryException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

import headgate as hg
from headgate.metrics import names_of
from headgate.metrics.metric_groups import LookupCounts
from headgate.models import AutoRegressive
from headgate.policies import Heeb
from headgate.spark.spark_versions import figures_of
from tests.postgres import NO_SERVER, PASSWORD, Server, can_run
from tests.spark.streams import START_US, collect, multiset, timestamps, write_side

pytestmark = pytest.mark.spark

BATCHES, ROWS = 5, 400
SCHEMA = "day bigint, temperature bigint, at timestamp"
needs_postgres = pytest.mark.skipif(not can_run(), reason=NO_SERVER)


@pytest.fixture(scope="module")
def days() -> list[pa.Table]:
    """A stream in batches: skewed keys, some unknown, some null."""
    rng = np.random.default_rng(8)
    batches = []
    for number in range(BATCHES):
        day = np.arange(ROWS) + ROWS * number
        temperature = rng.zipf(1.2, ROWS) % 130
        batches.append(
            pa.table(
                {
                    "day": day,
                    "temperature": pa.array(temperature, mask=rng.random(ROWS) < 0.02),
                    "at": timestamps(START_US + 60_000_000 * day),
                }
            )
        )
    return batches


@pytest.fixture(scope="module")
def inputs(days: list[pa.Table], tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_side(tmp_path_factory.mktemp("lookups") / "days", days)


@pytest.fixture(scope="module")
def levels(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The table, in a DuckDB file."""
    file = tmp_path_factory.mktemp("tables") / "energy.duckdb"
    with duckdb.connect(str(file)) as connection:
        connection.execute(
            "create table levels as select k::utinyint as temperature, 'level ' || k as level, "
            "k * 1.5::double as energy, timestamptz '2026-01-01' + to_days(k::integer) as changed "
            "from range(100) t(k) where k % 7 <> 3"
        )
    return file


@pytest.fixture(scope="module")
def exact(days: list[pa.Table], levels: Path) -> dict[str, Counter]:
    """The full join, by SQL."""
    with duckdb.connect(str(levels), read_only=True) as connection:
        connection.execute("set timezone = 'UTC'")
        connection.register("days", pa.concat_tables(days))
        return {
            how: multiset(
                connection.sql(
                    f"select s.*, t.level, t.energy, t.changed from days s {how} join levels t "
                    f"on s.temperature = t.temperature"
                ).to_arrow_table()
            )
            for how in ("inner", "left")
        }


@pytest.fixture(scope="module")
def server(levels: Path) -> Iterator[Server]:
    """A PostgreSQL server with the same table."""
    server = Server()
    server.execute(
        "create table levels as select k::integer as temperature, 'level ' || k as level, "
        "k * 1.5::float8 as energy, timestamptz '2026-01-01 00:00:00+00' + k * interval '1 day' "
        "as changed from generate_series(0, 99) k where k % 7 <> 3",
    )
    yield server
    server.remove()


def read(spark: SparkSession, folder: Path) -> DataFrame:
    stream = spark.readStream.schema(SCHEMA).option("maxFilesPerTrigger", 1)
    return stream.parquet(str(folder))


def lookup(table: object, policy: str = "lru", rows: int = 20, **more: object) -> hg.CachedLookup:
    asked = {"on": "temperature", "budget": hg.Budget(rows=rows), "policy": policy} | more
    return hg.CachedLookup(table=table, **asked)


def test_answers_are_those_of_the_full_join(
    spark: SparkSession, inputs: Path, levels: Path, exact: dict[str, Counter], tmp_path: Path
) -> None:
    asked = lookup(hg.DuckDbTable(levels, "levels"))
    got = collect(asked.stream(read(spark, inputs), shards=2), tmp_path / "checkpoint")
    assert got.rows == exact["inner"]
    assert got.total("rows") == BATCHES * ROWS
    assert got.total("hits") + got.total("misses") == exact["inner"].total()
    assert got.total("unknown") > 0
    assert got.total("null_keys") > 0
    assert 0 < got.total("queries") <= 2 * BATCHES
    assert all(batch["peak_rows"] <= 20 for batch in got.metrics)
    assert got.total("evictions") > 20


@pytest.mark.long
def test_heeb_follows_the_stream_in_one_shard(
    spark: SparkSession,
    inputs: Path,
    days: list[pa.Table],
    levels: Path,
    exact: dict[str, Counter],
    tmp_path: Path,
) -> None:
    heeb = Heeb.of_references(AutoRegressive(0.5, 5, 12))
    asked = lookup(hg.DuckDbTable(levels, "levels"), heeb)
    got = collect(asked.stream(read(spark, inputs)), tmp_path / "checkpoint")
    assert got.rows == exact["inner"]
    whole = asked.run(pa.concat_tables(days)).stats
    assert (got.total("hits"), got.total("evictions")) == (whole.hits, whole.evictions)
    assert whole.evictions > 20
    assert whole.refused > 100
    with pytest.raises(hg.SpecError, match="follows the values of the whole stream"):
        asked.stream(read(spark, inputs), shards=2)


def test_a_budget_of_bytes_holds_dead_rows_too_and_no_row_need_be_left_out(
    spark: SparkSession,
    days: list[pa.Table],
    levels: Path,
    exact: dict[str, Counter],
    tmp_path: Path,
) -> None:
    budget = hg.Budget(memory=6_000)
    frequencies = hg.Frequencies.of_mappings({0: 1.0}, {key: 1 / (1 + key) for key in range(100)})
    asked = lookup(
        hg.DuckDbTable(levels, "levels"),
        "prob",
        budget=budget,
        frequencies=frequencies,
        how="left",
    )
    first = write_side(tmp_path / "days", days[:3])
    got = collect(asked.stream(read(spark, first), shards=2), tmp_path / "checkpoint")
    assert got.rows == multiset(asked.run(pa.concat_tables(days[:3])).rows)
    assert got.rows.total() == 3 * ROWS
    assert got.rows < exact["left"]
    assert got.total("refused") > 0
    assert all(batch["held_bytes"] <= 6_000 for batch in got.metrics)
    assert max(batch["stored_bytes"] for batch in got.metrics) > 3_000


def test_a_spark_dataframe_is_looked_up_through_a_snapshot(
    spark: SparkSession,
    inputs: Path,
    days: list[pa.Table],
    levels: Path,
    exact: dict[str, Counter],
    tmp_path: Path,
) -> None:
    with duckdb.connect(str(levels), read_only=True) as connection:
        connection.execute("set timezone = 'UTC'")
        rows = connection.sql(
            "select * replace (temperature::bigint as temperature) from levels"
        ).to_arrow_table()
    frame = spark.createDataFrame(rows)
    here = lookup(hg.SparkTable(frame)).run(pa.concat_tables(days[:2]))
    assert here.stats.hits > 0
    assert multiset(here.rows) <= exact["inner"]
    with pytest.raises(hg.SpecError, match="workers cannot ask a DataFrame"):
        lookup(hg.SparkTable(frame)).stream(read(spark, inputs))
    asked = lookup(hg.SparkTable(frame, snapshot=str(tmp_path / "snapshot")))
    first = write_side(tmp_path / "days", days[:2])
    got = collect(asked.stream(read(spark, first), shards=2), tmp_path / "checkpoint")
    assert got.rows == multiset(here.rows)
    # The snapshot that is there is taken up, whatever became of the DataFrame.
    again = lookup(hg.SparkTable(frame.limit(0), snapshot=str(tmp_path / "snapshot")))
    assert again.table.for_workers(("temperature",)).fetch(
        pa.table({"temperature": [5]}), again.schema
    ).column("level").to_pylist() == ["level 5"]


# A lookup hands watermarks on as they come: tests/spark/test_figures.py has one in its batches.
@pytest.mark.long
def test_results_can_be_aggregated_by_time(
    spark: SparkSession, days: list[pa.Table], levels: Path, tmp_path: Path
) -> None:
    folder = write_side(tmp_path / "days", days[:3])
    stream = read(spark, folder).withWatermark("at", "1 minute")
    asked = lookup(hg.DuckDbTable(levels, "levels"))
    hourly = asked.stream(stream, shards=2).groupBy(F.window("at", "1 hour")).count()
    got = collect(hourly.select("count"), tmp_path / "checkpoint")
    counted = sum(count * times for (count,), times in got.rows.items())
    found = asked.run(pa.concat_tables(days[:3])).rows.num_rows
    assert 0 < found - counted <= 60, "all but the last, open window"


@pytest.mark.long
def test_a_stopped_query_carries_on_as_if_it_had_not_been(
    spark: SparkSession,
    inputs: Path,
    days: list[pa.Table],
    levels: Path,
    exact: dict[str, Counter],
    tmp_path: Path,
) -> None:
    asked = lookup(hg.DuckDbTable(levels, "levels"), "lfu")
    alone = asked.run(pa.concat_tables(days), batch_rows=ROWS).stats
    folder = tmp_path / "days"
    folder.mkdir()
    total: Counter[str] = Counter()
    for number in range(BATCHES):
        name = f"{number:04d}.parquet"
        shutil.copy2(inputs / name, folder / name)
        if number in (2, 4):
            query = run(asked.stream(read(spark, folder), shards=1), tmp_path)
            metrics = [progress["observedMetrics"] for progress in query.recentProgress]
            for batch in metrics:
                told = figures_of(batch["headgate"]) if "headgate" in batch else {}
                total.update({name: told.get(name, 0) for name in names_of(LookupCounts)})
    assert multiset(spark.read.parquet(str(tmp_path / "out"))) == exact["inner"]
    for figure in ("hits", "misses", "evictions", "refused", "asked", "fetched", "queries"):
        assert total[figure] == getattr(alone, figure), figure
    last = metrics[-1]["headgate"]
    assert last["stored_rows"] == alone.stored_rows
    # Spark has no unsigned bytes: a key takes two.
    assert last["stored_bytes"] == alone.stored_bytes + alone.stored_rows
    # A checkpoint belongs to its lookup.
    shutil.copy2(inputs / "0000.parquet", folder / "0009.parquet")
    other = lookup(hg.DuckDbTable(levels, "levels"), "lru")
    with pytest.raises(StreamingQueryException, match=r"policy was Lfu\(\) and is now Lru\(\)"):
        run(other.stream(read(spark, folder), shards=1), tmp_path)


@needs_postgres
def test_a_database_that_fails_in_mid_stream_loses_and_doubles_nothing(
    spark: SparkSession, inputs: Path, server: Server, exact: dict[str, Counter], tmp_path: Path
) -> None:
    patient = hg.Retry(attempts=12, first_seconds=0.05, most_seconds=1)
    hasty = hg.Retry(attempts=2, first_seconds=0.05)
    folder = tmp_path / "days"
    folder.mkdir()

    def arrive(number: int) -> None:
        shutil.copy2(inputs / f"{number:04d}.parquet", folder / f"{number:04d}.parquet")

    def started(retry: hg.Retry) -> DataFrame:
        asked = lookup(hg.PostgresTable(server.dsn, "levels", retry=retry))
        return asked.stream(read(spark, folder), shards=2)

    arrive(0)
    running = start(started(patient), tmp_path)
    running.processAllAvailable()
    # Gone while a batch comes, and back while it waits.
    server.kill()
    arrive(1)
    time.sleep(0.5)
    threading.Timer(0.5, server.start).start()
    running.processAllAvailable()
    arrive(2)
    running.processAllAvailable()
    running.stop()
    # Gone for longer than the query waits: the batch fails, and is made after the restart.
    arrive(3)
    frame = started(hasty)
    server.kill()
    try:
        failing = start(frame, tmp_path)
        with pytest.raises(
            StreamingQueryException, match="could not be reached, tried 2 times"
        ) as e:
            failing.processAllAvailable()
    finally:
        server.start()
    assert PASSWORD not in str(e.value)
    for number in range(4, BATCHES):
        arrive(number)
    query = run(started(hasty), tmp_path)
    assert multiset(spark.read.parquet(str(tmp_path / "out"))) == exact["inner"]
    told = query._jsq.explainInternal(True) + str(query.lastProgress) + repr(frame)
    assert PASSWORD not in told
    for place in tmp_path.rglob("*"):
        assert place.is_dir() or PASSWORD.encode() not in place.read_bytes(), place


class TestErrors:
    """Told at the call, not in a worker."""

    def test_of_the_stream(self, spark: SparkSession, inputs: Path, levels: Path) -> None:
        asked = lookup(hg.DuckDbTable(levels, "levels"))
        with pytest.raises(hg.SpecError, match=r"Arrow tables and pandas frames go to run"):
            asked.stream(pa.table({"temperature": [1]}))
        with pytest.raises(hg.SpecError, match=r"look it up with run\(frame.toArrow\(\)\)"):
            asked.stream(spark.range(3))
        with pytest.raises(hg.SpecError, match='the stream has no column "temperature"'):
            asked.stream(read(spark, inputs).select("day"))
        with pytest.raises(hg.SpecError, match="of the stream is string"):
            asked.stream(read(spark, inputs).selectExpr("string(temperature) as temperature"))
        with pytest.raises(hg.SpecError, match="several columns named day"):
            asked.stream(read(spark, inputs).select("*", "day"))
        with pytest.raises(hg.SpecError, match="shards=0"):
            asked.stream(read(spark, inputs), shards=0)
        with pytest.raises(hg.SpecError, match="LFD must know the whole stream"):
            lookup(hg.DuckDbTable(levels, "levels"), "lfd").stream(read(spark, inputs))

    def test_of_the_table(self, spark: SparkSession, inputs: Path) -> None:
        with pytest.raises(hg.SpecError, match="give a Spark DataFrame"):
            hg.SparkTable(pa.table({"a": [1]}))
        with pytest.raises(hg.SpecError, match="give a bounded one"):
            hg.SparkTable(read(spark, inputs))
        intervals = pa.table(
            {"temperature": [1], "for": pa.array([None], pa.month_day_nano_interval())}
        )
        with pytest.raises(hg.SpecError, match=r'column "for" of an Arrow table .* Spark does not'):
            lookup(hg.ArrowTable(intervals)).stream(read(spark, inputs))


def start(frame: DataFrame, folder: Path) -> object:
    return (
        frame.writeStream.format("parquet")
        .option("path", str(folder / "out"))
        .option("checkpointLocation", str(folder / "checkpoint"))
        .start()
    )


def run(frame: DataFrame, folder: Path) -> object:
    """A query over all there is, then stopped."""
    query = start(frame, folder)
    try:
        query.processAllAvailable()
    finally:
        query.stop()
    return query
