"""Where a query keeps files on an executor: in a folder of ours among Spark's own local files.

Spark tells its Python workers in which folders its block manager keeps files (`spark.local.dir`,
or what the cluster manager says); their names cannot be foretold, and Spark removes them when the
executor ends. Outside a worker, as in tests, it is a new folder for the process. Nothing is trusted
for its name: a folder is ours if we own it, nobody else may look into it, and it is no link.
"""

import atexit
import contextlib
import os
import secrets
import shutil
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path

from pyspark import TaskContext

LOCAL_DIRS = "SPARK_LOCAL_DIRS"
"""The environment variable by which Spark tells its workers."""
ROOT = "headgate"
"""Our folder in each of Spark's."""
ALIVE = "alive-"
"""A file so named, with the id of a process, says that the folder is in use while that lives."""
ASIDE = "aside-"
"""What was in the way of a folder of ours, and is not ours, is named so."""
_private: dict[int, Path] = {}
"""By process: its own folder, where Spark tells none or none of its can be used."""


def local_folder(operator: str) -> Path:
    """The folder on this executor for the local files of this task's query.

    All tasks of one run of the query on the executor share it; another query, another run and
    another operator have others. It is removed when the run ends, and is made anew if it is gone.

    Parameters
    ----------
    operator
        A name unlike any other's, such as that of `ShardPlan`.

    Examples
    --------
    >>> folder = local_folder("tested")
    >>> folder.is_dir(), oct(folder.stat().st_mode & 0o777)
    (True, '0o700')
    >>> folder == local_folder("tested")
    True
    """
    name = f"{operator}-{run_of_task()}"
    for root in _roots():
        with contextlib.suppress(OSError):
            return owned_folder(root / name)
    return owned_folder(_private_root() / name)


def owned_folder(path: Path) -> Path:
    """A folder that is ours alone, made where it is not there.

    What is there and not ours, as a link or another user's folder, is put aside: the folder above
    is ours, so that is for us to decide.
    """
    for _ in range(2):
        with contextlib.suppress(FileExistsError):
            path.mkdir(mode=0o700)
        if is_ours(path):
            return path
        os.rename(path, path.with_name(f"{ASIDE}{secrets.token_hex(8)}"))
    path.mkdir(mode=0o700)
    return path


def is_ours(path: Path) -> bool:
    """Whether it is a folder, no link, that we own and nobody else may look into."""
    found = path.lstat()
    private = not stat.S_IMODE(found.st_mode) & 0o077
    return stat.S_ISDIR(found.st_mode) and found.st_uid == os.geteuid() and private


def run_of_task() -> str:
    """The query that this task is of, and its run: a query that is started again has another."""
    context = TaskContext.get()
    if context is None:
        return "tested"
    query = context.getLocalProperty("sql.streaming.queryId")
    run = context.getLocalProperty("spark.jobGroup.id")  # Spark groups a run's jobs by its id
    return f"{_plain(query)}-{_plain(run)}"


def forget_run(query: str, run: str) -> None:
    """Remove what a run of a query has kept on this executor."""
    for root in _roots():
        for folder in root.glob(f"*-{_plain(query)}-{_plain(run)}"):
            shutil.rmtree(folder, ignore_errors=True)


def forget_dead(beside: Path) -> None:
    """Remove what executors left that were killed before Spark could remove it.

    ``beside`` is the folder in which Spark makes those of its block managers.
    """
    for root in (*beside.glob(f"blockmgr-*/{ROOT}"), *beside.glob(f"{ROOT}-*")):
        with contextlib.suppress(OSError):
            users = [path.name.removeprefix(ALIVE) for path in root.glob(f"{ALIVE}*")]
            if is_ours(root) and users and not any(map(_is_running, users)):
                shutil.rmtree(root, ignore_errors=True)


def _plain(name: str | None) -> str:
    """The name of a run as part of a path: letters, digits and dashes."""
    return "".join(c for c in name or "none" if c.isascii() and (c.isalnum() or c == "-"))


def _roots() -> Iterator[Path]:
    """Our folders among Spark's, the first of which is used; none outside a worker."""
    # Spark's other folders come into play where the first cannot be written to.
    for place in filter(None, os.environ.get(LOCAL_DIRS, "").split(",")):
        with contextlib.suppress(OSError):
            root = owned_folder(Path(place) / ROOT)
            # The daemon, or the executor, that started this worker lives as long as the executor.
            if _mark_alive(root, os.getppid()):
                forget_dead(Path(place).parent)
            yield root


def _private_root() -> Path:
    root = _private.get(os.getpid())
    if root is None or not root.is_dir():
        root = Path(tempfile.mkdtemp(prefix=f"{ROOT}-"))
        _private[os.getpid()] = root
        _mark_alive(root, os.getpid())
        atexit.register(shutil.rmtree, root, ignore_errors=True)
        forget_dead(root.parent)
    return root


def _mark_alive(root: Path, process: int) -> bool:
    """Note that a process needs the folder; whether that is new."""
    mark = root / f"{ALIVE}{process}"
    new = not mark.exists()
    if new:
        mark.touch(mode=0o600)
    return new


def _is_running(process: str) -> bool:
    if not process.isdecimal():
        return False
    try:
        os.kill(int(process), 0)
    except PermissionError:
        return True
    except (ProcessLookupError, OverflowError):
        return False
    return not _has_ended(Path("/proc") / process / "stat")


def _has_ended(status: Path) -> bool:
    """Whether a process is only waiting for its parent to hear of its end."""
    try:
        return status.read_bytes().rpartition(b")")[2].split()[:1] == [b"Z"]
    except OSError:  # not every system has such files
        return False
