"""A query's local folder on an executor, inside Spark's own local folders.

Spark tells its Python workers where its block manager keeps files (`spark.local.dir`, or the
cluster manager's setting); the folder names cannot be guessed, and Spark removes them when the
executor ends. Outside a worker, as in tests, each process has a new folder. No name is trusted: a
folder is ours only if we own it, no other user can access it, and it is not a link.
"""

import atexit
import contextlib
import os
import secrets
import shutil
import stat
import tempfile
import time
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
UNUSED_SECONDS = 86_400
"""Files of a query that had no task for so long are removed by the next query's."""
_private: dict[int, Path] = {}
"""By process: its own folder, where Spark tells none or none of its can be used."""


def local_folder(operator: str) -> Path:
    """The folder on this executor for the local files of this task's query.

    All tasks of one run of the query on the executor share it; other queries, runs and operators
    have their own. It is removed when the run ends, and created again if it is missing.

    Parameters
    ----------
    operator
        A unique name, such as that of `ShardPlan`.

    Examples
    --------
    >>> folder = local_folder("tested")
    >>> folder.is_dir(), oct(folder.stat().st_mode & 0o777)
    (True, '0o700')
    >>> folder == local_folder("tested")
    True
    """
    name = f"{operator}-{run_of_task()}"
    for root in (*_roots(), None):
        with contextlib.suppress(OSError):
            place = root or _private_root()
            if not (place / name).exists():
                forget_unused(place, name)
            folder = owned_folder(place / name)
            os.utime(folder)
            return folder
    return owned_folder(_private_root() / name)


def owned_folder(path: Path) -> Path:
    """Return a folder that only we can access, creating it if needed.

    Anything else under that name, such as a link or another user's folder, is moved aside, which is
    safe because the parent folder is ours.
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
    """Whether it is a folder, not a link, that we own and no other user can access."""
    found = path.lstat()
    private = not stat.S_IMODE(found.st_mode) & 0o077
    return stat.S_ISDIR(found.st_mode) and found.st_uid == os.geteuid() and private


def run_of_task() -> str:
    """The query of this task, and its run, which changes with every start of the query."""
    context = TaskContext.get()
    if context is None:
        return "tested"
    query = context.getLocalProperty("sql.streaming.queryId")
    run = context.getLocalProperty("spark.jobGroup.id")  # Spark groups a run's jobs by its id
    return f"{_plain(query)}-{_plain(run)}"


def forget_run(query: str, run: str) -> None:
    """Remove the files of a query's run on this executor."""
    for root in _roots():
        for folder in root.glob(f"*-{_plain(query)}-{_plain(run)}"):
            shutil.rmtree(folder, ignore_errors=True)


def forget_unused(root: Path, name: str) -> None:
    """Remove the files of earlier runs of a query, and of queries that have long had no task.

    Where nobody tells workers that a query has ended (Spark Connect), this bounds what is left of
    it. A query that comes back after so long finds what it needs in the state store.
    """
    query, run = _query_and_run(name)
    for folder in root.iterdir():
        with contextlib.suppress(OSError):
            other, ran = _query_and_run(folder.name)
            earlier = other == query and ran != run
            unused = time.time() - folder.stat().st_mtime > UNUSED_SECONDS
            if not folder.name.startswith(ALIVE) and is_ours(folder) and (earlier or unused):
                shutil.rmtree(folder, ignore_errors=True)


def _query_and_run(name: str) -> tuple[str, str]:
    """The parts of a folder's name, after the operator's."""
    rest = name.partition("-")[2]
    middle = len(rest) // 2  # both are ids of one length, with a dash between
    return rest[:middle], rest[middle:]


def forget_dead(beside: Path) -> None:
    """Remove the files of executors that were killed before Spark could clean up.

    ``beside`` is the folder in which Spark creates those of its block managers.
    """
    for root in (*beside.glob(f"blockmgr-*/{ROOT}"), *beside.glob(f"{ROOT}-*")):
        with contextlib.suppress(OSError):
            users = [path.name.removeprefix(ALIVE) for path in root.glob(f"{ALIVE}*")]
            if is_ours(root) and users and not any(map(_is_running, users)):
                shutil.rmtree(root, ignore_errors=True)


def _plain(name: str | None) -> str:
    """Make a run's name safe for a path: letters, digits and dashes."""
    return "".join(c for c in name or "none" if c.isascii() and (c.isalnum() or c == "-"))


def _roots() -> Iterator[Path]:
    """Our folders inside Spark's, of which the first is used; none outside a worker."""
    # Spark's other folders are used if the first is not writable.
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
    """Record that a process needs the folder; return whether that is new."""
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
    """Whether a process is a zombie: ended, but not yet reaped by its parent."""
    try:
        return status.read_bytes().rpartition(b")")[2].split()[:1] == [b"Z"]
    except OSError:  # not every system has /proc
        return False
