"""The environment of Headgate's own Python workers: they start in a tenth of the usual time.

Spark keeps a pool of workers for each environment, so this changes nothing for other functions of
the same session.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pyspark.sql import SparkSession

from headgate.spark.session_access import access_to

START = Path(__file__).parent / "worker_start"
"""A folder with what workers run first; where a cluster's machines have none, nothing is run."""
_PATH = "PYTHONPATH"
_TRACEBACK = "SPARK_SIMPLIFIED_TRACEBACK"
_TRACEBACK_SETTING = "spark.sql.execution.pyspark.udf.simplifiedTraceback.enabled"


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
    environment[_PATH] = os.pathsep.join(filter(None, (str(START), before.get(_PATH))))
    if session.conf.get(_TRACEBACK_SETTING) == "true":
        # Spark sets this for some functions and not for others, and would keep two pools.
        environment[_TRACEBACK] = "1"
    try:
        yield
    finally:
        environment.clear()
        environment.update(before)
