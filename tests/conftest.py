"""Fixtures shared by all tests: one Spark session for those that need Spark."""

import gc
import os
import sys
from collections import Counter
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from _pytest.doctest import DoctestModule
from hypothesis import settings

from headgate.compiling.kernel_mode import MODE, PYTHON
from tests.spark.quick_settings import NO_DATA_BATCHES
from tests.thoroughness import examples

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

settings.register_profile("headgate", examples(100))
settings.load_profile("headgate")

if MODE == PYTHON:
    from tests.uncompiled import run_uncompiled

    run_uncompiled()

# Tests go by the usual costs, whatever this machine was calibrated to.
os.environ["HEADGATE_CALIBRATION"] = str(Path(__file__).parent / "not-calibrated.json")


@pytest.hookimpl(wrapper=True)
def pytest_collect_file() -> Generator[None, list[pytest.Collector], list[pytest.Collector]]:
    """Doctests are those of the package: tests have none."""
    found = yield
    return [each for each in found if not isinstance(each, DoctestModule)]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Long tests first, so that both processes end together: those on Spark, in files with few."""
    tests = Counter(item.path for item in items)
    on_spark = {item.path for item in items if item.get_closest_marker("spark")}
    items.sort(key=lambda item: (item.path not in on_spark, tests[item.path], item.path))


def pytest_collection_finish() -> None:
    """What is loaded by now stays: garbage collections need not go through it again and again."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> "Iterator[SparkSession]":
    """A local session of two cores, set up as a streaming join needs it."""
    os.environ["PYSPARK_PYTHON"] = sys.executable
    from tests.spark.quick_session import quick_session

    session = quick_session(
        "local[2]",
        {
            "spark.app.name": "headgate tests",
            "spark.driver.memory": "2g",
            "spark.sql.shuffle.partitions": "1",
            "spark.sql.warehouse.dir": str(tmp_path_factory.mktemp("warehouse")),
        },
    )
    yield session
    session.stop()


@pytest.fixture
def batches_without_rows(spark: "SparkSession") -> "Iterator[None]":
    """Spark runs batches without rows once the watermark has moved, as it does by default."""
    before = spark.conf.get(NO_DATA_BATCHES)
    spark.conf.set(NO_DATA_BATCHES, "true")
    yield
    spark.conf.set(NO_DATA_BATCHES, before)


@pytest.fixture(scope="module")
def berlin(spark: "SparkSession") -> "Iterator[SparkSession]":
    """A session whose clocks are put forward and back."""
    before = spark.conf.get("spark.sql.session.timeZone")
    spark.conf.set("spark.sql.session.timeZone", "Europe/Berlin")
    yield spark
    spark.conf.set("spark.sql.session.timeZone", before)
