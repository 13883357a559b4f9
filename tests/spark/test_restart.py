"""A query that was stopped or killed carries on from its checkpoint as if nothing had happened."""

import contextlib
import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
import psutil
import pyarrow as pa
import pytest
from pyspark.sql import SparkSession
from pyspark.sql.streaming import StreamingQuery

from headgate.spark.requirements import PARTITIONS
from headgate.spark.spark_versions import figures_of
from tests.kinds_of_join import KINDS
from tests.spark.killed_query import TIMES, joined, written
from tests.spark.own_processes import PATIENCE_SECONDS, log_of, own_process, spark_home
from tests.spark.streams import START_US, collect, multiset, timestamps, write_side
from tests.thoroughness import LONG

pytestmark = pytest.mark.spark

SCRIPT = Path(__file__).with_name("killed_query.py")
BATCHES = 7 if LONG else 5
STOPPED_AFTER = (1, 3, None) if LONG else (1, None)
KILLED_IN = (2, 4, None) if LONG else (2, None)
"""The batches after which, or in which, a query ends; at last it runs to its end."""


@pytest.fixture(scope="module")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Both sides, a file a minute; some rows out of order, some late."""
    folder = tmp_path_factory.mktemp("inputs")
    rng = np.random.default_rng(31)
    for side, name in enumerate(("left", "right")):
        files = []
        for number in range(BATCHES):
            seconds = number * 60 + rng.integers(0, 60, 300)
            seconds -= np.where(rng.random(300) < 0.1, rng.integers(0, 240, 300), 0)
            files.append(
                pa.table(
                    {
                        "key": rng.zipf(1.5, 300) % 30,
                        TIMES[side]: timestamps(START_US + 300_000_000 + seconds * 1_000_000),
                        f"{name}_id": np.arange(300) + 300 * number,
                    }
                )
            )
        write_side(folder / name, files)
    return folder


@pytest.fixture(scope="module")
def uninterrupted(spark: SparkSession, inputs: Path) -> Callable[[str], Counter]:
    """What a policy's query puts out when nothing happens to it."""

    @cache
    def output(policy: str) -> Counter:
        got = collect(joined(spark, inputs, policy), inputs / f"checkpoint_{policy}")
        assert got.total("shed") > 150 * (BATCHES - 1), (
            "the budget must bind for the test to mean anything"
        )
        assert got.total("late") > 10
        assert got.rows.total() > (300 if policy in ("semi", "anti") else 1000)
        return got.rows

    return output


def own_copy(inputs: Path, folder: Path) -> Path:
    for name in ("left", "right"):
        shutil.copytree(inputs / name, folder / name)
    return folder


@pytest.mark.parametrize(
    "policy",
    [
        pytest.param("auto", marks=pytest.mark.long),
        pytest.param("sample", marks=pytest.mark.long),
        pytest.param("hist", marks=pytest.mark.slow),
    ],
)
def test_a_stopped_query_carries_on_as_if_it_had_not_been(
    spark: SparkSession,
    inputs: Path,
    uninterrupted: Callable[[str], Counter],
    tmp_path: Path,
    policy: str,
) -> None:
    frame = joined(spark, own_copy(inputs, tmp_path), policy)
    rebuilt = []
    for stop_after in STOPPED_AFTER:
        query = (
            frame.writeStream.format("parquet")
            .option("path", str(tmp_path / "out"))
            .option("checkpointLocation", str(tmp_path / "checkpoint"))
            .start()
        )
        if stop_after is None:
            query.processAllAvailable()
        while stop_after is not None and not committed(tmp_path, stop_after):
            assert query.exception() is None
            time.sleep(0.02)
        assert local_files_of(query)
        query.stop()
        # The state store alone is the truth: copies on local disk go with the run.
        give_up = time.monotonic() + PATIENCE_SECONDS
        while local_files_of(query):
            assert time.monotonic() < give_up
            time.sleep(0.02)
        metrics = [progress["observedMetrics"] for progress in query.recentProgress]
        figures = [figures_of(batch["headgate"]) for batch in metrics if "headgate" in batch]
        rebuilt.append(sum(batch["rebuilt"] for batch in figures))
    assert all(rebuilt[1:]), rebuilt
    assert multiset(spark.read.parquet(str(tmp_path / "out"))) == uninterrupted(policy)


