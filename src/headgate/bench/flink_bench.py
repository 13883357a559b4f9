"""Flink's interval join of the rows that the batches have, in an environment of its own.

PyFlink wants other versions of Arrow and pandas than Spark, so it is installed apart, on demand. It
reads text files: the package comes without Flink's reader of Parquet. Flink has no batches, so what
can be compared is rows a second over the whole input.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import venv
from dataclasses import dataclass
from pathlib import Path

from headgate.bench.bench_workload import BenchWorkload

PACKAGE = "apache-flink==2.3.0"
ENVIRONMENT = Path("out/flink")
CORES = 2
SIDES = ("left", "right")
WARM_UP_ROWS = 200_000
_COLUMNS = "`key` BIGINT, {0}_time TIMESTAMP(3), {0}_value DOUBLE, {0}_text STRING"
_SHOWN = ", ".join(f"{side}_{what}" for side in "lr" for what in ("value", "text"))
_JOIN = f"""
INSERT INTO sink
SELECT l.`key`, CAST(l_time AS TIMESTAMP(3)), CAST(r_time AS TIMESTAMP(3)), {_SHOWN}
FROM l JOIN r ON l.`key` = r.`key`
AND r_time BETWEEN l_time - INTERVAL '60' SECOND AND l_time + INTERVAL '60' SECOND
"""
_JOB = f'''
import sys, time
from pyflink.table import EnvironmentSettings, TableEnvironment
env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
env.get_config().set("parallelism.default", "{CORES}")
env.get_config().set("execution.checkpointing.interval", "10 s")
for side in "lr":
    env.execute_sql(
        "CREATE TABLE " + side + " ({_COLUMNS}, WATERMARK FOR {{0}}_time AS {{0}}_time) WITH "
        "('connector' = 'filesystem', 'format' = 'csv', 'path' = '{{1}}/{{0}}.csv')"
        .format(side, sys.argv[1])
    )
env.execute_sql(
    "CREATE TABLE sink (`key` BIGINT, l_time TIMESTAMP(3), r_time TIMESTAMP(3), l_value DOUBLE, "
    "l_text STRING, r_value DOUBLE, r_text STRING) WITH ('connector' = 'blackhole')"
)
began = time.monotonic()
env.execute_sql("""{_JOIN}""").wait()
print(time.monotonic() - began)
'''


@dataclass(frozen=True)
class FlinkSpeed:
    """Seconds that Flink took for a few rows, most of them to start, and for many."""

    few: tuple[int, float]
    many: tuple[int, float]

    @property
    def rows_per_second(self) -> float:
        """Input rows of both sides a second, once started."""
        return (self.many[0] - self.few[0]) / max(self.many[1] - self.few[1], 1e-9)


def install() -> Path:
    """The Python of an environment with PyFlink, which is made if there is none."""
    python = ENVIRONMENT.absolute() / "bin" / "python"
    if not python.exists():
        venv.create(ENVIRONMENT, with_pip=True)
        done = subprocess.run(
            [python, "-m", "pip", "install", "-q", PACKAGE],
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            shutil.rmtree(ENVIRONMENT)
            raise RuntimeError(
                f"{PACKAGE} cannot be installed on Python {sys.version.split()[0]}: "
                f"{done.stderr.strip().splitlines()[-1]}"
            )
    return python


def measure_flink(python: Path, rows: int) -> FlinkSpeed:
    """Time Flink's join of so many rows of both sides."""
    return FlinkSpeed(*((count, _seconds(python, count)) for count in (WARM_UP_ROWS, rows)))


def _seconds(python: Path, rows: int) -> float:
    with tempfile.TemporaryDirectory(prefix="headgate-bench-") as folder:
        write_text(Path(folder), rows)
        command = [str(python), "-W", "ignore", "-c", _JOB, folder]
        done = subprocess.run(
            command, env=_environment(), capture_output=True, text=True, check=False
        )
    if done.returncode:
        raise RuntimeError(f"Flink: {done.stderr[-2000:]}")
    return float(done.stdout.splitlines()[-1])


def write_text(folder: Path, rows: int) -> None:
    """Write the bench's rows as text, one file a side, in order of time.

    Flink reads several files in any order, and rows of the earlier ones would then be late.
    """
    import duckdb

    BenchWorkload((rows // 2,)).write(folder)
    connection = duckdb.connect()
    for name, side in zip("lr", SIDES, strict=True):
        connection.sql(
            f"COPY (SELECT key, strftime({name}_time::TIMESTAMP, '%Y-%m-%d %H:%M:%S.%g'), "
            f"{name}_value, {name}_text FROM '{folder}/{side}/*.parquet') "
            f"TO '{folder}/{name}.csv' (HEADER false)"
        )


def _environment() -> dict[str, str]:
    """Flink finds Java by JAVA_HOME alone."""
    java = shutil.which("java")
    home = {} if java is None else {"JAVA_HOME": str(Path(java).resolve().parents[1])}
    return {**home, **os.environ}
