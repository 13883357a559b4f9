"""The environment of Headgate's own Python workers: they start in a tenth of the usual time.

Spark keeps a pool of workers for each environment, so this changes nothing for other functions of
the same session.
"""

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from headgate.spark.session_access import access_to, spark_errors

START = Path(__file__).parent / "worker_start"
"""A folder with what workers run first; where a cluster's machines have none, nothing is run."""
_PATH = "PYTHONPATH"
_TRACEBACK = "SPARK_SIMPLIFIED_TRACEBACK"
_TRACEBACK_SETTING = "spark.sql.execution.pyspark.udf.simplifiedTraceback.enabled"
_MEMORY = {
    "ARROW_DEFAULT_MEMORY_POOL": "system",
    "MALLOC_MMAP_THRESHOLD_": str(1 << 25),
    "MALLOC_TRIM_THRESHOLD_": str(1 << 28),
    "MALLOC_TOP_PAD_": str(1 << 24),
}
"""Lets workers keep up to 256 MB that a batch has freed for the next one. Given back and asked for
again it comes in pages that the kernel clears one by one, which took a fifth of a large batch."""
_started: set[str] = set()
"""Applications whose workers have been started."""


@contextmanager
def own_workers(session: SparkSession) -> Iterator[None]:
    """Functions handed to Spark inside this context run in Headgate's own workers.

    A Connect server gives all functions the same workers, which start in the usual time.
    """
    environment = access_to(session).environment
    if environment is None:
        yield
        return
    before = dict(environment)
    environment.update({name: value for name, value in _MEMORY.items() if name not in os.environ})
    environment[_PATH] = os.pathsep.join(filter(None, (str(START), before.get(_PATH))))
    if session.conf.get(_TRACEBACK_SETTING) == "true":
        # Spark sets this for some functions and not for others, and would keep two pools.
        environment[_TRACEBACK] = "1"
    try:
        yield
    finally:
        environment.clear()
        environment.update(before)


def start_workers(session: SparkSession) -> threading.Thread | None:
    """Start Headgate's Python workers now, in the background and once an application.

    They load modules while the query is planned, and not while its first batch waits.
    """
    access = access_to(session)
    if access.environment is None or access.application in _started:
        return None
    _started.add(access.application)
    with own_workers(session):
        tasks = session.range(access.cores, numPartitions=access.cores)
        started = tasks.mapInArrow(_passed_on, "id long")
    thread = threading.Thread(target=_run, args=(started,), daemon=True)
    thread.start()
    return thread


def _passed_on(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    return batches


def _run(frame: DataFrame) -> None:
    with suppress(*spark_errors(), OSError):  # the query reports what is wrong; a session may end
        frame.write.format("noop").mode("overwrite").save()
