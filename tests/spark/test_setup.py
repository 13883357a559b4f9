"""What is not set up as Headgate needs it is said in one sentence, at the call."""

import os
import subprocess
import sys
import tomllib
import venv
from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import headgate as hg
from headgate.spark.installed_packages import ALWAYS, PROTOBUF, PYSPARK, Package
from headgate.spark.session import NotReady, start_session
from headgate.spark.worker_check import check_workers

pytestmark = pytest.mark.spark

ROOT = Path(__file__).parents[2]
CONNECTING = """
import sys
import pyarrow as pa
from pyspark.sql import SparkSession
import headgate as hg

spark = SparkSession.builder.remote("local[1]").getOrCreate()
sides = {"left": hg.Side("lt", "1 minute"), "right": hg.Side("rt", "1 minute")}
join = hg.WindowJoin(on="key", budget=hg.Budget(rows=10), policy="fifo", **sides)
schemas = [f"key bigint, {time} timestamp" for time in ("lt", "rt")]
bounded = [spark.createDataFrame([], schema) for schema in schemas]
streams = [spark.readStream.schema(schema).parquet(sys.argv[1]) for schema in schemas]
table = hg.ArrowTable(pa.table({"key": [1], "note": ["one"]}))
lookup = hg.CachedLookup(table=table, on="key", budget=hg.Budget(rows=1), policy="lru")
for call in (
    lambda: join.stream(*streams),
    lambda: join.batch(*bounded),
    lambda: hg.profile(*bounded, on="key", **sides),
    lambda: hg.whatif(*bounded, join=join),
    lambda: hg.whatif(join=join, checkpoint=sys.argv[1], spark=spark),
    lambda: lookup.stream(streams[0]),
):
    try:
        call()
    except hg.SpecError as error:
        print("refused" if "Spark Connect" in str(error) else error)
spark.stop()
"""
SetPython = Callable[[Path], None]

JOINING = """
import sys
from pyspark.sql import SparkSession
import headgate as hg
from tests.spark.quick_settings import QUICK_TO_START

folder = sys.argv[1]
builder = (
    SparkSession.builder.master("local[1]")
    .config("spark.ui.enabled", "false")
    .config("spark.sql.shuffle.partitions", "1")
    .config("spark.sql.streaming.stateStore.providerClass",
            "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider")
)
for name, value in QUICK_TO_START.items():
    builder = builder.config(name, value)
spark = builder.getOrCreate()
join = hg.WindowJoin(
    on="key",
    left=hg.Side(time="lt", window="1 minute"),
    right=hg.Side(time="rt", window="1 minute"),
    budget=hg.Budget(rows=10),
    policy="fifo",
)
rows = spark.sql("SELECT 1 AS key, timestamp'2026-01-01 00:00:01' AS t")
rows.write.parquet(folder + "/in")
read = spark.readStream.schema("key int, t timestamp").parquet
left = read(folder + "/in").withColumnRenamed("t", "lt").withWatermark("lt", "0 seconds")
right = read(folder + "/in").withColumnRenamed("t", "rt").withWatermark("rt", "0 seconds")
query = (
    join.stream(left, right, watermark=False)
    .writeStream.format("memory")
    .queryName("joined")
    .option("checkpointLocation", folder + "/checkpoint")
    .trigger(availableNow=True)
    .start()
)
query.awaitTermination()
print("joined", spark.table("joined").count(), "row")
"""


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a python3 that has nothing installed."""
    folder = tmp_path_factory.mktemp("bare")
    venv.create(folder, with_pip=False, symlinks=True)
    assert (folder / "bin" / "python3").exists()
    return folder / "bin"


def test_a_local_session_runs_the_python_that_has_headgate_whatever_python3_is(
    bare: Path, tmp_path: Path
) -> None:
    unset = ("PYSPARK_PYTHON", "PYSPARK_DRIVER_PYTHON")
    environment = {name: value for name, value in os.environ.items() if name not in unset}
    environment["PATH"] = f"{bare}{os.pathsep}{environment['PATH']}"
    done = subprocess.run(
        [sys.executable, "-c", JOINING, str(tmp_path)],
        capture_output=True,
        text=True,
        env=environment,
        cwd=ROOT,
        check=False,
    )
    assert "joined 1 row" in done.stdout, done.stderr


def jobs_of(spark: SparkSession) -> int:
    """How many jobs the session has run outside of queries."""
    return len(spark.sparkContext.statusTracker().getJobIdsForGroup())


class TestWorkers:
    """In a session where the user has set the workers' Python."""

    @pytest.fixture
    def set_to(
        self, spark: SparkSession, monkeypatch: pytest.MonkeyPatch
    ) -> Callable[[Path], None]:
        def set_python(path: Path | str) -> None:
            monkeypatch.setenv("PYSPARK_PYTHON", str(path))
            monkeypatch.setattr(spark.sparkContext, "pythonExec", str(path))

        return set_python

    def test_one_without_headgate_is_refused_with_the_line_to_set(
        self, spark: SparkSession, set_to: SetPython, bare: Path
    ) -> None:
        set_to(bare / "python3")
        frames = [spark.createDataFrame([], f"key int, {time} timestamp") for time in ("lt", "rt")]
        sides = {"left": hg.Side("lt", "1 minute"), "right": hg.Side("rt", "1 minute")}
        join = hg.WindowJoin(on="key", budget=hg.Budget(rows=10), **sides)
        says = (
            rf'workers run {bare}/python3 .*has no .*numpy.*PYSPARK_PYTHON"\] = "{sys.executable}'
        )
        for call in (join.batch, partial(hg.whatif, join=join)):
            with pytest.raises(hg.SpecError, match=says) as refused:
                call(*frames)
            assert "\n" not in str(refused.value)

    def test_one_that_is_not_there_is_refused_in_one_line(
        self, spark: SparkSession, set_to: SetPython, bare: Path
    ) -> None:
        set_to(bare / "python2")
        with pytest.raises(hg.SpecError, match=r"cannot start .*/python2 .*Cannot run program"):
            check_workers(spark.sparkContext)

    def test_one_that_has_it_is_tried_once(
        self, spark: SparkSession, set_to: SetPython, tmp_path: Path
    ) -> None:
        # A script, so that it is not known to be this Python before it was tried.
        wrapped = tmp_path / "python"
        wrapped.write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
        wrapped.chmod(0o755)
        set_to(wrapped)
        before = jobs_of(spark)
        check_workers(spark.sparkContext)
        assert jobs_of(spark) == before + 1
        check_workers(spark.sparkContext)
        assert jobs_of(spark) == before + 1

    def test_this_python_is_not_tried_under_any_of_its_names(
        self, spark: SparkSession, set_to: SetPython
    ) -> None:
        before = jobs_of(spark)
        folder = Path(sys.executable).parent
        for name in ("python", "python3"):
            set_to(folder / name)
            check_workers(spark.sparkContext)
        assert jobs_of(spark) == before


