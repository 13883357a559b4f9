"""Sets the Python that Spark's workers run, or checks it if it is configured elsewhere.

A worker that cannot import headgate fails a query with a hundred lines of Java trace; this check
reports it in one line.
"""

import os
import shutil
import sys
import warnings
from importlib import import_module
from typing import Any

from pyspark.sql import SparkSession

from headgate.spark.session_access import SessionAccess, access_to, spark_errors
from headgate.spec import SpecError

NEEDED = ("headgate", "numpy", "pandas", "pyarrow", "scipy", "google.protobuf")
"""What a worker imports."""
ENVIRONMENT, SETTING = "PYSPARK_PYTHON", "spark.pyspark.python"
OF_THE_SESSION = "spark.sql.execution.pyspark.python"
"""Names the workers' Python for one session, also on Connect."""
_checked: set[tuple[str, str | None]] = set()
"""Applications already checked, each with the Python of its workers."""


def check_workers(session: SparkSession) -> None:
    """Raise unless Spark's workers can run Headgate.

    Local workers run the current Python, unless ``spark.pyspark.python`` or ``PYSPARK_PYTHON`` says
    otherwise: Spark's default is the first ``python3`` on PATH. Any other Python, and that of a
    Connect server, is tested, once per session, by a task that imports Headgate.
    """
    access = access_to(session)
    if access.python is not None:
        # Of the two only spark-submit heeds the setting; a session started from Python does not.
        asked = access.setting(SETTING, "") or os.environ.get(ENVIRONMENT, "")
        if access.is_local:
            access.set_python(asked or sys.executable)
            if _is_this_python(access.python):
                return
        elif asked:
            access.set_python(asked)
    tried = (access.application, access.python)
    if tried not in _checked:
        _try_worker(access)
        _checked.add(tried)


def check_stream_workers(session: SparkSession) -> None:
    """`check_workers`; raise also unless the driver has the workers' Python.

    Spark starts it there, too, to ask for the state variables of a stream; a path in an archive
    (``environment/bin/python``) is found only if the archive is unpacked in the driver's folder.
    """
    check_workers(session)
    access = access_to(session)
    if access.python is not None:
        check_driver_has(access.python)
    elif asked := access.setting(OF_THE_SESSION, ""):
        warnings.warn(
            f"{OF_THE_SESSION} is {asked}, and on Connect streams with state run the server's own "
            f"Python all the same (Spark 4.3): headgate must be installed there, too",
            stacklevel=4,
        )


def check_driver_has(python: str) -> None:
    """Raise unless this command can be run from where the driver started."""
    if shutil.which(python) is not None:
        return
    folder = python.split("/")[0] or "environment"
    raise SpecError(
        f"the driver starts the workers' Python as well, to ask for a stream's state, and {python} "
        f"is not there (looked from {os.getcwd()}): unpack the archive where the driver starts "
        f"(mkdir {folder} && tar -xzf env.tar.gz -C {folder}), use deploy mode cluster, or name a "
        f"Python that driver and executors both have"
    )


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


def _try_worker(access: SessionAccess) -> None:
    try:
        found = access.run_task(_look_around(), NEEDED)
    except spark_errors() as error:
        which = access.python or "the server's Python"
        raise SpecError(
            f"Spark's workers cannot start {which} as this Python "
            f"({_python(sys.version)}): {_cause(error)}. {_remedy(access)}"
        ) from error
    where = f"Spark's workers run {found['executable']} (Python {_python(found['version'])})"
    if found["missing"]:
        raise SpecError(f"{where}, which has no {', '.join(found['missing'])}. {_remedy(access)}")
    if found["headgate"] != _own_version():
        raise SpecError(
            f"{where} with headgate {found['headgate']}, and this is headgate {_own_version()}. "
            f"{_remedy(access)}"
        )


def _look_around() -> Any:
    """Build the function with which a worker reports its environment.

    It is built inside a function so that it is pickled by value: headgate may be missing on the
    worker, and a module-level function would be pickled by name.
    """

    def look(names: tuple[str, ...]) -> dict[str, Any]:
        import importlib.util
        import sys

        def is_missing(name: str) -> bool:
            try:
                return importlib.util.find_spec(name) is None
            except ModuleNotFoundError:  # of the package that it is part of
                return True

        missing = [name for name in names if is_missing(name)]
        return {
            "executable": sys.executable,
            "version": sys.version,
            "missing": missing,
            "headgate": None if missing else importlib.import_module("headgate").__version__,
        }

    return look


def _remedy(access: SessionAccess) -> str:
    if access.is_local and access.python is not None:
        return (
            f'Before the session starts: os.environ["{ENVIRONMENT}"] = "{sys.executable}", or '
            f"leave {ENVIRONMENT} and {SETTING} out"
        )
    if access.python is None:
        return (
            f"Install headgate[spark]=={_own_version()} where the Connect server's workers run, "
            f"and start the server with {ENVIRONMENT} or {SETTING} naming that Python, of "
            f"the same minor version as here ({_python(sys.version)})"
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
