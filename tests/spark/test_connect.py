"""Spark Connect: all of Headgate by a client that has neither a driver nor py4j."""

import ast
import json
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

import headgate
from headgate.report.finding import Verdict
from headgate.spark.arrow_batches import ARROW_BYTES
from headgate.spark.requirements import CHANGELOG, PARTITIONS, PROVIDER
from tests.spark.connect_client import ROWS
from tests.spark.connect_server import connect_server
from tests.spark.needed_spark import needs_spark

ROOT = Path(__file__).parents[2]
CLIENT = Path(__file__).with_name("connect_client.py")
DRIVER = {"sparkContext", "SparkContext", "_jvm", "_jsc", "_jdf", "_jsparkSession", "_gateway"}
MAY = {"session_access.py", "session.py"}
"""Where the driver may be touched: in the classic form, and where a classic session is started."""


def answers(folder: Path, *parts: str) -> dict[str, dict[str, Any]]:
    """What a client of a new server finds, by part."""
    with connect_server(folder) as address:
        done = subprocess.run(
            [sys.executable, str(CLIENT), address, str(folder), *parts],
            capture_output=True,
            text=True,
            cwd=ROOT,
            env={"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin"},
            check=False,
            timeout=500,
        )
    assert done.returncode == 0, done.stderr[-3000:]
    found = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    return {each.pop("part"): each for each in found}


@pytest.mark.spark
@pytest.mark.skipif(find_spec("grpc") is None, reason="headgate[connect] is not installed")
@needs_spark(4, 1, why="clients of Connect have no transformWithState")
class TestClient:
    # The matrix of versions runs whole files of tests on Connect, too.
    @pytest.mark.long
    def test_every_call_works_and_nothing_of_the_driver_is_loaded(self, tmp_path: Path) -> None:
        parts = ("exact", "batch", "stream", "real_time", "lookup", "profile", "whatif")
        found = answers(tmp_path, *parts, "job", "looked_at", "doctor")
        needed = [PROVIDER, CHANGELOG, PARTITIONS, ARROW_BYTES]
        assert found["configure"] == {"set": needed, "again": needed}
        pairs = found["exact"]["pairs"]
        assert pairs > ROWS
        assert found["batch"]["pairs"] == pairs
        assert found["stream"] == {"pairs": pairs, "figures": pairs}
        assert found["lookup"]["rows"] == ROWS
        assert found["lookup"]["misses"] >= 7
        assert found["profile"]["pairs"] == pairs
        assert "the exact join holds up to" in found["whatif"]["answer"]
        assert "trigger(realTime='5 minutes') has no batches" in found["real_time"]["said"]
        self._check_commands(found, pairs)
        assert found["loaded"] == {"modules": []}

    def _check_commands(self, found: dict[str, dict[str, Any]], pairs: int) -> None:
        """`headgate run`, with and without --check, `plan` and `doctor` on that server."""
        job, looked_at = found["job"], found["looked_at"]
        assert (job["status"], job["pairs"]) == (0, pairs), job["said"]
        assert f"in 1 batch made {pairs:,} result rows; recall 1.000" in job["said"]
        assert (looked_at["right"], looked_at["pairs"]) == ([], pairs)
        ((lines_off, message),) = looked_at["wrong"]
        assert lines_off == 0
        assert message.startswith("right.filter: [UNRESOLVED_COLUMN")
        assert message.endswith("SQLSTATE: 42703"), "without the plan of the query"
        assert found["doctor"]["status"] == 0
        session = found["doctor"]["found"]["A session as it is started here"]
        assert {each["verdict"] for each in session} <= {Verdict.FINE, Verdict.SLOW, Verdict.UNSET}
        assert "Spark Connect" in session[0]["found"]

    @pytest.mark.long
    def test_groups_windows_and_moving_memory_work_as_well(self, tmp_path: Path) -> None:
        found = answers(tmp_path, "exact", "windows", "group", "balanced")
        assert found["balanced"]["pairs"] == found["exact"]["pairs"]
        assert sum(found["balanced"]["limits"]) <= 10_000
        assert found["balanced"]["copied"] > 0
        assert found["windows"]["windows"] >= 2
        assert found["group"]["limits"] <= 100
        assert all(0 < rows <= found["exact"]["pairs"] for rows in found["group"]["rows"].values())


def test_only_one_module_touches_the_driver() -> None:
    """Whatever is loaded: nothing else in the Spark room names the driver or py4j."""
    for path in (Path(headgate.__file__).parent / "spark").rglob("*.py"):
        if path.name in MAY:
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Attribute):
                assert node.attr not in DRIVER, f"{path.name}:{node.lineno} {node.attr}"
            names = [each.name for each in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            for name in names:
                assert not name.startswith(("py4j", "pyspark.core")), f"{path.name} imports {name}"
