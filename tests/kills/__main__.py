"""Kill real queries: `python -m tests.kills --rounds 10 [--first SEED]`.

A round runs a query from files into Parquet or SQLite and strikes at random moments: it kills the
driver, a Python worker, an executor on a cluster of two, or PostgreSQL under a lookup, or fills the
disk of the checkpoint. The query is started again until it is done, and its output compared, row by
row, with that of the same query left alone, which runs once for all rounds with the same input.
Ends with status 1 if any differs. With --out, what was run is added to a JSON file of campaigns.
"""

import argparse
import contextlib
import json
import random
import resource
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from tests.campaigns import add_campaign, commit
from tests.kills.strikes import Database, Processes, SmallDisk, Strike
from tests.spark.killed_query import TIMES
from tests.spark.own_processes import log_of, own_process, spark_home
from tests.spark.streams import START_US, timestamps, write_side

SCRIPT = Path(__file__).with_name("sunk_query.py")
POLICIES = ("random", "auto", "sample", "full", "prob")
MOST_KILLS = {"worker": 16, "postgres": 12, "driver": 2, "executor": 8, "disk": 6}
"""Of a query, by victim: with the driver all of it dies and starts again, which takes long."""
BATCHES, ROWS = 8, 300
ROUNDS_WITH_AN_INPUT = 30


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


@dataclass(frozen=True)
class Alone:
    """What a query puts out when nothing happens to it, and how long it takes."""

    rows: Counter[str]
    seconds: float


class Rounds:
    """Rounds, which share the queries that are left alone."""

    def __init__(self, known: Path | None) -> None:
        self._file = known
        self._alone: dict[str, Alone] = {}
        if known is not None and known.exists():
            for key, (rows, seconds) in json.loads(known.read_text()).items():
                self._alone[key] = Alone(Counter(rows), seconds)

    def run(self, seed: int) -> tuple[Counter[str], bool]:
        """One round: strikes by victim, and whether the output is right."""
        rng = random.Random(seed)
        query, sink = rng.choice(POLICIES), rng.choice(("parquet", "sqlite"))
        victim = list(MOST_KILLS)[seed % len(MOST_KILLS)]
        given = seed // ROUNDS_WITH_AN_INPUT
        with contextlib.ExitStack() as stack:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="killed-")))
            inputs(folder, given)
            strike: Strike = Processes(victim)
            if victim == "postgres":
                strike = stack.enter_context(Database())
                query = f"lookup {strike.dsn}"
            elif victim == "disk":
                strike = stack.enter_context(SmallDisk(folder / "checkpoint"))
            alone = self._left_alone(query, sink, given)
            strikes = _run_struck(folder, (query, sink), strike, rng, (victim, alone.seconds))
            found = output(folder, sink)
        said = "same rows" if found == alone.rows else "OTHER ROWS"
        sys.stdout.write(
            f"seed {seed}: {query.split()[0]} into {sink}, the {victim} {strikes} times: "
            f"{found.total():,} rows, {said}\n"
        )
        sys.stdout.flush()
        return Counter({victim: strikes}), found == alone.rows

    def _left_alone(self, query: str, sink: str, given: int) -> Alone:
        key = f"{commit()} {query.split()[0]} {sink} {given}"
        if key not in self._alone:
            self._alone[key] = _left_alone(query, sink, given)
            if self._file is not None:
                known = {name: (each.rows, each.seconds) for name, each in self._alone.items()}
                self._file.write_text(json.dumps(known))
        return self._alone[key]


def _left_alone(query: str, sink: str, given: int) -> Alone:
    with tempfile.TemporaryDirectory(prefix="alone-") as name:
        folder, began = Path(name), time.monotonic()
        inputs(folder, given)
        with started(folder, "local[2]", query, sink) as process:
            if process.wait(1200):
                raise RuntimeError(log_of(folder))
        return Alone(output(folder, sink), time.monotonic() - began)


def _run_struck(
    folder: Path,
    asked: tuple[str, str],
    strike: Strike,
    rng: random.Random,
    victim: tuple[str, float],
) -> int:
    """Start a query again and again, and strike now and then, until it is done.

    ``victim`` comes with the seconds that the query takes when left alone.
    """
    strikes, (name, alone_s) = 0, victim
    for _ in range(40):
        pause = rng.uniform(0.3, 0.9) * alone_s
        with started(folder, strike.master, *asked) as process:
            while strikes < MOST_KILLS[name] and process.poll() is None:
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(pause)
                # A worker or an executor may yet have to start.
                while process.poll() is None and not strike.at(process, rng):
                    time.sleep(0.02)
                strikes += process.poll() != 0
                pause = rng.uniform(0.02, 0.15) * alone_s
            ended = process.wait(1200)
            strike.over()
            if ended == 0:
                return strikes
    raise RuntimeError(log_of(folder))


def children_cpu_s() -> float:
    """CPU seconds of programs that have ended; what killed ones had started does not count."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def main() -> None:
    """Run the rounds that the arguments say."""
    parser = argparse.ArgumentParser(prog="make kill", description=__doc__)
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--known", type=Path, help="keeps what queries left alone put out")
    parser.add_argument("--out", type=Path, help="JSON file of campaigns to add to")
    asked = parser.parse_args()
    rounds, kills, failed = Rounds(asked.known), 0, []
    for seed in range(asked.first, asked.first + asked.rounds):
        before = children_cpu_s()
        strikes, is_right = rounds.run(seed)
        kills += strikes.total()
        failed += [] if is_right else [str(seed)]
        if asked.out:
            by_victim = {f"of the {name}": count for name, count in strikes.items()}
            add_campaign(
                asked.out,
                "kills",
                seeds=f"{seed}:{seed + 1}",
                counts={"kills": strikes.total(), "rounds": 1, **by_victim},
                failed=[] if is_right else [str(seed)],
                seconds=children_cpu_s() - before,
            )
    sys.stdout.write(f"{asked.rounds} rounds, {kills} kills, {len(failed)} with other rows\n")
    with contextlib.suppress(OSError):
        shutil.rmtree(_home().parent)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
