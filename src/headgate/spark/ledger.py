"""Processor time that the tasks of one streaming join took on this machine.

Rows pass three Python tasks: packed, joined, unpacked, each perhaps in another process. Each
process keeps a small file a task of what it took so far, and the join's shards read what all of
them add up to. On another machine there is another ledger: a shard knows of the tasks beside it.
"""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from time import process_time

from pyspark import TaskContext

PACK, UNPACK = "pack", "unpack"
"""The tasks that serve all shards."""
_taken: dict[Path, float] = {}
"""By file, what this process has written."""
_last: tuple[str, float] | None = None
"""The operator whose task this process had last, and its processor time by the end of it."""


@dataclass(frozen=True)
class Ledger:
    """What the tasks of an operator took, by task.

    Examples
    --------
    >>> ledger = Ledger("tested-ledger")
    >>> before = ledger.total("join")
    >>> ledger.add("join", 0.25)
    >>> ledger.total("join") - before
    0.25
    """

    operator: str

    @classmethod
    def of_task(cls, operator: str) -> "Ledger":
        """The ledger of the query that this task is of."""
        return cls(operator_of_query(operator))

    @contextmanager
    def timing(self, task: str) -> Iterator[None]:
        """Add the processor time of what is done within, and around it by the worker.

        Workers take one task after the other, and clear up after each. What a process did since a
        task of the same operator is counted in; a user's own Python function, if it ran there in
        between, too.
        """
        began = process_time()
        if _last is not None and _last[0] == self.operator:
            began = _last[1]
        try:
            yield
        finally:
            self._note_end(task, began)

    def _note_end(self, task: str, began: float) -> None:
        global _last
        ended = process_time()
        self.add(task, ended - began)
        _last = (self.operator, ended)

    def add(self, task: str, seconds: float) -> None:
        """Note that this process has spent so much more on a task."""
        path = self._folder() / f"{task}.{os.getpid()}"
        _taken[path] = _taken.get(path, 0.0) + seconds
        path.write_text(repr(_taken[path]))

    def total(self, task: str) -> float:
        """What all processes have spent on a task."""
        total = 0.0
        for path in self._folder().glob(f"{task}.*"):
            text = path.read_text()
            total += float(text) if text else 0.0  # one that is just being written may be empty
        return total

    def ended(self, task: str) -> float:
        """When a task last ended, by the clock on the wall; 0 where none has."""
        files = self._folder().glob(f"{task}.*")
        return max((path.stat().st_mtime for path in files), default=0.0)

    def _folder(self) -> Path:
        folder = Path(tempfile.gettempdir()) / f"headgate-{os.getuid()}" / self.operator / "ledger"
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        return folder


def operator_of_query(operator: str) -> str:
    """A name for the local files of this task's query: two of one DataFrame must not share them."""
    context = TaskContext.get()
    query = context.getLocalProperty("sql.streaming.queryId") if context else None
    return f"{operator}-{query or 'tested'}"
