"""Joins as users have them: small and large batches, the first one, and one without rows.

Every measurement is a process of its own with a session in which little is set, because the first
batch of a warm process tells nothing. Contenders take turns, several rounds.

Java compiles for half a minute: a batch of 10,000 rows takes it twice the processor time in the
first dozen batches as after thirty. So a query runs until it is warm, some twenty seconds, which
takes it more batches the shorter they are, and its steady batches are those of the second half.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from statistics import median
from typing import NamedTuple

from pyspark.sql import DataFrame, SparkSession

from headgate.api.window_join import WindowJoin
from headgate.bench.bench_workload import ROWS_PER_SECOND, BenchWorkload
from headgate.bench.contenders import (
    HDFS,
    MINUTE,
    Contender,
    between,
    identity,
    no_join,
    read_side,
    there_and_back,
)
from headgate.spark.checkpoint_writer import CHECKPOINT_WRITER, local_writer
from headgate.spark.configuration import configure
from headgate.spark.requirements import PROVIDER, ROCKSDB
from headgate.spark.session_access import access_to
from headgate.spec import Budget, Side

SIZES = {10_000: 60, 100_000: 36, 800_000: 18, 1_600_000: 12}
"""Rows of both sides a batch, and how many batches."""
SLOW = {10_000: 60, 100_000: 24, 800_000: 8, 1_600_000: 5}
"""How many batches of what takes seconds for each of the larger ones."""
LARGE = 800_000
EARLY = slice(3, 14)
"""Batches in which Java is still compiling."""
CORES = 2
AMPLE = Budget(memory="1 GB")
TENTH = 0.1
PHASES = "phases.json"
"""Where the phases of each batch are written, beside the event log."""
PEER = "Spark's join"
UNCUT = "DuckDB, all rows at once"
JOIN_FORMAT = "spark.sql.streaming.join.stateFormatVersion"
ROWS_IN_WINDOWS = 2 * 60 * ROWS_PER_SECOND


@dataclass(frozen=True)
class Batches:
    """Milliseconds of a query's batches; ``empty`` is None if there was none without rows."""

    first: float
    early: float
    steady: float
    empty: float | None


class Entrant(NamedTuple):
    """A query, and what it sets in its session."""

    query: Contender
    settings: Callable[[SparkSession], object]
    once: bool = False
    """Whether one round is enough: for what only shows a limit."""
    batches: Mapping[int, int] = SIZES
    """How many batches of each size it is measured with; none of sizes that are not there."""


def _settings(settings: Mapping[str, str]) -> Callable[[SparkSession], object]:
    def apply(session: SparkSession) -> None:
        for name, value in settings.items():
            session.conf.set(name, value)

    return apply


def _spark(session: SparkSession, left: Path, right: Path) -> DataFrame:
    return between(read_side(session, left, "l"), read_side(session, right, "r"), MINUTE)


def _headgate(share: float = 1.0) -> Contender:
    """Headgate with memory for all rows, or for a share of those in the windows."""

    def build(session: SparkSession, left: Path, right: Path) -> DataFrame:
        budget = AMPLE if share == 1 else Budget(rows=int(share * ROWS_IN_WINDOWS))
        sides = [Side(time=time, window=MINUTE) for time in ("l_time", "r_time")]
        join = WindowJoin(on="key", left=sides[0], right=sides[1], budget=budget)
        return join.stream(read_side(session, left, "l"), read_side(session, right, "r"))

    return build


def _with_local_checkpoints(session: SparkSession) -> None:
    """Spark's default state store, and checkpoints on local disks as `configure` can have them."""
    session.conf.set(PROVIDER, HDFS)
    session.conf.set(CHECKPOINT_WRITER, local_writer(access_to(session)))


_SLOWER = {10_000: 40, 100_000: 14, 800_000: 4}

CONTENDERS: dict[str, Entrant] = {
    PEER: Entrant(_spark, _settings({PROVIDER: HDFS}), batches=SLOW),
    "Headgate": Entrant(_headgate(), _settings({PROVIDER: ROCKSDB})),
    "Headgate after hg.configure": Entrant(_headgate(), configure),
    "Headgate, a tenth of the memory": Entrant(
        _headgate(TENTH), _settings({PROVIDER: ROCKSDB}), True
    ),
    "Spark's join, local_checkpoints": Entrant(_spark, _with_local_checkpoints, True, SLOW),
    "Headgate after hg.configure, local_checkpoints": Entrant(
        _headgate(), partial(configure, local_checkpoints=True), True
    ),
    "no join: rows through Python": Entrant(identity, _settings({}), True),
    "no join: state in Python": Entrant(no_join, _settings({PROVIDER: ROCKSDB}), True),
    "no join: rows to state and back": Entrant(
        there_and_back, _settings({PROVIDER: ROCKSDB}), True
    ),
    "no join: rows to state and back, after hg.configure": Entrant(there_and_back, configure, True),
    "Spark's join on RocksDB": Entrant(_spark, _settings({PROVIDER: ROCKSDB}), True, _SLOWER),
    "Spark's join on RocksDB, state format 3": Entrant(
        _spark, _settings({PROVIDER: ROCKSDB, JOIN_FORMAT: "3"}), True, _SLOWER
    ),
}


