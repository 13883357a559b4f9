"""Jobs on Spark: the example runs, a stopped job goes on where it was, Spark's own complaints have
their line."""

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

import headgate as hg
from headgate.demo.auctions import auction_stream
from headgate.jobs import JobError, read_job
from headgate.jobs.batch_figures import BatchFigures
from headgate.jobs.job_plan import advice, profiled, verdict
from headgate.jobs.pipeline import read_side, start
from tests.spark.streams import START_US, timestamps, write_side
from tests.test_examples import EXAMPLES, example

pytestmark = pytest.mark.spark

PATIENCE_SECONDS = 240
FILES, ROWS = 6, 400
COMMAND = [sys.executable, "-c", "from headgate.cli.main import app; app()", "run"]


def example_job(folder: Path, rows: int) -> str:
    """The example's files made, and the job with their place written out.

    Spark looks for a relative path from where its Java was started, and here that is elsewhere.
    """
    example("auction_files").write(folder, rows=rows)
    return (EXAMPLES / "job.toml").read_text().replace("out/job", str(folder))


def test_the_example_runs(spark: SparkSession, tmp_path: Path) -> None:
    file = tmp_path / "job.toml"
    text = example_job(tmp_path, rows=32_000)
    file.write_text(text.replace("maxFilesPerTrigger = 1", "maxFilesPerTrigger = 4"))
    query, figures = start(spark, read_job(file)), BatchFigures()
    assert query.awaitTermination(PATIENCE_SECONDS)
    figures.read(query.recentProgress)
    assert figures.total["left_rows"] + figures.total["right_rows"] == 32_000
    written = spark.read.parquet(str(tmp_path / "result")).toPandas()
    assert list(written.columns) == ["id", "category", "bidder", "price", "minutes"]
    assert len(written) == figures.total["pairs"] > 20_000
    assert written["minutes"].between(0, 6).all()


def test_a_plan_looks_at_what_is_there(spark: SparkSession, tmp_path: Path) -> None:
    file = tmp_path / "job.toml"
    text = example_job(tmp_path, rows=16_000)
    file.write_text(text.replace('"price > 0"', '"auction <= 500"').replace("1000", "50"))
    found = profiled(spark, job := read_job(file))
    stream = auction_stream(16_000)
    wanted = pc.sum(pc.less_equal(stream.bids["auction"], 500)).as_py()
    assert (found.rows.left.rows, found.rows.right.rows) == (1_000, wanted)
    assert found.pairs.count == wanted
    assert "the budget of 50 rows is " in verdict(job, found)
    # The rows that a plan is tried on are those that Spark handed over.
    assert found.trace is not None
    assert found.trace.rows == 1_000 + wanted
    assert "expect   recall 0." in advice(job, found)


@pytest.mark.parametrize(
    ("right", "wrong", "at", "said"),
    [
        ('filter = "price > 0"', 'filter = "prize > 0"', "filter", "right.filter: .*prize"),
        ('filter = "price > 0"', 'filter = "price >"', "filter", "right.filter: .*PARSE_SYNTAX"),
        ('filter = "price > 0"', 'columns = { bid_at = "1" }', 'time = "bid', "right.time: .*type"),
        ('[right]\nformat = "parquet"', '[right]\nformat = "parqet"', "[right]", "right: .*parqet"),
    ],
)
def test_what_spark_says_against_a_job_has_its_line(
    spark: SparkSession, tmp_path: Path, right: str, wrong: str, at: str, said: str
) -> None:
    file = tmp_path / "job.toml"
    text = example_job(tmp_path, rows=1_600).replace(right, wrong)
    assert wrong in text
    file.write_text(text)
    line = next(n for n, written in enumerate(text.splitlines(), 1) if written.startswith(at))
    with pytest.raises(JobError, match=rf"^{file}:{line}: {said}"):
        read_side(spark, read_job(file), "right")


