"""Kill real queries: `python -m tests.kills --rounds 10 [--first SEED]`.

A round runs a query from files into Parquet or SQLite and strikes at random moments: it kills the
driver, a Python worker, an executor on a cluster of two, or PostgreSQL under a lookup, or fills the
disk of the checkpoint. The query is started again until it is done, and its output compared, row by
row, with that of the same query left alone. Ends with status 1 if any differs. With --out, what was
run is added to a JSON file of campaigns.
"""

import argparse
import contextlib
import json
import random
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections import Counter
from functools import cache
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from tests.campaigns import add_campaign
from tests.kills.strikes import Database, Processes, SmallDisk, Strike
from tests.spark.killed_query import TIMES
from tests.spark.own_processes import log_of, own_process, spark_home
from tests.spark.streams import START_US, timestamps, write_side

SCRIPT = Path(__file__).with_name("sunk_query.py")
POLICIES = ("random", "auto", "sample", "full", "prob")
VICTIMS = ("driver", "driver", "worker", "executor", "postgres", "disk")
BATCHES, ROWS, MOST_KILLS = 8, 300, 4


def inputs(folder: Path, seed: int) -> None:
    """Both sides, a file a minute; some rows out of order, some late."""
    rng = np.random.default_rng(seed)
    for side, name in enumerate(("left", "right")):
        files = []
        for number in range(BATCHES):
            seconds = number * 60 + rng.integers(0, 60, ROWS)
            seconds -= np.where(rng.random(ROWS) < 0.1, rng.integers(0, 240, ROWS), 0)
            files.append(
                pa.table(
                    {
                        "key": rng.zipf(1.5, ROWS) % 30,
                        TIMES[side]: timestamps(START_US + 300_000_000 + seconds * 1_000_000),
                        f"{name}_id": np.arange(ROWS) + ROWS * number,
                    }
                )
            )
        write_side(folder / name, files)


def started(
    folder: Path, master: str, policy: str, sink: str
) -> contextlib.AbstractContextManager[subprocess.Popen]:
    """The query as a program."""
    more = {"SPARK_HOME": str(_home())} if master.startswith("local-cluster") else {}
    return own_process([str(SCRIPT), master, str(folder), policy, sink], folder, **more)


@cache
def _home() -> Path:
    return spark_home(Path(tempfile.mkdtemp(prefix="killed-home-")))


def output(folder: Path, sink: str) -> Counter[str]:
    """Everything that a query has put out."""
    if sink == "sqlite":
        with sqlite3.connect(folder / "out.db") as database:
            return Counter(line for (line,) in database.execute("SELECT line FROM result"))
    listed = _committed_files(folder / "out")
    found: Counter[str] = Counter()
    for file in listed:
        found.update(map(repr, (tuple(row.values()) for row in pq.read_table(file).to_pylist())))
    return found


def _committed_files(out: Path) -> list[Path]:
    """The files that the sink's own log lists; others are of batches that were killed."""
    paths: dict[str, None] = {}
    for log in sorted((out / "_spark_metadata").glob("[0-9]*"), key=lambda p: p.name.split(".")[0]):
        if log.name.startswith("."):
            continue
        for line in log.read_text().splitlines()[1:]:
            entry = json.loads(line)
            paths[entry["path"].removeprefix("file://")] = None
    return [Path(path) for path in paths]


def run_round(seed: int, alone_s: dict[str, float]) -> tuple[int, bool]:
    """One round: how many strikes there were, and whether the output is right."""
    rng = random.Random(seed)
    query, sink = rng.choice(POLICIES), rng.choice(("parquet", "sqlite"))
    victim = rng.choice(VICTIMS)
    with contextlib.ExitStack() as stack:
        whole = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="killed-")))
        alone, killed = whole / "alone", whole / "killed"
        for folder in (alone, killed):
            folder.mkdir()
            inputs(folder, seed)
        strike: Strike = Processes(victim)
        if victim == "postgres":
            strike = stack.enter_context(Database())
            query = f"lookup {strike.dsn}"
        elif victim == "disk":
            strike = stack.enter_context(SmallDisk(killed / "checkpoint"))
        began = time.monotonic()
        with started(alone, "local[2]", query, sink) as process:
            if process.wait(1200):
                raise RuntimeError(log_of(alone))
        alone_s["last"] = time.monotonic() - began
        strikes = _run_struck(killed, query, sink, strike, rng, alone_s["last"])
        right = output(killed, sink) == output(alone, sink)
        said = "same rows" if right else "OTHER ROWS"
        total = output(killed, sink).total()
        sys.stdout.write(
            f"seed {seed}: {query.split()[0]} into {sink}, the {victim} {strikes} times: "
            f"{total:,} rows, {said}\n"
        )
        return strikes, right


def _run_struck(
    folder: Path, query: str, sink: str, strike: Strike, rng: random.Random, alone_s: float
) -> int:
    """Start a query again and again, and strike now and then, until it is done."""
    strikes = 0
    for _ in range(40):
        with started(folder, strike.master, query, sink) as process:
            while strikes < MOST_KILLS and process.poll() is None:
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(rng.uniform(0.3, 0.9) * alone_s)
                # A worker or an executor may yet have to start.
                while process.poll() is None and not strike.at(process, rng):
                    time.sleep(0.02)
                strikes += process.poll() != 0
            ended = process.wait(1200)
            strike.over()
            if ended == 0:
                return strikes
    raise RuntimeError(log_of(folder))


def main() -> None:
    """Run the rounds that the arguments say."""
    parser = argparse.ArgumentParser(prog="make kill", description=__doc__)
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--out", type=Path)
    asked = parser.parse_args()
    began, kills, failed = time.time(), 0, []
    alone_s: dict[str, float] = {}
    for seed in range(asked.first, asked.first + asked.rounds):
        killed, right = run_round(seed, alone_s)
        kills += killed
        failed += [] if right else [str(seed)]
        sys.stdout.flush()
    sys.stdout.write(f"{asked.rounds} rounds, {kills} kills, {len(failed)} with other rows\n")
    if asked.out:
        add_campaign(
            asked.out,
            "kills",
            seeds=f"{asked.first}:{asked.first + asked.rounds}",
            counts={"rounds": asked.rounds, "kills": kills},
            failed=failed,
            seconds=time.time() - began,
        )
    with contextlib.suppress(OSError):
        shutil.rmtree(_home().parent)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
