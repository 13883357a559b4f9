"""Makes Headgate's Python workers start quickly; Python runs this file when such a worker starts.

Spark puts PySpark as a zip file, and a jar of its own, first on the path of every worker. Python
compiles modules from a zip file anew in every process, a second for each, and every task makes it
read the contents of both archives again, 30 ms. Where they are part of an installed PySpark, the
installed modules are the same and compiled already, so the archives are left out. And the process
that all workers are forked from loads what they need, once for all.

This folder is on the path of Headgate's own workers alone (`worker_environment.py`). It must not
fail, and must not hide another ``sitecustomize``.
"""

import gc
import os
import sys
from contextlib import suppress
from importlib.machinery import PathFinder
from importlib.util import module_from_spec

_ARCHIVES = (".zip", ".jar")
_INSIDE = ("jars", "lib", "python")
"""Folders of an installed PySpark with archives that Spark puts on the path."""
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
    """Let installed modules of PySpark be found, and not those in its archives."""
    for path in [each for each in sys.path if each.endswith(_ARCHIVES)]:
        package = os.path.dirname(path)
        while os.path.basename(package) in _INSIDE:
            package = os.path.dirname(package)
        installed = os.path.basename(package) == "pyspark" and os.path.dirname(package) in sys.path
        if installed and os.path.exists(os.path.join(package, "__init__.py")):
            sys.path.remove(path)
            sys.path_importer_cache.pop(path, None)
            if os.path.basename(path).startswith("py4j"):  # which may not be installed
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
    # Spark has workers collect garbage after every task; what is loaded here stays anyway.
    gc.collect()
    gc.freeze()


_installed_first()
_run_the_next()
_preload()
