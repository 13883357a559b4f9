"""What is not set up as Headgate needs it is said in one sentence, at the call."""

import os
import subprocess
import sys
import tomllib
import venv
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import headgate as hg
from headgate.spark import session
from headgate.spark.installed_package import ALWAYS, PROTOBUF, PYSPARK, InstalledPackage
from headgate.spark.spark_versions import protobuf_for
from headgate.spark.worker_check import check_driver_has, check_workers

pytestmark = pytest.mark.spark

ROOT = Path(__file__).parents[2]
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


# The quick start is run with such a python3 in the usual round.
@pytest.mark.long
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
            check_workers(spark)

    def test_one_that_has_it_is_tried_once(
        self, spark: SparkSession, set_to: SetPython, tmp_path: Path
    ) -> None:
        # A script, so that it is not known to be this Python before it was tried.
        wrapped = tmp_path / "python"
        wrapped.write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
        wrapped.chmod(0o755)
        set_to(wrapped)
        before = jobs_of(spark)
        check_workers(spark)
        assert jobs_of(spark) == before + 1
        check_workers(spark)
        assert jobs_of(spark) == before + 1

    def test_one_that_the_driver_does_not_have_is_named_with_what_to_unpack(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.chdir(tmp_path)
        with pytest.raises(hg.SpecError, match=r"mkdir environment && tar -xzf env.tar.gz"):
            check_driver_has("environment/bin/python")
        (tmp_path / "environment" / "bin").mkdir(parents=True)
        (tmp_path / "environment" / "bin" / "python").symlink_to(sys.executable)
        check_driver_has("environment/bin/python")

    def test_this_python_is_not_tried_under_any_of_its_names(
        self, spark: SparkSession, set_to: SetPython
    ) -> None:
        before = jobs_of(spark)
        folder = Path(sys.executable).parent
        for name in ("python", "python3"):
            set_to(folder / name)
            check_workers(spark)
        assert jobs_of(spark) == before


class TestAskedSessions:
    """Which session `hg.session` and the commands start."""

    @pytest.mark.parametrize(
        ("settings", "remote"),
        [
            ({}, None),
            ({"spark.master": "local[2]"}, None),
            ({"spark.api.mode": "classic"}, None),
            ({"spark.remote": "sc://somewhere"}, "sc://somewhere"),
            ({"spark.api.mode": "connect", "spark.master": "local[3]"}, "local[3]"),
        ],
    )
    def test_connect_is_used_where_it_is_asked_for(
        self, settings: dict[str, str], remote: str | None, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.delenv("SPARK_REMOTE", raising=False)
        assert session._remote(settings) == remote
        monkeypatch.setenv("SPARK_REMOTE", "sc://elsewhere")
        assert session._remote(settings) == (settings.get("spark.remote") or "sc://elsewhere")

    def test_a_client_of_a_server_elsewhere_needs_no_java(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(session, "java_version", lambda: 0)
        session.check_ready({"spark.remote": "sc://somewhere"})
        with pytest.raises(session.NotReady, match="no Java was found"):
            session.check_ready({"spark.remote": "local[2]"})

    def test_a_client_without_its_packages_is_told_what_to_install(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setitem(sys.modules, "grpc", None)
        with pytest.raises(session.NotReady, match=r'pip install "headgate\[connect\]"'):
            session.check_ready({"spark.remote": "sc://somewhere"})

    def test_a_session_that_is_there_is_not_started_again(self, spark: SparkSession) -> None:
        with pytest.raises(hg.SpecError, match=r"already: hg\.configure\(spark\)"):
            hg.session(master="local[1]")
        with pytest.raises(hg.SpecError, match="both given"):
            hg.session(master="local[1]", remote="local[1]")


class TestVersions:
    @pytest.mark.parametrize(
        ("package", "version", "fits"),
        [
            (PYSPARK, "3.5.7", False),
            (PYSPARK, "4.0.0", True),
            (PYSPARK, "4.1.1", True),
            (PYSPARK, "4.2.0.dev3", True),
            (PYSPARK, "4.10.0", True),
            (PYSPARK, "5.0.0-SNAPSHOT", False),
            (PROTOBUF, "5.28.3", True),
            (PROTOBUF, "5.28.2", False),
            (protobuf_for("4.1.4"), "6.33", False),
            (protobuf_for("4.1.4"), "6.33.0", True),
            (protobuf_for("4.3.0"), "6.4.1", False),
            (protobuf_for("4.3.0"), "7.1.0", True),
            (InstalledPackage("pandas", (2, 2), (3,)), "3.0.0rc1", False),
            (InstalledPackage("pyarrow", (18,)), "17.0.0", False),
            (InstalledPackage("pyarrow", (18,)), "23", True),
        ],
    )
    def test_versions_are_compared_as_numbers(
        self, package: InstalledPackage, version: str, fits: bool
    ) -> None:
        assert package.fits(version) == fits

    def test_what_is_checked_is_what_the_package_declares(self) -> None:
        project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
        declared = {*project["dependencies"], *project["optional-dependencies"]["spark"]}
        assert {package.wanted for package in (*ALWAYS, PROTOBUF)} <= declared

    def test_a_package_that_does_not_fit_or_is_missing_is_named(self) -> None:
        with pytest.raises(hg.SpecError, match=r'pandas 2\..*pip install "pandas>=99.1"'):
            InstalledPackage("pandas", (99, 1)).check()
        with pytest.raises(hg.SpecError, match=r"nosuch cannot be imported.*headgate\[spark\]"):
            InstalledPackage("nosuch", (1,)).check()
