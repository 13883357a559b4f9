"""The Python that Spark's workers run: set where that is ours to do, checked where it is not.

A worker that cannot import headgate ends a query in a hundred lines of Java; here it is one.
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

NEEDED = ("headgate", "numba", "numpy", "pandas", "pyarrow", "scipy")
"""What a worker imports."""
ENVIRONMENT, SETTING = "PYSPARK_PYTHON", "spark.pyspark.python"
_checked: set[tuple[str | None, str]] = set()
"""Applications, and which Python their workers were found to be right with."""


def check_workers(context: SparkContext) -> None:
    """Workers can run Headgate; raises where they cannot.

    On this machine they run the Python that runs this, unless ``PYSPARK_PYTHON`` or
    ``spark.pyspark.python`` says otherwise: Spark alone would take the first ``python3`` on PATH.
    Any other Python is tried, once a session, by a task that imports Headgate.
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
    """Whether workers are processes of this machine, started from this one.

    Examples
    --------
    >>> [is_local(master) for master in ("local", "local[2]", "local-cluster[2,1,1024]", "yarn")]
    [True, True, False, False]
    """
    return master is not None and (master == "local" or master.startswith("local["))


def _is_this_python(given: str) -> bool:
    """Whether a command is the Python that runs this.

    Two environments may share an interpreter, so links are not followed: a Python is the same if
    it is the same file in the same folder.
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
    """What a worker does to find out what it has; it travels whole, since headgate may be missing.

    Made by a function: one that has a name of its own would travel by that name.
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
    """The number of a ``sys.version``."""
    return version.split()[0]


def _cause(error: Exception) -> str:
    """The line that says what happened, of a long text of Java's."""
    telling = ("Cannot run program", "PYTHON_VERSION_MISMATCH", "Error:", "Exception:")
    lines = [line.strip() for line in str(error).splitlines()]
    for sign in telling:
        for line in lines:
            if sign in line and not line.startswith("at "):
                return line[:300]
    return lines[0][:300] if lines else type(error).__name__
