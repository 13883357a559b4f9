"""Sets the Python that Spark's workers run, or checks it if it is configured elsewhere.

A worker that cannot import headgate fails a query with a hundred lines of Java trace; this check
reports it in one line.
"""

import os
import shutil
import sys
from importlib import import_module
from typing import Any

from py4j.protocol import Py4JJavaError
from pyspark import SparkContext
from pyspark.errors import PySparkException

from headgate.spec import SpecError

NEEDED = ("headgate", "numpy", "pandas", "pyarrow", "scipy")
"""What a worker imports."""
ENVIRONMENT, SETTING = "PYSPARK_PYTHON", "spark.pyspark.python"
_checked: set[tuple[str | None, str]] = set()
"""Applications already checked, each with the Python of its workers."""


def check_workers(context: SparkContext) -> None:
    """Raise unless Spark's workers can run Headgate.

    Local workers run the current Python, unless ``PYSPARK_PYTHON`` or ``spark.pyspark.python`` says
    otherwise: Spark's default is the first ``python3`` on PATH. Any other Python is tested, once
    per session, by a task that imports Headgate.
    """
    if is_local(context.master):
        asked = os.environ.get(ENVIRONMENT) or context.getConf().get(SETTING)
        context.pythonExec = asked or sys.executable
        if _is_this_python(context.pythonExec):
            return
    tried = (context.applicationId, context.pythonExec)
    if tried not in _checked:
        _try_worker(context)
        _checked.add(tried)


def is_local(master: str | None) -> bool:
    """Whether workers are local processes, started from this one.

    Examples
    --------
    >>> [is_local(master) for master in ("local", "local[2]", "local-cluster[2,1,1024]", "yarn")]
    [True, True, False, False]
    """
    return master is not None and (master == "local" or master.startswith("local["))


def _is_this_python(given: str) -> bool:
    """Whether a command is the current Python.

    Two environments may share an interpreter, so links are not followed: a Python is the same only
    if it is the same file in the same folder.
    """
    found = shutil.which(given)
    if found is None or not sys.executable:
        return False
    folders = {os.path.dirname(os.path.abspath(path)) for path in (found, sys.executable)}
    return len(folders) == 1 and os.path.samefile(found, sys.executable)


def _try_worker(context: SparkContext) -> None:
    try:
        found = context.parallelize([NEEDED], 1).map(_look_around()).first()
    except (Py4JJavaError, PySparkException) as error:
        raise SpecError(
            f"Spark's workers cannot start {context.pythonExec} as this Python "
            f"({_python(sys.version)}): {_cause(error)}. {_remedy(context)}"
        ) from error
    where = f"Spark's workers run {found['executable']} (Python {_python(found['version'])})"
    if found["missing"]:
        raise SpecError(f"{where}, which has no {', '.join(found['missing'])}. {_remedy(context)}")
    if found["headgate"] != _own_version():
        raise SpecError(
            f"{where} with headgate {found['headgate']}, and this is headgate {_own_version()}. "
            f"{_remedy(context)}"
        )


def _look_around() -> Any:
    """Build the function with which a worker reports its environment.

    It is built inside a function so that it is pickled by value: headgate may be missing on the
    worker, and a module-level function would be pickled by name.
    """

    def look(names: tuple[str, ...]) -> dict[str, Any]:
        import importlib.util
        import sys

        missing = [name for name in names if importlib.util.find_spec(name) is None]
        return {
            "executable": sys.executable,
            "version": sys.version,
            "missing": missing,
            "headgate": None if missing else importlib.import_module("headgate").__version__,
        }

    return look


def _remedy(context: SparkContext) -> str:
    if is_local(context.master):
        return (
            f'Before the session starts: os.environ["{ENVIRONMENT}"] = "{sys.executable}", or '
            f"leave {ENVIRONMENT} and {SETTING} out"
        )
    return (
        f"Install headgate[spark]=={_own_version()} there, or set {ENVIRONMENT}, before the "
        f"session starts, to a Python that has it on every machine"
    )


def _own_version() -> str:
    return str(import_module("headgate").__version__)


def _python(version: str) -> str:
    """The version number in a ``sys.version``."""
    return version.split()[0]


def _cause(error: Exception) -> str:
    """The line of a long Java error text that states the cause."""
    telling = ("Cannot run program", "PYTHON_VERSION_MISMATCH", "Error:", "Exception:")
    lines = [line.strip() for line in str(error).splitlines()]
    for sign in telling:
        for line in lines:
            if sign in line and not line.startswith("at "):
                return line[:300]
    return lines[0][:300] if lines else type(error).__name__
