"""What Headgate asks of a session beyond DataFrames, in a classic and a Spark Connect form.

A classic session has Spark's driver in this process: it knows the cores and settings, and hands
workers an environment. On Connect there is a server somewhere, and queries are all it takes; the
same is asked with queries, or done without. No other module touches the driver (``sparkContext``,
``_jvm``, py4j), and on Connect nothing imports it.
"""

import json
import os
import sys
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession
from pyspark.sql import functions as F
from pyspark.sql.streaming.listener import JStreamingQueryListener, StreamingQueryListener

from headgate.spark.state.local_files import LOCAL_DIRS

CONNECT = "pyspark.sql.connect"
MOST_CORES = 1 << 20
_cores: dict[str, int] = {}
"""By Connect session: asking takes a job."""


def is_connect(session: Any) -> bool:
    """Whether it is a session, or a DataFrame, of Spark Connect."""
    return any(kind.__module__.startswith(CONNECT) for kind in type(session).__mro__)


def access_to(session: SparkSession) -> "SessionAccess":
    """The form that fits the session."""
    return ConnectAccess(session) if is_connect(session) else ClassicAccess(session)


def is_local(master: str | None) -> bool:
    """Whether workers are local processes, of the driver or server.

    Examples
    --------
    >>> [is_local(master) for master in ("local", "local[2]", "local-cluster[2,1,1024]", "yarn")]
    [True, True, False, False]
    """
    return master is not None and (master == "local" or master.startswith("local["))


def spark_errors() -> tuple[type[Exception], ...]:
    """The classes of errors that come from Spark."""
    py4j = sys.modules.get("py4j.protocol")
    return (PySparkException,) if py4j is None else (PySparkException, py4j.Py4JError)


def message_of(error: BaseException) -> str:
    """What an error says, without a Java stack trace before it."""
    java = getattr(error, "java_exception", None)
    return str(error) if java is None else str(java.getMessage())


class SessionAccess(ABC):
    """What is asked of a session."""

    def __init__(self, session: SparkSession) -> None:
        self.session = session

    @property
    @abstractmethod
    def name(self) -> str:
        """Tells the session from others."""

    @property
    @abstractmethod
    def application(self) -> str:
        """Tells the application from others."""

    @property
    @abstractmethod
    def cores(self) -> int:
        """How many tasks run at a time."""

    @property
    def master(self) -> str:
        """Where tasks run; empty where the session does not tell."""
        return self.setting("spark.master", "")

    @property
    def is_local(self) -> bool:
        """Whether workers run on the machine of the driver or server."""
        return is_local(self.master)

    @property
    @abstractmethod
    def python(self) -> str | None:
        """The Python of workers; None where the server decides."""

    @abstractmethod
    def setting(self, name: str, default: str) -> str:
        """A setting of the application."""

    @abstractmethod
    def run_task(self, function: Callable[[Any], Any], argument: Any) -> Any:
        """Run a function, pickled by value, in one worker; takes and gives what JSON has."""

    @abstractmethod
    def on_every_core(self, function: Callable[[Any], Any]) -> None:
        """Run a function in one task a core, so that most likely each executor gets one."""

    @abstractmethod
    def listen(self, listener: StreamingQueryListener) -> None:
        """Add a listener to the session's queries."""

    def listen_for_ends(self, listener: StreamingQueryListener) -> None:
        """Add a listener that only cares for queries that start and end."""
        self.listen(listener)

    def listen_to_reports(self, listener: StreamingQueryListener) -> None:
        """Add a listener whose ``on_report`` takes each report as a string, where there is one."""
        self.listen(listener)

    @property
    def environment(self) -> dict[str, str] | None:
        """The environment of workers, to be changed; None where there is no reaching it."""
        return None

    def has_class(self, name: str) -> bool:
        """Whether the driver can load a class of Java's, where that can be asked."""
        return False

    @property
    def default_files(self) -> str:
        """Where paths without a scheme are, such as ``file:///``; empty where it is not told."""
        return ""

    def set_python(self, path: str) -> None:
        """Let workers run this Python, where that can be told."""
        raise NotImplementedError

    @abstractmethod
    def check_format(self, kind: str) -> None:
        """Raise Spark's error where it does not know a format, if that can be asked."""

    def local_dirs(self) -> Sequence[Path]:
        """Where local files are, if the driver here is its own executor."""
        return ()


