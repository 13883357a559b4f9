"""The commands on checkpoints, as a user types them, over the life of one job."""

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

import headgate as hg
from tests.spark.needed_spark import ON_CONNECT
from tests.spark.own_processes import PATIENCE_SECONDS, own_environment
from tests.spark.query_lives import FILES, FIRST_FILES, NAMES, SCHEMAS, TIMES, Life, join, listing
from tests.spark.quick_settings import NO_DATA_BATCHES, QUICK_MACHINE
from tests.spark.streams import multiset

pytestmark = [
    pytest.mark.spark,
    pytest.mark.slow,
    pytest.mark.skipif(ON_CONNECT, reason="checkpoints are read where their files are"),
    pytest.mark.timeout(3600),
]

HOW = "full"
SIDE = """
[{name}]
format = "parquet"
path = "{folder}/{name}"
schema = "{schema}"
options = {{ maxFilesPerTrigger = 1 }}
time = "{time}"
window = "{window}"
watermark = "20 seconds"
key = "key"
"""
REST = """
[join]
budget = {{ rows = 1000000 }}
policy = "fifo"
how = "{how}"
shards = 2

[sink]
format = "parquet"
path = "{folder}/out"
trigger = "available-now"
checkpoint = "{folder}/second"

[spark]
spark.sql.shuffle.partitions = "2"
spark.sql.streaming.noDataMicroBatches.enabled = "false"
spark.master = "local[2]"
"""


def command(*words: object) -> str:
    """Run a command; what it prints."""
    done = subprocess.run(
        [sys.executable, "-m", "headgate", *map(str, words)],
        env=own_environment() | QUICK_MACHINE | {"COLUMNS": "200"},
        capture_output=True,
        text=True,
        timeout=4 * PATIENCE_SECONDS,
    )
    assert done.returncode == 0, f"{words}: {done.stdout[-3000:]}{done.stderr[-3000:]}"
    return done.stdout


def job_file(folder: Path) -> Path:
    """The job that takes the query over."""
    sides = "".join(
        SIDE.format(name=name, folder=folder, schema=schema, time=time, window=window)
        for name, schema, time, window in zip(
            NAMES, SCHEMAS, TIMES, ("2 minutes", "1 minute"), strict=True
        )
    )
    file = folder / "job.toml"
    file.write_text(sides + REST.format(folder=folder, how=HOW))
    return file


def test_a_job_is_adopted_looked_into_resharded_and_released(
    spark: SparkSession, store: Any, tmp_path: Path
) -> None:
    # A batch without rows before a stop would move the watermark, and other rows would be late.
    assert spark.conf.get(NO_DATA_BATCHES) == "false"
    store("files", 2)
    own = join(how=HOW)
    life = Life(spark, tmp_path / "life", 56, nulls=False)
    folder = life.folder

    def sparks(left: Any, right: Any) -> Any:
        return hg.built_in(own, left, right)

    life.bring(2)
    life.run(sparks, folder / "first")
    job = job_file(folder)
    assert "rows in 2 shards" in command("adopt", folder / "first", job)
    life.bring(FIRST_FILES)
    assert "batch 2" in command("run", job)
    _look(folder / "second", folder / "rows.parquet")
    told = command("reshard", folder / "second", "--shards", 3, "--to", folder / "resharded")
    assert "rows in 3 shards" in told
    third = folder / "third"
    assert "Spark's own join" in command("release", job, "--to", third)
    store("rocksdb", 2)
    life.bring(FILES)
    got = life.run(sparks, third)
    whole = Life(spark, tmp_path / "whole", 56, nulls=False)
    whole.bring(FILES)
    assert got == whole.run(sparks, whole.folder / "checkpoint")
    assert got.total() > 500


def _look(checkpoint: Path, rows: Path) -> None:
    """Look into a checkpoint: nothing of the rows is shown unless asked for."""
    before = listing(checkpoint)
    text = command("state", checkpoint, "--rows", rows)
    table = pq.read_table(rows)
    facts = json.loads(command("state", checkpoint, "--json"))
    assert sum(side["rows"] for side in facts["sides"]) == table.num_rows > 200
    assert "Most frequent keys" in text
    for secret in ('"key": "', "n123", "logOffset"):
        assert secret not in text
    shown = json.loads(command("state", checkpoint, "--json", "--values"))
    keys = {row[row["side"]]["key"] for row in table.to_pylist()}
    assert {int(each["key"]) for each in shown["top_keys"]} <= keys
    assert not any(each["key"] in map(str, keys) for each in facts["top_keys"])
    assert listing(checkpoint) == before


def test_a_checkpoint_is_read_while_its_query_runs(
    spark: SparkSession, store: Any, tmp_path: Path
) -> None:
    store("rocksdb", 2)
    life = Life(spark, tmp_path / "life", 57)
    life.bring(FILES)
    left, right = life.sides()
    query = (
        join()
        .stream(left, right, shards=2)
        .writeStream.format("parquet")
        .option("path", str(life.folder / "out"))
        .option("checkpointLocation", str(life.folder / "checkpoint"))
        .trigger(processingTime="6 seconds")
        .start()
    )
    seen: dict[int, int] = {}
    commits = life.folder / "checkpoint" / "commits"
    while not (commits / "0").exists():
        assert query.isActive, query.exception()
        time.sleep(0.2)
    while max(seen, default=-1) < FILES - 1:
        told = hg.state(life.folder / "checkpoint", spark)
        seen[told.batch] = told.rows
        assert query.isActive, query.exception()
    query.stop()
    figures = {each["batchId"]: each for each in query.recentProgress}
    for batch, rows in seen.items():
        assert rows == figures[batch]["observedMetrics"]["headgate"]["stored_rows"]
    whole = Life(spark, tmp_path / "whole", 57)
    whole.bring(FILES)
    want = whole.run(
        lambda one, other: join().stream(one, other, shards=2), whole.folder / "checkpoint"
    )
    assert multiset(spark.read.parquet(str(life.folder / "out"))) == want
    assert len(seen) >= 2
