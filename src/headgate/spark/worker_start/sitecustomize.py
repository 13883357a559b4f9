"""Makes Headgate's Python workers start quickly; Python runs this file when such a worker starts.

Spark puts PySpark as a zip file first on the path of every worker, and Python compiles modules from
a zip file anew in every process: a second for each. Where the zip file is part of an installed
PySpark, the installed modules are the same and compiled already, so they go first. And the process
that all workers are forked from loads what they need, once for all.

This folder is on the path of Headgate's own workers alone (`worker_environment.py`). It must not
fail, and must not hide another ``sitecustomize``.
"""

import os
import sys
from contextlib import suppress
from importlib.machinery import PathFinder
from importlib.util import module_from_spec

_ZIPPED = os.path.join("python", "lib", "")
_FORKED_FROM = "pyspark.daemon"
_LOADED_BY_WORKERS = (
    "pandas",
    "pyarrow.compute",
    "pyarrow.pandas_compat",
    "pyspark.worker",
    "pyspark.sql.pandas.serializers",
    "pyspark.sql.pandas.types",
    "pyspark.sql.streaming.proto.StateMessage_pb2",
    "pyspark.sql.streaming.stateful_processor_api_client",
    "headgate.spark.packing",
    "headgate.spark.join.join_processor",
)


def _installed_first() -> None:
    """Move the zip files of an installed PySpark behind the installed modules."""
    for path in [each for each in sys.path if each.endswith(".zip") and _ZIPPED in each]:
        package = path.partition(os.path.join("", _ZIPPED))[0].rstrip(os.sep)
        installed = os.path.basename(package) == "pyspark" and os.path.dirname(package) in sys.path
        if installed and os.path.exists(os.path.join(package, "__init__.py")):
            sys.path.remove(path)
            sys.path.append(path)


def _run_the_next() -> None:
    """Run the ``sitecustomize`` that would have been found without this one."""
    here = os.path.dirname(os.path.abspath(__file__))
    others = [path for path in sys.path if os.path.abspath(path) != here]
    found = PathFinder.find_spec("sitecustomize", others)
    if found is not None and found.loader is not None:
        found.loader.exec_module(module_from_spec(found))


def _preload() -> None:
    """Load what workers need, in the process that they are forked from."""
    if _FORKED_FROM not in sys.orig_argv:
        return
    for name in _LOADED_BY_WORKERS:
        with suppress(Exception):  # what cannot be loaded here is reported by who needs it
            __import__(name)


_installed_first()
_run_the_next()
_preload()