class Run(NamedTuple):
    """A measurement to make: a contender's join of batches of one size."""

    rows: int
    round: int
    name: str


def runs(rounds: int, sizes: Sequence[int] = tuple(SIZES)) -> list[Run]:
    """All measurements, in turns; what is measured once comes last, and may be left out.

    Examples
    --------
    >>> [run.name for run in runs(2, (10_000,))][:4]
    ["Spark's join", 'Headgate', 'Headgate after hg.configure', "Spark's join"]
    """
    planned: list[Run] = []
    once: list[Run] = []
    for number in range(rounds):
        for rows in sizes:
            for name, entrant in CONTENDERS.items():
                if rows in entrant.batches and not (number and entrant.once):
                    (once if entrant.once else planned).append(Run(rows, number, name))
    return [*planned, *once, *(Run(rows, 0, UNCUT) for rows in sizes)]


def measure_batches(planned: Sequence[Run]) -> Iterator[tuple[Run, Batches]]:
    """Each measurement and its times, one after the other."""
    with tempfile.TemporaryDirectory(prefix="headgate-bench-") as folder:
        for run in planned:
            place, batches = Path(folder) / str(run.rows), SIZES[run.rows]
            if not place.exists():
                BenchWorkload((run.rows // 2,) * batches).write(place)
            if run.name == UNCUT:
                yield run, without_streaming(place, batches)
            else:
                first = first_files(place, CONTENDERS[run.name].batches[run.rows])
                yield run, in_a_process(run.name, first)


def first_files(place: Path, count: int) -> Path:
    """A folder with the first files of each side of a workload, as many as are wanted."""
    chosen = place / f"first-{count}"
    for side in ("left", "right"):
        (chosen / side).mkdir(parents=True, exist_ok=True)
        for path in sorted((place / side).glob("*.parquet"))[:count]:
            link = chosen / side / path.name
            if not link.exists():
                os.link(path, link)
    return chosen


def without_streaming(place: Path, batches: int) -> Batches:
    """DuckDB's join of the whole input at once, as if its time were spread over the batches."""
    import duckdb

    began = time.perf_counter()
    duckdb.connect().sql(
        f"""
        SELECT l.*, r.r_time, r.r_value, r.r_text
        FROM '{place}/left/*.parquet' l JOIN '{place}/right/*.parquet' r ON l.key = r.key
        AND r.r_time BETWEEN l.l_time - INTERVAL {MINUTE} AND l.l_time + INTERVAL {MINUTE}
        """
    ).to_arrow_table()
    took = 1000 * (time.perf_counter() - began) / batches
    return Batches(took, took, took, None)


def in_a_process(name: str, place: Path, events: Path | None = None) -> Batches:
    """Measure a contender in a process of its own; ``events`` is a folder for Spark's event log."""
    command = [sys.executable, "-W", "ignore", "-m", "headgate.bench.batch_sizes", name, str(place)]
    command += [] if events is None else [str(events)]
    # Queries without a join of ours would start the first python3 on PATH.
    environment = {**os.environ, "PYSPARK_PYTHON": sys.executable}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{name}: {done.stderr[-2000:]}")
    return Batches(**json.loads(done.stdout.splitlines()[-1]))


def run_one(name: str, place: Path, events: Path | None = None) -> Batches:
    """Start a session, run the join over all files, and time its batches."""
    builder = (
        SparkSession.builder.master(f"local[{CORES}]")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.driver.memory", "4g")
    )
    if events is not None:
        builder = builder.config("spark.eventLog.enabled", "true")
        builder = builder.config("spark.eventLog.compress", "false")
        builder = builder.config("spark.eventLog.dir", events.as_uri())
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    # Spark's default of 200 suits no machine of two cores, and hides all else.
    session.conf.set("spark.sql.shuffle.partitions", str(CORES))
    entrant = CONTENDERS[name]
    entrant.settings(session)
    frame = entrant.query(session, place / "left", place / "right")
    with tempfile.TemporaryDirectory(prefix="headgate-bench-") as folder:
        query = (
            frame.writeStream.format("noop")
            .option("checkpointLocation", folder)
            .trigger(availableNow=True)
            .start()
        )
        query.awaitTermination()
        seen = [
            (bool(report["numInputRows"]), float(report["durationMs"]["triggerExecution"]))
            for report in query.recentProgress
        ]
        if events is not None:
            phases = [report["durationMs"] for report in query.recentProgress]
            (events / PHASES).write_text(json.dumps(phases))
        session.stop()
    full = [took for has_rows, took in seen if has_rows]
    empty = [took for has_rows, took in seen if not has_rows]
    return Batches(
        first=full[0],
        early=median(full[EARLY]),
        steady=median(full[len(full) // 2 :]),
        empty=median(empty) if empty else None,
    )


if __name__ == "__main__":
    measured = run_one(sys.argv[1], *map(Path, sys.argv[2:]))
    sys.stdout.write(json.dumps(asdict(measured)) + "\n")
