"""Records the processor time of one streaming join's tasks on this machine.

Rows pass through three Python tasks (pack, join, unpack), possibly in different processes. Each
process keeps a small file per task with its total so far, and the join's shards read the sum. Every
executor has its own ledger: a shard sees only the tasks on the same executor.
"""

import math
import os
import re
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from time import process_time

from headgate.spark.state.local_files import local_folder, owned_folder

PACK, UNPACK = "pack", "unpack"
"""The tasks that serve all shards."""
_taken: dict[Path, float] = {}
"""Seconds that this process has written, by file."""
_last: tuple[Path, float] | None = None
"""The ledger of this process's last task, and the process's CPU time at its end."""


@dataclass(frozen=True)
class TaskLedger:
    """Processor time of an operator's tasks in this task's run of the query, in seconds.

    Examples
    --------
    >>> ledger = TaskLedger("tested-ledger")
    >>> before = ledger.total("join")
    >>> ledger.add("join", 0.25)
    >>> ledger.total("join") - before
    0.25
    """

    operator: str

    @contextmanager
    def timing(self, task: str) -> Iterator[None]:
        """Add the processor time spent inside the context, and by the worker around it.

        Workers run one task after another and clean up after each. Everything the process did
        since its last task of the same operator is included, even a user's own Python function
        that ran in between.
        """
        began = process_time()
        folder = self._folder()
        if _last is not None and _last[0] == folder:
            began = _last[1]
        try:
            yield
        finally:
            self._note_end(task, began, folder)

    def _note_end(self, task: str, began: float, folder: Path) -> None:
        global _last
        ended = process_time()
        self.add(task, ended - began)
        _last = (folder, ended)

    def add(self, task: str, seconds: float) -> None:
        """Add seconds that this process spent on a task."""
        path = self._folder() / f"{task}.{os.getpid()}"
        _taken[path] = _taken.get(path, 0.0) + seconds
        unfinished = path.with_name(f".{path.name}")
        with suppress(OSError):  # a full disk must not fail the query
            unfinished.write_text(repr(_taken[path]))
            unfinished.replace(path)

    def total(self, task: str) -> float:
        """Seconds that all processes have spent on a task."""
        return sum((_seconds(path) for path in self._files(task)), start=0.0)

    def ended(self, task: str) -> float:
        """Wall-clock time at which a task last ended; 0 if none has."""
        return max((path.stat().st_mtime for path in self._files(task)), default=0.0)

    def _files(self, task: str) -> list[Path]:
        """The files, one per process; files that are not ours are ignored."""
        found = self._folder().glob(f"{task}.*")
        return [path for path in found if _is_ours(path, task)]

    def _folder(self) -> Path:
        return owned_folder(local_folder(self.operator) / "ledger")


def _is_ours(path: Path, task: str) -> bool:
    """Whether this file was written by one of our processes."""
    return bool(
        re.fullmatch(re.escape(task) + r"\.[0-9]+", path.name)
        and stat.S_ISREG(path.lstat().st_mode)
    )


def _seconds(path: Path) -> float:
    try:
        seconds = float(path.read_bytes()[:100])
    except (OSError, ValueError):
        return 0.0
    return seconds if math.isfinite(seconds) and seconds > 0 else 0.0
