"""Starts a Spark session with the settings Headgate needs: here, or as a client of Connect."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from headgate.spark.arrow_batches import ARROW_BYTES, NO_ARROW_BYTES
from headgate.spark.configuration import configure
from headgate.spark.requirements import CHANGELOG, PROVIDER, ROCKSDB
from headgate.spark.session_access import is_local
from headgate.spark.spark_versions import protobuf_here
from headgate.spec import SpecError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

OLDEST_JAVA = 17
PATIENCE_SECONDS = 20
"""How long a Connect server may take to answer."""
REMOTE = "spark.remote"
_OF_THE_SERVER = (REMOTE, "spark.api.mode", "spark.master")
"""Settings that say which session is wanted, and are none of its own."""


class NotReady(RuntimeError):
    """A requirement of the demo is missing; the message says what to install."""


def session(
    name: str = "headgate",
    *,
    master: str | None = None,
    remote: str | None = None,
    settings: Mapping[str, str] | None = None,
) -> "SparkSession":
    """A new Spark session, set up as Headgate needs it; ``stop()`` ends it.

    Where a session is there already, as in a notebook, use `configure` on it instead.

    Parameters
    ----------
    name
        The application's name.
    master
        Where Spark runs, such as ``"local[2]"`` or ``"yarn"``; all cores of this machine by
        default.
    remote
        The address of a Spark Connect server, such as ``"sc://host:15002"``, or ``"local[2]"`` for
        a server of its own; instead of ``master``.
    settings
        Further Spark settings; they come before Headgate's own.

    Examples
    --------
    >>> def begin():
    ...     return hg.session("orders", master="local[4]", settings={"spark.driver.memory": "4g"})
    """
    if master is not None and remote is not None:
        raise SpecError(f"master={master!r} and remote={remote!r} are both given: give one of them")
    given = dict(settings or {})
    given |= {} if remote is None else {REMOTE: remote}
    given |= {} if master is None else {"spark.master": master}
    check_ready(given)
    from pyspark.sql import SparkSession

    if SparkSession.getActiveSession() is not None:
        raise SpecError("there is a Spark session already: hg.configure(spark) sets it up")
    return start_session(name, settings=given)


def check_ready(settings: Mapping[str, str] | None = None) -> None:
    """Raise unless Java and PySpark's requirements are installed; imports checked the rest.

    A client of a Connect server elsewhere needs no Java.
    """
    protobuf_here().check()
    remote = _remote(settings or {})
    if remote is not None:
        _check_client()
        if not is_local(remote):
            return
    found_java = java_version()
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
    leave_out: Sequence[str] = (),
) -> "SparkSession":
    """Start Spark, on this machine unless the settings or ``SPARK_REMOTE`` say otherwise.

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
    leave_out
        Which of Headgate's own settings to leave to Spark.
    """
    remote = _remote(settings or {})
    if remote is not None:
        return _connected(name, remote, settings or {})
    usual = _settings(name, cores or os.cpu_count() or 1)
    wanted = {key: value for key, value in usual.items() if key not in leave_out}
    wanted |= settings or {}
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


def plain_session(remote: str | None, log: Path) -> "SparkSession":
    """A session as programs start it, with none of Headgate's settings, to look at it."""
    asked = remote or _remote({})
    if asked is not None:
        _check_answers(asked)
        from pyspark.sql import SparkSession

        start = SparkSession.builder
        found: SparkSession = (start if remote is None else start.remote(remote)).getOrCreate()
        return found
    usual = (PROVIDER, CHANGELOG, ARROW_BYTES, "spark.sql.shuffle.partitions")
    return start_session("headgate doctor", log, leave_out=usual)


def _no_link(path: str, flags: int) -> int:
    """Open a log as `open` does, but refuse links, which others may put in a shared folder."""
    return os.open(path, flags | os.O_NOFOLLOW, 0o600)


def _remote(settings: Mapping[str, str]) -> str | None:
    """The Connect server that is asked for, by settings or the environment; None for none."""
    told = settings.get(REMOTE) or os.environ.get("SPARK_REMOTE")
    if told is None and settings.get("spark.api.mode", "classic") != "classic":
        told = settings.get("spark.master", f"local[{os.cpu_count() or 1}]")
    return told


def _check_client() -> None:
    """Raise unless the packages of a Connect client are installed."""
    for name in ("grpc", "grpc_status", "google.rpc"):
        try:
            import_module(name)
        except ImportError as error:
            raise NotReady(
                f"a Spark Connect session was asked for, and {name} cannot be imported: "
                f'pip install "headgate[connect]"'
            ) from error


def _check_answers(remote: str) -> None:
    """Raise unless the server takes connections; Spark's client would try for ten minutes."""
    if is_local(remote):
        return
    _check_client()
    grpc = import_module("grpc")
    from pyspark.sql.connect.client import DefaultChannelBuilder

    channel = DefaultChannelBuilder(remote).toChannel()
    try:
        grpc.channel_ready_future(channel).result(timeout=PATIENCE_SECONDS)
    except grpc.FutureTimeoutError:
        # The rest of an address may have a token in it.
        where = remote.partition("/;")[0]
        raise NotReady(
            f"no Spark Connect server answers at {where} within {PATIENCE_SECONDS} seconds: start "
            f"it, or name another one (spark.remote, SPARK_REMOTE)"
        ) from None
    finally:
        channel.close()


def _connected(name: str, remote: str, settings: Mapping[str, str]) -> "SparkSession":
    """A session of a Connect server; one of its own, in this Python, if the server is local."""
    from pyspark.sql import SparkSession

    _check_answers(remote)
    start = SparkSession.builder.remote(remote)
    mine = {key: value for key, value in settings.items() if key not in _OF_THE_SERVER}
    if is_local(remote):
        os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
        start = start.appName(name)
    for key, value in mine.items():
        start = start.config(key, value)
    found: SparkSession = start.getOrCreate()
    configure(found)
    return found


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


def java_version() -> int:
    """The major version of the Java that Spark would start; 0 when there is none."""
    home = os.environ.get("JAVA_HOME")
    java = shutil.which("java", path=str(Path(home, "bin")) if home else None)
    if java is None:
        return 0
    said = subprocess.run([java, "-version"], capture_output=True, text=True, check=False).stderr
    found = re.search(r'version "(?:1\.)?(\d+)', said)
    return int(found.group(1)) if found else 0
