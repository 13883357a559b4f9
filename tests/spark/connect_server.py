"""A Spark Connect server in a process of its own, for tests."""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pyspark

from tests.spark.quick_settings import QUICK_TO_START

PATIENCE_SECONDS = 240
SERVER = "org.apache.spark.sql.connect.service.SparkConnectServer"


@contextmanager
def connect_server(folder: Path, **environment: str) -> Iterator[str]:
    """Start a server of two cores, give its address, and end it with all that it started."""
    home = Path(pyspark.__file__).parent
    port = _free_port()
    settings = {
        "spark.master": "local[2]",
        "spark.connect.grpc.binding.port": str(port),
        "spark.driver.host": "127.0.0.1",
        "spark.driver.memory": "1g",
        "spark.ui.enabled": "false",
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
        **QUICK_TO_START,
    }
    told = [part for name, value in settings.items() for part in ("--conf", f"{name}={value}")]
    command = [str(home / "bin" / "spark-class"), "org.apache.spark.deploy.SparkSubmit"]
    log = folder / "server.log"
    with log.open("wb") as chatter:
        process = subprocess.Popen(
            [*command, "--class", SERVER, *told, "spark-internal"],
            stdout=chatter,
            stderr=chatter,
            cwd=folder,
            env={
                **os.environ,
                "SPARK_HOME": str(home),
                "PYSPARK_PYTHON": sys.executable,
                **environment,
            },
            start_new_session=True,
        )
    try:
        give_up = time.monotonic() + PATIENCE_SECONDS
        while not _answers(port):
            assert process.poll() is None, log.read_text()[-3000:]
            assert time.monotonic() < give_up, log.read_text()[-3000:]
            time.sleep(0.1)
        yield f"sc://127.0.0.1:{port}"
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait(PATIENCE_SECONDS)


def _free_port() -> int:
    with socket.socket() as chosen:
        chosen.bind(("127.0.0.1", 0))
        return int(chosen.getsockname()[1])


def _answers(port: int) -> bool:
    with socket.socket() as asking:
        asking.settimeout(1.0)
        return asking.connect_ex(("127.0.0.1", port)) == 0
