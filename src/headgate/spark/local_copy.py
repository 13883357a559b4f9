"""Local, memory-mapped copies of what is in the state store, so that a batch reads almost nothing.

The state store is the only truth. Blobs never change once written and have names unlike any other,
so a copy under the right name is right; a missing one is fetched and kept.
"""

import contextlib
import os
import shutil
import tempfile
import time
import uuid
from collections.abc import Callable, Iterable
from pathlib import Path

import pyarrow as pa

from headgate.spark.blobs import from_blob, write_blob

FORGOTTEN_AFTER_SECONDS = 24 * 3600


def new_name(number: int) -> str:
    """A blob name unlike any other, that sorts by ``number``."""
    return f"{number:012d}-{uuid.uuid4().hex[:12]}"


class LocalCopy:
    """Copies of one shard's blobs in a directory of its own."""

    def __init__(self, operator: str, shard: int) -> None:
        self._root = Path(tempfile.gettempdir()) / f"headgate-{os.getuid()}"
        self._folder = self._root / operator / str(shard)
        self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)

    def read(self, name: str, fetch: Callable[[], pa.Table]) -> tuple[pa.Table, bool]:
        """The table of that name, mapped, and whether it had to be fetched."""
        path = self._folder / name
        fetched = False
        if not path.exists():
            self.write(name, fetch())
            fetched = True
        with pa.memory_map(str(path)) as file:
            return from_blob(file.read_buffer()), fetched

    def write(self, name: str, table: pa.Table) -> None:
        """Keep a copy; visible under its name only when complete."""
        unfinished = self._folder / f"{name}.{uuid.uuid4().hex[:8]}"
        with pa.OSFile(str(unfinished), "wb") as file:
            write_blob(table, file)
        unfinished.rename(self._folder / name)

    def keep_only(self, names: Iterable[str]) -> None:
        """Forget copies of blobs that are in the state no more.

        A file that is mapped somewhere stays readable there after it is unlinked.
        """
        wanted = set(names)
        for path in self._folder.iterdir():
            if path.name not in wanted:
                path.unlink(missing_ok=True)


def forget_old_operators(but: str) -> None:
    """Remove the copies of queries that have not run for a day."""
    root = Path(tempfile.gettempdir()) / f"headgate-{os.getuid()}"
    if not root.is_dir():
        return
    for folder in root.iterdir():
        with contextlib.suppress(OSError):
            newest = max((path.stat().st_mtime for path in folder.rglob("*")), default=0.0)
            if folder.name != but and time.time() - newest > FORGOTTEN_AFTER_SECONDS:
                shutil.rmtree(folder, ignore_errors=True)
