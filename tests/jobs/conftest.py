"""A folder of its own for every test of jobs."""

from datetime import datetime
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory with the files that the left side reads."""
    (tmp_path / "auctions").mkdir()
    times = pa.array([datetime(2026, 1, 1)], pa.timestamp("us", "UTC"))
    table = pa.table({"id": [1], "price": [2.0], "opened_at": times})
    pq.write_table(table, tmp_path / "auctions" / "0.parquet")
    monkeypatch.chdir(tmp_path)
    return tmp_path