def local_files_of(query: StreamingQuery) -> list[Path]:
    """What a run of a query keeps on this machine."""
    spark = Path(tempfile.gettempdir())
    return list(spark.glob(f"blockmgr-*/headgate/*-{query.id}-{query.runId}"))


@pytest.mark.parametrize(
    "policy",
    [
        "lru",
        pytest.param("auto", marks=pytest.mark.slow),
        *(pytest.param(how, marks=pytest.mark.long) for how in KINDS),
    ],
)
def test_a_killed_query_carries_on_as_if_it_had_not_been(
    spark: SparkSession,
    inputs: Path,
    uninterrupted: Callable[[str], Counter],
    tmp_path: Path,
    policy: str,
) -> None:
    folder, local = own_copy(inputs, tmp_path / "query"), tmp_path / "local"
    local.mkdir()
    for run, kill_in_batch in enumerate(KILLED_IN):
        if kill_in_batch is None and not LONG:
            # A Java machine less to start: this one takes the query up, set up alike.
            before = spark.conf.get(PARTITIONS)
            spark.conf.set(PARTITIONS, "2")
            written(joined(spark, folder, policy), folder).awaitTermination()
            spark.conf.set(PARTITIONS, before)
            break
        with running("local[2]", folder, policy, SPARK_LOCAL_DIRS=str(local)) as process:
            if kill_in_batch is None:
                assert process.wait(PATIENCE_SECONDS) == 0, output_of(process)
                assert not list(local.glob("blockmgr-*/headgate"))
                continue
            wait_for(lambda batch=kill_in_batch: begun(folder, batch), process)
            time.sleep(0.15 * run)
            os.killpg(process.pid, signal.SIGKILL)
            assert process.wait(PATIENCE_SECONDS) == -signal.SIGKILL
        assert not committed(folder, BATCHES - 1)
        left = list(local.glob("blockmgr-*/headgate"))
        assert len(left) == 1, "each run removes what the one before it left"
    assert multiset(spark.read.parquet(str(folder / "out"))) == uninterrupted(policy)


@pytest.mark.slow
def test_a_query_survives_the_loss_of_an_executor(
    spark: SparkSession, inputs: Path, uninterrupted: Callable[[str], Counter], tmp_path: Path
) -> None:
    folder = own_copy(inputs, tmp_path / "query")
    home = str(spark_home(tmp_path))
    killed = set()
    with running("local-cluster[2,1,1024]", folder, "lru", SPARK_HOME=home) as process:
        for batch in (1, 4):
            wait_for(lambda batch=batch: begun(folder, batch), process)
            wait_for(lambda: executors(process.pid), process)
            victim = executors(process.pid)[0]
            os.kill(victim, signal.SIGKILL)
            killed.add(victim)
        assert process.wait(PATIENCE_SECONDS) == 0, output_of(process)
    assert len(killed) == 2
    assert multiset(spark.read.parquet(str(folder / "out"))) == uninterrupted("lru")


def running(
    master: str, folder: Path, policy: str, **environment: str
) -> contextlib.AbstractContextManager[subprocess.Popen]:
    """The query in a process of its own."""
    return own_process([str(SCRIPT), master, str(folder), policy], folder, **environment)


def output_of(process: subprocess.Popen) -> str:
    folder = Path(process.args[3])  # type: ignore[index]
    return log_of(folder)


def wait_for(condition: Callable[[], object], process: subprocess.Popen) -> None:
    give_up = time.monotonic() + PATIENCE_SECONDS
    while not condition():
        assert process.poll() is None, output_of(process)
        assert time.monotonic() < give_up, output_of(process)
        time.sleep(0.01)


def begun(folder: Path, batch: int) -> bool:
    """The batch is under way: Spark has noted what it will read."""
    return (folder / "checkpoint" / "offsets" / str(batch)).exists()


def committed(folder: Path, batch: int) -> bool:
    return (folder / "checkpoint" / "commits" / str(batch)).exists()


def executors(driver: int) -> list[int]:
    """Executor JVMs below a driver."""
    found = []
    for child in psutil.Process(driver).children(recursive=True):
        # Processes end while they are looked at.
        with contextlib.suppress(psutil.NoSuchProcess):
            if any(part.endswith("CoarseGrainedExecutorBackend") for part in child.cmdline()):
                found.append(child.pid)
    return found
