"""Real queries that are stopped or killed, changed, and started again from their checkpoint."""

import os
import signal
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

import headgate as hg
from headgate.spark.spark_versions import figures_of
from tests.golden.checkpoint_cases import run
from tests.spark import killed_query
from tests.spark.own_processes import PATIENCE_SECONDS
from tests.spark.restart_cases import BATCHES, WIDER, Case, Lived, Version, made_rows
from tests.spark.restart_draws import EACH, TIGHT, WATCHED, drawn_case, each_case
from tests.spark.streams import START_US, multiset, timestamps, write_side
from tests.spark.test_restart import begun, running, wait_for
from tests.spark.test_restart_changes import check_rows
from tests.spark.version_queries import bring, rows_of, started

pytestmark = pytest.mark.spark

AT = 4
CASES = {
    "columns, types, policy and a longer window": (
        Version(policy="auto", budget=WATCHED),
        Version(
            policy="lru",
            budget=WATCHED,
            windows=(40, 45),
            added=(True, True),
            wider=frozenset(WIDER),
            dropped=frozenset("s"),
        ),
    ),
    "inner to full, undecided rows shown": (
        Version(),
        Version(how="full", unmatched="all", windows=(5, 4)),
    ),
    "a smaller budget, importance and another seed": (
        Version(policy="auto", budget=WATCHED),
        Version(
            policy="auto", budget=TIGHT, goal=hg.MaxImportance(left="a"), seed=3, index="btree"
        ),
    ),
    "full with a longer window and watermark delay": (
        Version(how="full"),
        Version(how="full", windows=(40, 45), delay=15, added=(True, False)),
    ),
}
USUAL = "columns, types, policy and a longer window"


@pytest.mark.parametrize(
    "name",
    [name if name == USUAL else pytest.param(name, marks=pytest.mark.long) for name in CASES],
)
def test_a_query_goes_on_as_another(spark: SparkSession, tmp_path: Path, name: str) -> None:
    case = Case(*CASES[name], at=AT, killed=False, seed=81)
    figures = lived_on_spark(spark, tmp_path, case)
    assert figures[0]["shards_unsettled"] == 2
    assert figures[0]["recall"] is None
    assert (figures[0]["gone_rows"] > 0) == (case.now.windows[0] > case.before.windows[0])


@pytest.mark.slow
@pytest.mark.parametrize("killed", [False, True], ids=["stopped", "killed"])
@pytest.mark.parametrize("name", EACH)
def test_each_change_of_a_real_query(
    spark: SparkSession, tmp_path: Path, name: str, killed: bool
) -> None:
    lived_on_spark(spark, tmp_path, each_case(name, seed=82, killed=killed))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(9000, 9030))
def test_changes_of_a_real_query_drawn_at_random(
    spark: SparkSession, tmp_path: Path, seed: int
) -> None:
    lived_on_spark(spark, tmp_path, drawn_case(seed))


def lived_on_spark(spark: SparkSession, folder: Path, case: Case) -> list[dict[str, Any]]:
    """Run a case as a query on two shards, and hold it to the definition; the second's figures.

    A query that is killed has put out a batch and written its state, and not yet noted that it is
    done: the batch is run again, as another.
    """
    lived = Lived(case, made_rows(case.seed))
    checkpoint = folder / "checkpoint"
    for first, end, version in ((0, case.at, case.before), (case.at, BATCHES, case.now)):
        bring(folder, lived, range(first, end), version)
        if case.killed and end == case.at:
            bring(folder, lived, range(case.at, case.at + 1), version)
        out = folder / f"out-{first}"
        query = started(spark, folder, version, out)
        query.awaitTermination()
        lived.out += [rows_of(spark, out, batch) for batch in range(first, end)]
        if case.killed and end == case.at:
            (checkpoint / "commits" / str(case.at)).unlink()
            (checkpoint / "commits" / f".{case.at}.crc").unlink(missing_ok=True)
    # Spark's watermark is that of the side behind, so no more rows have left than this.
    lived.watermark = max(row["second"] for row in lived.rows[0] if row["batch"] < case.at)
    check_rows(lived)
    return [figures_of(each["observedMetrics"]["headgate"]) for each in query.recentProgress]


@pytest.mark.slow
def test_a_killed_query_goes_on_as_another(spark: SparkSession, tmp_path: Path) -> None:
    folder = tmp_path / "query"
    folder.mkdir()
    killed_inputs(folder)
    with running("local[2]", folder, "lru") as process:
        wait_for(lambda: begun(folder, 2), process)
        os.killpg(process.pid, signal.SIGKILL)
        process.wait(PATIENCE_SECONDS)
    spark.conf.set("spark.sql.shuffle.partitions", "2")
    try:
        run(killed_query.joined(spark, folder, "auto"), folder)
        exact = run_exact(spark, folder)
    finally:
        spark.conf.set("spark.sql.shuffle.partitions", "1")
    got = multiset(spark.read.parquet(str(folder / "out")))
    assert got.total() > 500
    assert not got - exact, "rows that the exact join does not make"


def killed_inputs(folder: Path) -> None:
    """Five files of each side."""
    rng = np.random.default_rng(33)
    for side, name in enumerate(("left", "right")):
        files = [
            pa.table(
                {
                    "key": rng.zipf(1.5, 300) % 30,
                    ("opened_at", "bid_at")[side]: timestamps(
                        START_US
                        + 300_000_000
                        + (number * 60 + rng.integers(0, 60, 300)) * 1_000_000
                    ),
                    f"{name}_id": np.arange(300) + 300 * number,
                }
            )
            for number in range(5)
        ]
        write_side(folder / name, files)


def run_exact(spark: SparkSession, folder: Path) -> Counter:
    """What Spark's own join makes of the same files."""
    left, right = (spark.read.parquet(str(folder / name)) for name in ("left", "right"))
    apart = F.unix_micros("bid_at") - F.unix_micros("opened_at")
    on = (left["key"] == right["key"]) & apart.between(-60_000_000, 120_000_000)
    return multiset(left.join(right, on).drop(right["key"]))