class TestConnect:
    @pytest.mark.skipif(find_spec("grpc") is None, reason="pyspark[connect] is not installed")
    def test_every_call_says_that_connect_is_not_supported_yet(self, tmp_path: Path) -> None:
        done = subprocess.run(
            [sys.executable, "-c", CONNECTING, str(tmp_path)],
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.stdout.split() == ["refused"] * 6, done.stderr

    @pytest.mark.parametrize(
        "asked", [{"spark.remote": "sc://somewhere"}, {"spark.api.mode": "connect"}]
    )
    def test_commands_say_so_before_they_start_spark(self, asked: dict[str, str]) -> None:
        with pytest.raises(NotReady, match="asks for Spark Connect"):
            start_session("never", settings=asked)

    def test_so_they_do_where_the_environment_asks_for_it(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("SPARK_REMOTE", "sc://somewhere")
        with pytest.raises(NotReady, match="SPARK_REMOTE=sc://somewhere asks for Spark Connect"):
            start_session("never")


class TestVersions:
    @pytest.mark.parametrize(
        ("package", "version", "fits"),
        [
            (PYSPARK, "4.1.1", False),
            (PYSPARK, "3.5.7", False),
            (PYSPARK, "4.2.0", True),
            (PYSPARK, "4.2.0.dev3", True),
            (PYSPARK, "4.10.0", True),
            (PYSPARK, "5.0.0-SNAPSHOT", False),
            (PROTOBUF, "6.33", True),
            (PROTOBUF, "6.4.1", False),
            (Package("pandas", (2, 2), (3,)), "3.0.0rc1", False),
            (Package("pyarrow", (18,)), "17.0.0", False),
            (Package("pyarrow", (18,)), "23", True),
        ],
    )
    def test_versions_are_compared_as_numbers(
        self, package: Package, version: str, fits: bool
    ) -> None:
        assert package.fits(version) == fits

    def test_what_is_checked_is_what_the_package_declares(self) -> None:
        project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
        declared = {*project["dependencies"], *project["optional-dependencies"]["spark"]}
        assert {package.wanted for package in (*ALWAYS, PROTOBUF)} <= declared

    def test_a_package_that_does_not_fit_or_is_missing_is_named(self) -> None:
        with pytest.raises(hg.SpecError, match=r'pandas 2\..*pip install "pandas>=99.1"'):
            Package("pandas", (99, 1)).check()
        with pytest.raises(hg.SpecError, match=r"nosuch cannot be imported.*headgate\[spark\]"):
            Package("nosuch", (1,)).check()
