"""Joins as users have them: small and large batches, the first one, and one without rows.

Every measurement is a process of its own with a session in which little is set, because the first
batch of a warm process tells nothing. Contenders take turns, several rounds.
"""

import json
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median

from pyspark.sql import DataFrame, SparkSession

from headgate.api.window_join import WindowJoin
from headgate.bench.bench_workload import Workload
from headgate.bench.contenders import HDFS, MINUTE, between, read_side
from headgate.spark.configuration import configure
from headgate.spark.requirements import PROVIDER, ROCKSDB
from headgate.spec import Budget, Side

SIZES = {10_000: 14, 100_000: 10, 800_000: 8}
"""Rows of both sides a batch, and how many batches."""
WARM_UP = 3
CORES = 2
AMPLE = Budget(memory="1 GB")


@dataclass(frozen=True)
class Batches:
    """Milliseconds of a query's batches."""

    first: float
    steady: float
    empty: float


def spark_join(store: str) -> Callable[[SparkSession], None]:
    """Spark's own join on a state store."""
    return lambda session: session.conf.set(PROVIDER, store)


CONTENDERS: dict[str, Callable[[SparkSession], object]] = {
    "Spark's join": spark_join(HDFS),
    "Spark's join on RocksDB": spark_join(ROCKSDB),
    "Headgate": lambda session: session.conf.set(PROVIDER, ROCKSDB),
    "Headgate, hg.configure": configure,
}
"""What each sets in its session."""


def measure_batches(rounds: int) -> Iterator[tuple[int, str, Batches]]:
    """Rows a batch, contender and times, one measurement after the other."""
    with tempfile.TemporaryDirectory(prefix="headgate-bench-") as folder:
        for rows, batches in SIZES.items():
            place = Path(folder) / str(rows)
            Workload((rows // 2,) * batches).write(place)
            for _ in range(rounds):
                for name in CONTENDERS:
                    yield rows, name, _in_a_process(name, place)


def _in_a_process(name: str, place: Path) -> Batches:
    command = [sys.executable, "-W", "ignore", "-m", "headgate.bench.batch_sizes", name, str(place)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{name}: {done.stderr[-2000:]}")
    return Batches(**json.loads(done.stdout.splitlines()[-1]))


def run_one(name: str, place: Path) -> Batches:
    """Start a session, run the join over all files, and time its batches."""
    session = (
        SparkSession.builder.master(f"local[{CORES}]")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.driver.memory", "4g")
        .getOrCreate()
    )
    session.sparkContext.setLogLevel("ERROR")
    # Spark's default of 200 suits no machine of two cores, and hides all else.
    session.conf.set("spark.sql.shuffle.partitions", str(CORES))
    CONTENDERS[name](session)
    sides = (read_side(session, place / "left", "l"), read_side(session, place / "right", "r"))
    frame = headgate_join(*sides) if name.startswith("Headgate") else between(*sides, MINUTE)
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
        session.stop()
    full = [took for has_rows, took in seen if has_rows]
    return Batches(full[0], median(full[WARM_UP:]), median(took for rows, took in seen if not rows))


def headgate_join(left: DataFrame, right: DataFrame) -> DataFrame:
    """Headgate with memory for all rows: the answer is exact."""
    sides = [Side(time=time, window=MINUTE) for time in ("l_time", "r_time")]
    return WindowJoin(on="key", left=sides[0], right=sides[1], budget=AMPLE).stream(left, right)


if __name__ == "__main__":
    sys.stdout.write(json.dumps(asdict(run_one(sys.argv[1], Path(sys.argv[2])))) + "\n")
