"""Starts a local Spark session with the settings Headgate needs, logging to a file."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from headgate.spark.arrow_batches import ARROW_BYTES, NO_ARROW_BYTES
from headgate.spark.installed_packages import PROTOBUF
from headgate.spark.requirements import CHANGELOG, PROVIDER, ROCKSDB
from headgate.spark.session_access import is_local

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

OLDEST_JAVA = 17


class NotReady(RuntimeError):
    """A requirement of the demo is missing; the message says what to install."""


def check_ready() -> None:
    """Raise unless Java and PySpark's requirements are installed; imports checked the rest."""
    PROTOBUF.check()
    found_java = _java_version()
    if found_java < OLDEST_JAVA:
        what = f"only Java {found_java} was found" if found_java else "no Java was found"
        raise NotReady(
            f"Spark needs Java {OLDEST_JAVA} or newer, and {what}: on Debian or Ubuntu "
            f"apt-get install openjdk-{OLDEST_JAVA}-jre-headless; elsewhere install a Java "
            f"runtime and put it on PATH or in JAVA_HOME"
        )


def start_session(
    name: str,
    log: Path | None = None,
    cores: int | None = None,
    settings: dict[str, str] | None = None,
) -> "SparkSession":
    """Start Spark on this machine.

    Parameters
    ----------
    name
        The application's name.
    log
        File for the output of the JVM and the Python workers; by default this process's own output.
        It takes effect for the first session of a process: later ones share its JVM.
    cores
        How many cores to use; all by default.
    settings
        Further Spark settings.
    """
    wanted = {**_settings(name, cores or os.cpu_count() or 1), **(settings or {})}
    _check_classic(wanted)
    if is_local(wanted["spark.master"]):
        # Workers must run the Python that has Headgate; Spark would use the first on PATH.
        os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    from pyspark import SparkConf, SparkContext
    from pyspark.errors import PySparkRuntimeError
    from pyspark.java_gateway import launch_gateway
    from pyspark.sql import SparkSession

    conf = SparkConf().setAll(list(wanted.items()))
    launch: Callable[..., Any] = launch_gateway
    gateway: Any = None
    if log is not None and SparkContext._gateway is None:
        log.parent.mkdir(parents=True, exist_ok=True)
        with open(log, "wb", opener=_no_link) as chatter:
            try:
                gateway = launch(conf, {"stdout": chatter, "stderr": chatter})
            except PySparkRuntimeError:
                raise NotReady(f"Spark's Java did not start; {log} says why") from None
    if gateway is None:
        context = SparkContext.getOrCreate(conf)
    else:
        context = SparkContext(conf=conf, gateway=gateway)
    context.setLogLevel("ERROR")
    return SparkSession(context)


def _no_link(path: str, flags: int) -> int:
    """Open a log as `open` does, but refuse links, which others may put in a shared folder."""
    return os.open(path, flags | os.O_NOFOLLOW, 0o600)


def _check_classic(settings: dict[str, str]) -> None:
    """Raise if the environment asks for Spark Connect."""
    asked = {"SPARK_REMOTE": os.environ.get("SPARK_REMOTE")}
    asked |= {name: settings.get(name) for name in ("spark.remote", "spark.api.mode")}
    for name, given in asked.items():
        if given and given != "classic":
            raise NotReady(
                f"{name}={given} asks for Spark Connect, which Headgate does not run in yet: "
                f"leave it out"
            )


def _settings(name: str, cores: int) -> dict[str, str]:
    return {
        "spark.master": f"local[{cores}]",
        "spark.app.name": name,
        "spark.driver.host": "localhost",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.shuffle.partitions": str(cores),
        PROVIDER: ROCKSDB,
        CHANGELOG: "true",
        ARROW_BYTES: NO_ARROW_BYTES,
    }


def _java_version() -> int:
    """The major version of the Java that Spark would start; 0 when there is none."""
    home = os.environ.get("JAVA_HOME")
    java = shutil.which("java", path=str(Path(home, "bin")) if home else None)
    if java is None:
        return 0
    said = subprocess.run([java, "-version"], capture_output=True, text=True, check=False).stderr
    found = re.search(r'version "(?:1\.)?(\d+)', said)
    return int(found.group(1)) if found else 0
