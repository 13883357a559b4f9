"""`hg.configure` sets what Headgate needs, says so, and leaves what somebody has set."""

import pytest
from pyspark.sql import SparkSession

import headgate as hg
from headgate.spark.arrow_batches import ARROW_BYTES
from headgate.spark.checkpoint_writer import CHECKPOINT_WRITER
from headgate.spark.configuration import settings_for, value_of
from headgate.spark.requirements import CHANGELOG, PARTITIONS, PROVIDER, ROCKSDB
from tests.spark.needed_spark import needs_classic

pytestmark = pytest.mark.spark


@pytest.fixture
def bare(spark: SparkSession) -> SparkSession:
    """A session of its own in which nothing has been set."""
    session = spark.newSession()
    for setting in settings_for(session):
        session.conf.unset(setting.name)
    return session


def test_what_is_needed_is_set_and_said(bare: SparkSession) -> None:
    changed = hg.configure(bare)
    assert [each.name for each in changed] == [PROVIDER, CHANGELOG, PARTITIONS, ARROW_BYTES]
    assert bare.conf.get(PROVIDER) == ROCKSDB
    assert bare.conf.get(CHANGELOG) == "true"
    assert bare.conf.get(PARTITIONS) == "2"
    assert f"{PARTITIONS}: 200 -> 2 (every partition opens a state store" in str(changed)


def test_what_somebody_has_set_stays(bare: SparkSession) -> None:
    bare.conf.set(PARTITIONS, "7")
    assert PARTITIONS not in [each.name for each in hg.configure(bare)]
    assert bare.conf.get(PARTITIONS) == "7"
    assert str(hg.configure(bare)) == "nothing to change"
    hg.configure(bare)


@needs_classic("a server is not asked where its files are")
def test_local_checkpoints_are_asked_for(bare: SparkSession) -> None:
    changed = hg.configure(bare, local_checkpoints=True)
    assert changed[-1].name == CHECKPOINT_WRITER
    assert "FileSystemBased" in bare.conf.get(CHECKPOINT_WRITER)
    changed.undo()
    assert value_of(bare, CHECKPOINT_WRITER) is None
    files = bare.sparkContext._jsc.hadoopConfiguration()
    before = files.get("fs.defaultFS")
    files.set("fs.defaultFS", "hdfs://namenode:8020/")
    try:
        with pytest.raises(hg.SpecError, match="local_checkpoints=True is for a classic session"):
            hg.configure(bare, local_checkpoints=True)
    finally:
        files.set("fs.defaultFS", before)


def test_it_can_be_undone(bare: SparkSession) -> None:
    before = {setting.name: value_of(bare, setting.name) for setting in settings_for(bare)}
    changed = hg.configure(bare)
    bare.conf.set(PARTITIONS, "7")
    changed.undo()
    assert bare.conf.get(PARTITIONS) == "7", "somebody has set it since"
    for name in set(before) - {PARTITIONS}:
        assert value_of(bare, name) == before[name]
    assert PROVIDER in [each.name for each in hg.configure(bare)]


def test_other_sessions_are_left_alone(bare: SparkSession, spark: SparkSession) -> None:
    before = spark.conf.get(ARROW_BYTES)
    hg.configure(bare)
    assert spark.conf.get(ARROW_BYTES) == before


def test_what_is_no_session_is_refused() -> None:
    with pytest.raises(hg.SpecError, match="is not a Spark session"):
        hg.configure("spark")  # type: ignore[arg-type]
