"""Executors that may write nothing but Spark's own folders: read-only packages, and no home."""

import contextlib
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyspark
import pytest

import headgate
from tests.spark.own_processes import spark_home
from tests.spark.streams import START_US, timestamps, write_side

pytestmark = [pytest.mark.spark, pytest.mark.slow]

ROOT = Path(__file__).parents[2]
READ_ONLY = (Path(headgate.__file__).parents[1], Path(pyspark.__file__).parents[1])
"""Where Headgate is, and site-packages."""
JOINING = """
import json, sys, time
from pathlib import Path
import headgate as hg
from tests.spark.killed_query import joined

folder = Path(sys.argv[1])
spark = hg.session(
    master="local-cluster[2,1,1024]",
    settings={"spark.executor.memory": "768m", "spark.local.dir": str(folder / "local"),
              "spark.driver.host": "127.0.0.1", "spark.sql.shuffle.partitions": "2"},
)
query = (
    joined(spark, folder, "lru").writeStream.format("parquet")
    .option("path", str(folder / "out")).option("checkpointLocation", str(folder / "checkpoint"))
    .start()
)
query.processAllAvailable()
kept = [path for path in (folder / "local").rglob("headgate/*-*-*") if path.is_dir()]
size = sum(path.stat().st_size for place in kept for path in place.rglob("*") if path.is_file())
query.stop()
first = [report for report in query.recentProgress if report["numInputRows"]][0]
for _ in range(120):  # executors hear of the end within half a minute
    left = list((folder / "local").rglob("headgate/*/shard-*/*"))
    if not left:
        break
    time.sleep(0.5)
print("found", json.dumps({"copies": len(kept), "bytes": size, "left": len(left),
      "first_ms": first["durationMs"]["triggerExecution"],
      "rows": spark.read.parquet(str(folder / "out")).count()}))
spark.stop()
"""
HOSTILE = """
set -e
for place in {places}; do mount --bind "$place" "$place"; mount -o remount,ro,bind "$place"; done
exec "$@"
"""


def can_mount() -> bool:
    """Whether this process may make folders read-only for its children alone."""
    with contextlib.suppress(OSError):
        done = subprocess.run(["unshare", "-m", "true"], capture_output=True, check=False)
        return done.returncode == 0
    return False


def tree(folder: Path) -> dict[str, int]:
    """Files with the time of their last change."""
    return {str(path): path.stat().st_mtime_ns for path in folder.rglob("*") if path.is_file()}


def ran(folder: Path, hostile: bool) -> dict[str, int]:
    """Run a join on a cluster of two executors; what it says."""
    rng = np.random.default_rng(5)
    for time, name in (("opened_at", "left"), ("bid_at", "right")):
        at = timestamps(START_US + 300_000_000 + np.sort(rng.integers(0, 60, 300)) * 1_000_000)
        rows = {"key": rng.integers(0, 30, 300), time: at, f"{name}_id": np.arange(300)}
        write_side(folder / name, [pa.table(rows), pa.table(rows)])
    (folder / "local").mkdir()
    environment = {
        "PATH": os.environ["PATH"],
        "PYTHONPATH": os.pathsep.join((str(READ_ONLY[0]), str(ROOT))),
        "PYSPARK_PYTHON": sys.executable,
        "SPARK_HOME": str(spark_home(folder)),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "HOME": str(folder / "nowhere") if hostile else str(folder),
    }
    command = [sys.executable, "-c", JOINING, str(folder)]
    if hostile:
        script = HOSTILE.format(places=" ".join(map(str, READ_ONLY)))
        command = ["unshare", "-m", "sh", "-c", script, "sh", *command]
    done = subprocess.run(
        command, env=environment, cwd=folder, capture_output=True, text=True, check=False
    )
    said = [line for line in done.stdout.splitlines() if line.startswith("found ")]
    assert said, done.stderr[-4000:]
    found: dict[str, int] = json.loads(said[0].removeprefix("found "))
    assert not (folder / "nowhere").exists()
    return found


@pytest.mark.skipif(not can_mount(), reason="needs the right to mount")
def test_a_join_runs_where_nothing_can_be_written(tmp_path: Path) -> None:
    before = tree(READ_ONLY[0])
    found = {}
    for kind in ("friendly", "hostile"):
        folder = tmp_path / kind
        folder.mkdir()
        found[kind] = ran(folder, kind == "hostile")
        sys.stderr.write(f"{kind}: {found[kind]}\n")
    assert found["hostile"]["rows"] == found["friendly"]["rows"] > 100
    assert found["hostile"]["copies"] > 0
    assert found["hostile"]["bytes"] < 1_000_000, "copies are bounded by the budget"
    assert found["hostile"]["left"] == 0, "copies go with the query"
    after = {name: time for name, time in tree(READ_ONLY[0]).items() if "__pycache__" not in name}
    assert after == {name: time for name, time in before.items() if "__pycache__" not in name}
    shutil.rmtree(tmp_path / "friendly" / "local", ignore_errors=True)
