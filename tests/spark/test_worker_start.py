"""Headgate's Python workers start from installed modules, and nobody else's workers change."""

import os
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import pyarrow as pa
import pyspark
import pytest
from pyspark.sql import DataFrame, SparkSession

from headgate.spark import worker_environment
from headgate.spark.worker_environment import START, own_workers, start_workers

LIB = Path(pyspark.__file__).parent / "python" / "lib"
SAY_WHERE = "import pyspark; print(pyspark.__file__)"


def said(code: str, *path: object, more: tuple[str, ...] = ()) -> str:
    """What a Python says whose path begins like this."""
    done = subprocess.run(
        [sys.executable, "-c", code, *more],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(map(str, path))},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.strip()


def test_an_installed_pyspark_goes_before_its_zip_file() -> None:
    zipped = LIB / "pyspark.zip"
    assert ".zip" in said(SAY_WHERE, zipped)
    assert said(SAY_WHERE, zipped, START) == pyspark.__file__


def test_a_pyspark_that_is_not_installed_stays_where_it_is(tmp_path: Path) -> None:
    folder = tmp_path / "pyspark" / "python" / "lib"
    folder.mkdir(parents=True)
    (folder / "pyspark.zip").symlink_to(LIB / "pyspark.zip")
    assert str(folder) in said(SAY_WHERE, folder / "pyspark.zip", START)


def test_no_archive_of_an_installed_pyspark_is_read_again_by_every_task() -> None:
    jar = next((LIB.parents[1] / "jars").glob("spark-core*.jar"))
    ask = "import sys; print([p for p in [*sys.path, *sys.path_importer_cache] if 'spark' in p])"
    archives = (LIB / "pyspark.zip", jar)
    assert all(str(each) in said(ask, *archives) for each in archives)
    assert not any(str(each) in said(ask, *archives, START) for each in archives)


def test_what_all_workers_have_loaded_is_left_out_of_their_garbage_collections() -> None:
    ask = "import gc; print(gc.get_freeze_count() > 10_000)"
    assert said(ask, START) == "False"
    assert said(ask, START, more=("pyspark.daemon",)) == "True"


def test_another_sitecustomize_is_still_run(tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text("print('the other')")
    assert said("", START, tmp_path) == "the other"
    assert said("", tmp_path, START) == "the other"


def test_modules_are_loaded_only_where_workers_are_forked_from() -> None:
    ask = "import sys; print('headgate.spark.packing' in sys.modules)"
    assert said(ask, START) == "False"
    assert said(ask, START, more=("pyspark.daemon",)) == "True"


@pytest.mark.spark
def test_the_workers_of_other_functions_stay_as_they_are(spark: SparkSession) -> None:
    def where(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        import pyspark

        yield from ()
        for _ in batches:
            said = [[pyspark.__file__], [pa.default_memory_pool().backend_name]]
            yield pa.record_batch(list(map(pa.array, said)), names=["path", "memory"])

    def asked() -> DataFrame:
        return spark.range(1, numPartitions=1).mapInArrow(where, "path string, memory string")

    before = dict(spark.sparkContext.environment)
    with own_workers(spark):
        own = asked()
    assert spark.sparkContext.environment == before
    assert own.first() == (pyspark.__file__, "system")
    other = asked().first()
    assert other["path"] != pyspark.__file__
    assert other["memory"] == pa.default_memory_pool().backend_name


@pytest.mark.spark
def test_workers_are_started_once_an_application(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker_environment, "_started", set())
    jobs = spark.sparkContext.statusTracker().getJobIdsForGroup
    before, environment = len(jobs()), dict(spark.sparkContext.environment)
    starting = start_workers(spark)
    assert starting is not None
    starting.join()
    assert len(jobs()) == before + 1
    assert spark.sparkContext.environment == environment
    assert start_workers(spark) is None