class ClassicAccess(SessionAccess):
    """Through the driver in this process."""

    def __init__(self, session: SparkSession) -> None:
        super().__init__(session)
        self.context: Any = session.sparkContext

    @property
    def name(self) -> str:
        return str(self.session._jsparkSession.sessionUUID())

    @property
    def application(self) -> str:
        return str(self.context.applicationId)

    @property
    def cores(self) -> int:
        return int(self.context.defaultParallelism)

    @property
    def master(self) -> str:
        return str(self.context.master or "")

    @property
    def python(self) -> str | None:
        return str(self.context.pythonExec)

    def set_python(self, path: str) -> None:
        self.context.pythonExec = path

    @property
    def environment(self) -> dict[str, str] | None:
        found: dict[str, str] = self.context.environment
        return found

    def has_class(self, name: str) -> bool:
        return bool(self.context._jvm.org.apache.spark.util.Utils.classIsLoadable(name))

    @property
    def default_files(self) -> str:
        return str(self.context._jsc.hadoopConfiguration().get("fs.defaultFS"))

    def setting(self, name: str, default: str) -> str:
        return str(self.context.getConf().get(name, default))

    def run_task(self, function: Callable[[Any], Any], argument: Any) -> Any:
        return self.context.parallelize([argument], 1).map(function).first()

    def on_every_core(self, function: Callable[[Any], Any]) -> None:
        self.context.parallelize(range(self.cores), self.cores).foreach(function)

    def listen(self, listener: StreamingQueryListener) -> None:
        self.session.streams.addListener(listener)

    def listen_for_ends(self, listener: StreamingQueryListener) -> None:
        self._listen_through(_OnlyEnds(listener), listener)

    def listen_to_reports(self, listener: StreamingQueryListener) -> None:
        self._listen_through(_AsText(listener), listener)

    def _listen_through(
        self, wrapper: JStreamingQueryListener, listener: StreamingQueryListener
    ) -> None:
        """Add a listener that hears of Java's events through a wrapper."""
        from pyspark import java_gateway

        started: Any = java_gateway.ensure_callback_server_started
        started(self.context._gateway)
        java = self.context._jvm.org.apache.spark.sql.streaming
        listener._jlistenerobj = java.PythonStreamingQueryListenerWrapper(wrapper)
        self.listen(listener)

    def check_format(self, kind: str) -> None:
        sources = self.context._jvm.org.apache.spark.sql.execution.datasources.DataSource
        session: Any = self.session
        sources.lookupDataSource(kind, session._jsparkSession.sessionState().conf())

    def local_dirs(self) -> Sequence[Path]:
        if not self.is_local:
            return ()
        usual = self.context._jvm.java.lang.System.getProperty("java.io.tmpdir")
        told = os.environ.get(LOCAL_DIRS) or self.setting("spark.local.dir", usual)
        return [Path(place.strip()) for place in told.split(",") if place.strip()]


class _OnlyEnds(JStreamingQueryListener):
    """Leaves reports of batches unread.

    Reading one takes hundreds of calls to Java, a tenth of the processor time of a small batch.
    """

    def onQueryProgress(self, jevent: Any) -> None:
        """Nothing to do."""

    def onQueryIdle(self, jevent: Any) -> None:
        """Nothing to do."""


class _AsText(JStreamingQueryListener):
    """Takes the report of a batch as one string."""

    def onQueryProgress(self, jevent: Any) -> None:
        """Pass it on."""
        listener: Any = self.pylistener
        listener.on_report(jevent.progress().json())

    def onQueryIdle(self, jevent: Any) -> None:
        """Nothing to do."""


class ConnectAccess(SessionAccess):
    """Through queries, as there is nothing else on Connect."""

    def check_format(self, kind: str) -> None:
        """Left to the query itself: a server is not asked what it knows."""

    @property
    def name(self) -> str:
        session: Any = self.session
        return str(session.session_id)

    @property
    def application(self) -> str:
        return f"{self.setting('spark.app.id', '')} {self.name}"

    @property
    def cores(self) -> int:
        if self.name not in _cores:
            # A range has as many partitions as tasks run at a time.
            part = self.session.range(MOST_CORES).select(F.spark_partition_id().alias("part"))
            last = part.agg(F.max("part")).first()
            _cores[self.name] = 1 if last is None else int(last[0]) + 1
        return _cores[self.name]

    @property
    def python(self) -> str | None:
        return None

    def setting(self, name: str, default: str) -> str:
        return str(self.session.conf.get(name, default))

    def run_task(self, function: Callable[[Any], Any], argument: Any) -> Any:
        def told(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            import json

            import pyarrow

            for _ in batches:
                said = json.dumps(function(argument))
                yield pyarrow.RecordBatch.from_pylist([{"said": said}])

        row = self.session.range(1, numPartitions=1).mapInArrow(told, "said string").first()
        return None if row is None else json.loads(row[0])

    def on_every_core(self, function: Callable[[Any], Any]) -> None:
        def run(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            for batch in batches:
                function(batch)
                yield batch

        tasks = self.session.range(self.cores, numPartitions=self.cores)
        tasks.mapInArrow(run, "id long").collect()

    def listen(self, listener: StreamingQueryListener) -> None:
        # The client's thread for events is as the thread that asks for it, and only a daemon's
        # lets the process end without `session.stop()`.
        adding = threading.Thread(
            target=self.session.streams.addListener, args=(listener,), daemon=True
        )
        adding.start()
        adding.join()
