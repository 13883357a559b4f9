"""Copies of state that stay mapped: only as long as they are part of the state."""

import os
from pathlib import Path

import pyarrow as pa
import pytest

from headgate.spark.state import local_copy, local_files
from headgate.spark.state.local_copy import LocalCopy

pytestmark = pytest.mark.spark

NAMES = ["000000000001-000000000001", "000000000002-000000000002"]


def handles_below(folder: Path) -> list[str]:
    """Files below a folder that this process has open, deleted ones included."""
    links = (f"/proc/self/fd/{number}" for number in os.listdir("/proc/self/fd"))
    found = (os.readlink(link) for link in links if os.path.lexists(link))
    return sorted(name for name in found if name.startswith(str(folder)))


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="only Linux lists open files so")
def test_a_copy_that_another_worker_deleted_is_let_go(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The soak on Spark found that files open in workers grew, up to five hundred in each."""
    monkeypatch.setenv(local_files.LOCAL_DIRS, str(tmp_path))
    monkeypatch.setattr(local_files, "run_of_task", lambda: "run")
    monkeypatch.setattr(local_copy, "_verified", {})
    copies = LocalCopy("operator", 0)
    for name in NAMES:
        copies.write(name, 5, pa.table({"id": [1, 2, 3]}))
        copies.read(name, 5, lambda: pytest.fail("there is a copy"))
    assert len(handles_below(tmp_path)) == 2
    # Shards change workers: the one that serves this one now deletes the first copy.
    next(tmp_path.rglob(NAMES[0])).unlink()
    copies.keep_only(NAMES[1:])
    (left,) = handles_below(tmp_path)
    assert left.endswith(NAMES[1])
