"""Queries that are killed again and again, and cut the stream into other batches at each start, put
out what one that was never interrupted does: every policy that learns, every goal and kind of join.
"""

import contextlib
import os
import shutil
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.dataset as ds
import pytest

from tests.spark.killed_learners import HOWS, KINDS
from tests.spark.own_processes import log_of, own_process
from tests.spark.streams import START_US, timestamps, write_side

pytestmark = [pytest.mark.spark, pytest.mark.slow, pytest.mark.timeout(3600)]

SCRIPT = Path(__file__).with_name("killed_learners.py")
FILES, ROWS_A_FILE, FILE_S = 60, 600, 60
KILLS = 10
FILES_A_BATCH = (1, 3, 2, 5, 1, 4, 2, 1, 3, 2, 60)
"""At each start."""
PATIENCE_SECONDS = 900


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Both sides in order, Zipf keys that drift, a file a minute."""
    rng = np.random.default_rng(47)
    count = FILES * ROWS_A_FILE
    share = 1 / np.arange(1, 401) ** 0.9
    at = np.sort(rng.integers(0, FILES * FILE_S * 1_000_000, count))
    key = rng.choice(400, count, p=share / share.sum()) + np.arange(count) * 3 // count * 5
    whole = pa.table(
        {
            "side": rng.integers(0, 2, count).astype(np.int32),
            "key": key,
            "at": timestamps(START_US + at),
            "id": np.arange(count),
            "worth": rng.choice([0.3, 1.0, 2.7], count),
        }
    )
    folder = tmp_path_factory.mktemp("rows")
    write_side(folder, [whole.slice(n * ROWS_A_FILE, ROWS_A_FILE) for n in range(FILES)])
    return folder


@pytest.mark.parametrize("kinds", [KINDS, HOWS], ids=["that learn", "of every kind"])
def test_queries_killed_ten_times_with_batches_cut_anew_put_out_the_same(
    rows: Path, tmp_path: Path, kinds: dict[str, object]
) -> None:
    once, killed = own_copy(rows, tmp_path / "once"), own_copy(rows, tmp_path / "killed")
    with running(once, 4, kinds) as process:
        assert process.wait(PATIENCE_SECONDS) == 0, log_of(once)
    rng = np.random.default_rng(48)
    kills, cuts = 0, []
    for start, files in enumerate(FILES_A_BATCH):
        before = batches(killed)
        with running(killed, files, kinds) as process:
            if start == KILLS:
                assert process.wait(PATIENCE_SECONDS) == 0, log_of(killed)
                continue
            # In the midst of work: some batch after those that all of them have made.
            give_up = time.monotonic() + PATIENCE_SECONDS
            while batches(killed) < before + len(kinds):
                assert process.poll() is None, log_of(killed)
                assert time.monotonic() < give_up, log_of(killed)
                time.sleep(0.02)
            time.sleep(rng.random())
            os.killpg(process.pid, signal.SIGKILL)
            kills += process.wait(PATIENCE_SECONDS) == -signal.SIGKILL
            cuts.append(batches(killed) - before)
    assert kills == KILLS
    assert min(cuts) >= len(kinds), "each start must make batches before it is killed"
    for kind in kinds:
        expected = output(once, kind)
        assert expected.total() > (300 if kind == "anti" else 10_000), kind
        assert output(killed, kind) == expected, kind


def own_copy(rows: Path, folder: Path) -> Path:
    shutil.copytree(rows, folder / "rows")
    return folder


def batches(folder: Path) -> int:
    """Batches that are done, of all queries."""
    return sum(1 for path in folder.glob("checkpoint/*/commits/*") if path.name.isdigit())


def output(folder: Path, kind: str) -> Counter:
    """Rows that a query's sink has, by its own list of files."""
    log = folder / "out" / kind / "_spark_metadata"
    named = set()
    for path in log.iterdir():
        if path.name.isdigit() or path.name.endswith(".compact"):
            lines = path.read_text().splitlines()[1:]
            named |= {line.split('"path":"')[1].split('"')[0] for line in lines}
    table = ds.dataset([path.removeprefix("file://") for path in sorted(named)]).to_table()
    return Counter(
        zip(*(table.column(name).to_pylist() for name in table.column_names), strict=True)
    )


def running(
    folder: Path, files: int, kinds: Iterable[str]
) -> contextlib.AbstractContextManager[subprocess.Popen]:
    """The queries in a process of their own."""
    command = [str(SCRIPT), str(folder), str(files), *kinds]
    return own_process(command, folder, SPARK_LOCAL_DIRS=str(folder))
