"""Programs on Spark in processes of their own, for tests that kill them or start a cluster."""

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pyspark

import headgate
from tests.spark.needed_spark import OWN_PORT

ROOT = Path(__file__).parents[2]
PATIENCE_SECONDS = 240


def own_environment() -> dict[str, str]:
    """Variables of a program that has this code and starts a Spark of its own."""
    source = Path(headgate.__file__).parents[1]
    inherited = {k: v for k, v in os.environ.items() if not k.startswith(("SPARK_", "PYSPARK_"))}
    return {
        **inherited,
        "PYSPARK_PYTHON": sys.executable,
        "PYTHONPATH": f"{source}:{ROOT}",
        "SPARK_LOCAL_IP": "127.0.0.1",
    }


@contextlib.contextmanager
def own_process(command: list[str], folder: Path, **environment: str) -> Iterator[subprocess.Popen]:
    """A Python program in a process group of its own, of which nothing is left behind.

    What it says is added to log.txt in the folder.
    """
    with (folder / "log.txt").open("ab") as log:
        process = subprocess.Popen(
            [sys.executable, *command],
            env=own_environment() | OWN_PORT | environment,
            start_new_session=True,
            stdout=log,
            stderr=log,
        )
    try:
        yield process
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait(PATIENCE_SECONDS)


def log_of(folder: Path) -> str:
    """The end of what a program said."""
    return (folder / "log.txt").read_text()[-4000:]


def spark_home(folder: Path) -> Path:
    """PySpark's files in a directory that workers can write beside."""
    home = folder / "spark_home"
    home.mkdir()
    for name in ("bin", "sbin", "jars", "python", "data", "licenses"):
        target = Path(pyspark.__file__).parent / name
        if target.exists():
            (home / name).symlink_to(target)
    return home
