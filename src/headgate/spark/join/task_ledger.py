"""Processor time that the tasks of one streaming join took on this machine.

Rows pass three Python tasks: packed, joined, unpacked, each perhaps in another process. Each
process keeps a small file a task of what it took so far, and the join's shards read what all of
them add up to. On another executor there is another ledger: a shard knows of the tasks beside it.
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
"""By file, what this process has written."""
_last: tuple[Path, float] | None = None
"""Of whose ledger this process had a task last, and its processor time by the end of it."""


@dataclass(frozen=True)
class Ledger:
    """What the tasks of an operator took, in the run of the query that this task is of.

    Examples
    --------
    >>> ledger = Ledger("tested-ledger")
    >>> before = ledger.total("join")
    >>> ledger.add("join", 0.25)
    >>> ledger.total("join") - before
    0.25
    """

    operator: str

    @contextmanager
    def timing(self, task: str) -> Iterator[None]:
        """Add the processor time of what is done within, and around it by the worker.

        Workers take one task after the other, and clear up after each. What a process did since a
        task of the same operator is counted in; a user's own Python function, if it ran there in
        between, too.
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
        """Note that this process has spent so much more on a task."""
        path = self._folder() / f"{task}.{os.getpid()}"
        _taken[path] = _taken.get(path, 0.0) + seconds
        unfinished = path.with_name(f".{path.name}")
        with suppress(OSError):  # a full disk is no reason to end a query
            unfinished.write_text(repr(_taken[path]))
            unfinished.replace(path)

    def total(self, task: str) -> float:
        """What all processes have spent on a task."""
        return sum((_seconds(path) for path in self._files(task)), start=0.0)

    def ended(self, task: str) -> float:
        """When a task last ended, by the clock on the wall; 0 where none has."""
        return max((path.stat().st_mtime for path in self._files(task)), default=0.0)

    def _files(self, task: str) -> list[Path]:
        """One a process; what is not ours is passed over."""
        found = self._folder().glob(f"{task}.*")
        return [path for path in found if _is_ours(path, task)]

    def _folder(self) -> Path:
        return owned_folder(local_folder(self.operator) / "ledger")


def _is_ours(path: Path, task: str) -> bool:
    """Whether a process of ours keeps what it took in this file."""
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
