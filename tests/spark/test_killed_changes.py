"""Programs that are killed with many queries under way, each of which goes on as another.

Run by name; with ``-s`` it prints where the queries were.
"""

import os
import signal
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tests.spark.killed_versions import case_of
from tests.spark.own_processes import PATIENCE_SECONDS, own_process
from tests.spark.restart_cases import BATCHES, Lived, made_rows
from tests.spark.restart_draws import EACH
from tests.spark.test_restart import begun, committed, wait_for
from tests.spark.test_restart_changes import check_rows
from tests.spark.version_queries import bring, rows_of, started

pytestmark = [pytest.mark.spark, pytest.mark.slow, pytest.mark.timeout(1800)]

SCRIPT = Path(__file__).with_name("killed_versions.py")
TOGETHER = 8
"""Queries of one program."""
DRAWN = [str(seed) for seed in range(9100, 9150)]
NAMES = [*EACH, *DRAWN]


@pytest.mark.parametrize("first", range(0, len(NAMES), TOGETHER))
def test_killed_queries_go_on_as_others(spark: SparkSession, tmp_path: Path, first: int) -> None:
    names = NAMES[first : first + TOGETHER]
    cases = [case_of(name) for name in names]
    folders = [tmp_path / str(number) for number in range(len(names))]
    for folder, case in zip(folders, cases, strict=True):
        bring(folder, Lived(case, made_rows(case.seed)), range(BATCHES), case.before)
    with own_process([str(SCRIPT), str(tmp_path), *names], tmp_path) as process:
        wait_for(lambda: all(begun(folder, 1) for folder in folders), process)
        os.killpg(process.pid, signal.SIGKILL)
        process.wait(PATIENCE_SECONDS)
    where: Counter[str] = Counter()
    for name, folder, case in zip(names, folders, cases, strict=True):
        done = sum(committed(folder, batch) for batch in range(BATCHES))
        if done == BATCHES:
            where["at their end"] += 1
            continue
        where["within a batch" if begun(folder, done) else "between batches"] += 1
        lived = Lived(replace(case, at=done), made_rows(case.seed))
        bring(folder, lived, range(done, BATCHES), case.now)
        started(spark, folder, case.now, folder / "out-then").awaitTermination()
        lived.out += [rows_of(spark, folder / "out-first", batch) for batch in range(done)]
        lived.out += [rows_of(spark, folder / "out-then", each) for each in range(done, BATCHES)]
        lived.watermark = max(row["second"] for row in lived.rows[0] if row["batch"] < done)
        try:
            check_rows(lived)
        except AssertionError as error:
            error.add_note(f"{name}, killed in batch {done}: {case}")
            raise
    sys.stdout.write(f"\nkilled: {dict(where)}\n")
    assert where["within a batch"] > 0
