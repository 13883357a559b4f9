"""Buffers tables in memory up to a limit, and beyond it in an unnamed, memory-mapped file.

Tables in the file can be read like any other; the operating system keeps in memory what fits. The
file has no name, so nothing remains of it when the process ends, even by a crash.
"""

import mmap
import os
import tempfile
from collections.abc import Iterable
from typing import IO

import pyarrow as pa

from headgate.spark.state.blobs import from_blob, write_blob

MEMORY_BYTES = 1 << 25
"""What tables may take together in memory."""
ALIGNED = 64
"""Where blobs begin in the file, so that their columns can be read in place."""


def task_folder() -> str:
    """The folder for tasks' temporary files: the first of Spark's local folders."""
    return os.environ.get("SPARK_LOCAL_DIRS", tempfile.gettempdir()).split(",")[0]


def gathered(pieces: Iterable[pa.Table]) -> pa.Table:
    """Combine one or more pieces into one table, in a mapped file if it is large."""
    buffer = TableBuffer()
    for piece in pieces:
        buffer.add(piece)
    return pa.concat_tables(buffer.tables())


class TableBuffer:
    """Tables in the order in which they were added."""

    def __init__(self) -> None:
        self._tables: list[pa.Table] = []
        self._bytes = 0
        self._file: IO[bytes] | None = None
        self._sink: pa.NativeFile | None = None
        self._spilled: list[tuple[int, int]] = []
        """Where the blobs of spilled tables begin in the file, and how long they are."""

    def add(self, table: pa.Table) -> None:
        """Append a table."""
        self._tables.append(table)
        self._bytes += table.nbytes
        if self._bytes > MEMORY_BYTES:
            self._spill()

    def tables(self) -> list[pa.Table]:
        """All tables; nothing can be added afterwards."""
        if self._file is None:
            return self._tables
        self._spill()
        with self._file as file:
            file.flush()
            mapped = pa.py_buffer(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
        return [from_blob(mapped.slice(first, length)) for first, length in self._spilled]

    def _spill(self) -> None:
        if self._file is None:
            self._file = tempfile.TemporaryFile(dir=task_folder())  # noqa: SIM115 - see `tables`
            self._sink = pa.PythonFile(self._file, "w")
        for table in self._tables:
            first = self._file.seek(-(-self._file.tell() // ALIGNED) * ALIGNED)
            write_blob(table, self._sink)
            self._spilled.append((first, self._file.tell() - first))
        self._tables, self._bytes = [], 0