JOB = """
[left]
format = "parquet"
path = "left"
options = {{ maxFilesPerTrigger = 1 }}
time = "at"
window = "2 minutes"
watermark = "0 seconds"
key = "key"

[right]
format = "parquet"
path = "right"
options = {{ maxFilesPerTrigger = 1 }}
time = "seen"
window = "1 minute"
watermark = "0 seconds"
key = "key"

[join]
budget = {{ rows = 150, monitor = 0 }}
policy = "lru"
shards = 1

[sink]
format = "parquet"
path = "result"
trigger = "{trigger}"
checkpoint = "checkpoint"

[spark]
spark.master = "local[2]"
"""


@pytest.mark.slow
def test_a_stopped_job_goes_on_and_ends_with_what_run_makes(tmp_path: Path) -> None:
    tables = {name: _written(tmp_path / name, name, seed) for seed, name in enumerate(SIDES)}
    (tmp_path / "job.toml").write_text(JOB.format(trigger="1 second"))
    with _started(tmp_path) as process:
        _wait_for(lambda: (tmp_path / "checkpoint" / "commits" / "1").exists(), process)
        process.send_signal(signal.SIGTERM)
        said, _ = process.communicate(timeout=PATIENCE_SECONDS)
    assert process.returncode == 128 + signal.SIGTERM, said
    assert "job was stopped (SIGTERM)" in said
    assert len(_result(tmp_path)) < len(_expected(tables))
    (tmp_path / "job.toml").write_text(JOB.format(trigger="available-now"))
    with _started(tmp_path) as process:
        said, _ = process.communicate(timeout=PATIENCE_SECONDS)
    assert process.returncode == 0, said
    assert "job ended: " in said
    assert _result(tmp_path) == _expected(tables)


SIDES = {"left": "at", "right": "seen"}


def _written(folder: Path, name: str, seed: int) -> pa.Table:
    """A side in order of time, a file a minute."""
    rng = np.random.default_rng(seed)
    files = []
    for number in range(FILES):
        micros = START_US + np.sort(rng.integers(1, 60_000_000, ROWS)) + number * 60_000_000
        files.append(
            pa.table(
                {
                    "key": rng.zipf(1.5, ROWS) % 30,
                    SIDES[name]: timestamps(micros),
                    f"{name}_id": np.arange(ROWS) + ROWS * number,
                }
            )
        )
    write_side(folder, files)
    return pa.concat_tables(files)


def _expected(tables: dict[str, pa.Table]) -> Counter[tuple[int, int]]:
    join = hg.WindowJoin(
        on="key",
        left=hg.Side(time="at", window="2 minutes"),
        right=hg.Side(time="seen", window="1 minute"),
        budget=hg.Budget(rows=150, monitor=0),
        policy="lru",
    )
    outcome = join.run(tables["left"], tables["right"])
    assert outcome.stats.shed > 1000, "the budget must bind for the test to mean anything"
    return _ids(outcome.pairs)


def _result(folder: Path) -> Counter[tuple[int, int]]:
    """The rows that the sink vouches for: a batch cut short may leave files that are not its."""
    files: list[str] = []
    for log in (folder / "result" / "_spark_metadata").iterdir():
        if not log.name.startswith("."):
            files += [json.loads(line)["path"] for line in log.read_text().splitlines()[1:]]
    tables = [pq.read_table(file.removeprefix("file:")) for file in set(files)]
    return _ids(pa.concat_tables(tables)) if tables else Counter()


def _ids(table: pa.Table) -> Counter[tuple[int, int]]:
    return Counter(zip(table["left_id"].to_pylist(), table["right_id"].to_pylist(), strict=True))


def _started(folder: Path) -> "subprocess.Popen[str]":
    source = str(Path(hg.__file__).parents[1])
    inherited = {k: v for k, v in os.environ.items() if not k.startswith(("SPARK_", "PYSPARK_"))}
    return subprocess.Popen(
        [*COMMAND, "job.toml"],
        cwd=folder,
        env={**inherited, "PYTHONPATH": source},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def _wait_for(condition: Callable[[], bool], process: "subprocess.Popen[str]") -> None:
    give_up = time.monotonic() + PATIENCE_SECONDS
    while not condition():
        assert process.poll() is None, process.stdout.read()
        assert time.monotonic() < give_up
        time.sleep(0.05)
