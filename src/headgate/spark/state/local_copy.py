"""Local, memory-mapped copies of the state store's blobs, so that a batch reads almost nothing.

The state store is the only source of truth. Blobs are immutable and have unique names. A copy ends
in a checksum over its bytes, its name, and the checksum that the state store has for the blob; a
copy that is missing, corrupt or of another blob is fetched again. Without a writable disk there are
no copies, and every batch fetches what it needs.
"""

import contextlib
import mmap
import os
import re
import shutil
import stat
import struct
import uuid
import zlib
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa

from headgate.spark.state.blobs import from_blob, write_blob
from headgate.spark.state.local_files import local_folder, owned_folder

_TRAILER = struct.Struct("<4sI")
_MARK = b"HGLC"
_OURS = re.compile(r"\d{12}-[0-9a-f]{12}(\.[0-9a-f]{8})?")
"""What `new_name` makes, and unfinished files."""


def new_name(number: int) -> str:
    """A unique blob name that sorts by ``number``."""
    return f"{number:012d}-{uuid.uuid4().hex[:12]}"


class Stamp(NamedTuple):
    """Identifies a file, to detect that it was replaced or changed."""

    inode: int
    modified_ns: int
    size: int
    checksum: int
    """Of the blob in the state store, as it was asked for."""

    @classmethod
    def of(cls, found: os.stat_result, checksum: int) -> "Stamp":
        """The stamp of an open file."""
        return cls(found.st_ino, found.st_mtime_ns, found.st_size, checksum)


class Verified(NamedTuple):
    """A copy whose checksum was right; small ones stay mapped."""

    stamp: Stamp
    table: pa.Table | None


_verified: dict[Path, Verified] = {}
"""Copies that this process has verified: a gigabyte takes a quarter of a second."""
KEPT_BYTES = 1 << 18
"""A copy of no more than this stays mapped: opening it takes longer than reading it, and streams of
small batches have a hundred. Whether it has changed is still asked whenever it is read."""
MOST_KEPT = 512
"""Copies noted at most: a process may have served shards that it will not see again."""


class LocalCopy:
    """Copies of one shard's blobs, in the shard's own folder."""

    def __init__(self, operator: str, shard: int) -> None:
        self.shard = shard
        self._folder: Path | None = None
        with contextlib.suppress(OSError):
            self._folder = owned_folder(local_folder(operator) / f"shard-{shard}")

    def read(
        self, name: str, checksum: int, fetch: Callable[[], pa.Table]
    ) -> tuple[pa.Table, bool]:
        """Return the table of that name, memory-mapped, and whether it had to be fetched.

        ``checksum`` is that of the blob in the state store.
        """
        table = self._mapped(name, checksum)
        if table is not None:
            return table, False
        fetched = fetch()
        self.write(name, checksum, fetched)
        table = self._mapped(name, checksum)
        return fetched if table is None else table, True

    def write(self, name: str, checksum: int, table: pa.Table) -> None:
        """Write a copy, if possible; it appears under its name only when complete."""
        if self._folder is None:
            return
        unfinished = self._folder / f"{name}.{uuid.uuid4().hex[:8]}"
        try:
            with pa.OSFile(str(unfinished), "wb") as file:
                write_blob(table, file)
            unfinished.chmod(0o600)
            with unfinished.open("r+b") as file:
                found = _checksum(_map(file.fileno()), name, checksum)
                file.seek(0, os.SEEK_END)
                file.write(_TRAILER.pack(_MARK, found))
            _make_way(self._folder / name)
            unfinished.rename(self._folder / name)
        except (OSError, pa.ArrowException):  # e.g. no space; the state store has it
            with contextlib.suppress(OSError):
                unfinished.unlink()

    def keep_only(self, names: Iterable[str]) -> None:
        """Delete copies of blobs that are no longer in the state; leave other files alone.

        A file that is still mapped stays readable after it is unlinked.
        """
        if self._folder is None:
            return
        wanted = set(names)
        # Also those that another worker has deleted: mapped, they would take room on the disk.
        for path in [path for path in _verified if path.parent == self._folder]:
            if path.name not in wanted:
                del _verified[path]
        with contextlib.suppress(OSError):
            for path in list(self._folder.iterdir()):
                if path.name not in wanted and _OURS.fullmatch(path.name):
                    with contextlib.suppress(OSError):
                        path.unlink()

    def _mapped(self, name: str, checksum: int) -> pa.Table | None:
        """Map a copy and return its table; None if there is no valid copy."""
        if self._folder is None:
            return None
        path = self._folder / name
        known = _verified.get(path)
        if known is not None and known.table is not None and _is_unchanged(path, checksum, known):
            return known.table
        try:
            # Do not follow a link, and do not block on a pipe.
            handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        except OSError:
            return None
        try:
            found = os.fstat(handle)
            if not _is_our_file(found):
                return None
            whole = _map(handle)
        except (OSError, ValueError):
            return None
        finally:
            os.close(handle)
        stamp = Stamp.of(found, checksum)
        if (known is None or known.stamp != stamp) and not _is_right(whole, name, checksum):
            return None
        table = from_blob(whole.slice(0, whole.size - _TRAILER.size))
        if len(_verified) >= MOST_KEPT:
            _verified.clear()
        _verified[path] = Verified(stamp, table if found.st_size <= KEPT_BYTES else None)
        return table


def _is_unchanged(path: Path, checksum: int, known: Verified) -> bool:
    """Whether the file of this name is still the one that was verified."""
    try:
        found = os.lstat(path)
    except OSError:
        return False
    return _is_our_file(found) and Stamp.of(found, checksum) == known.stamp


def _is_our_file(found: os.stat_result) -> bool:
    """Whether it is a regular, non-empty file that we own and others cannot write."""
    private = not stat.S_IMODE(found.st_mode) & 0o022
    ours = stat.S_ISREG(found.st_mode) and found.st_uid == os.geteuid() and private
    return ours and found.st_size > _TRAILER.size


def _map(handle: int) -> pa.Buffer:
    """Memory-map an open file."""
    return pa.py_buffer(mmap.mmap(handle, 0, access=mmap.ACCESS_READ))


def _is_right(whole: pa.Buffer, name: str, checksum: int) -> bool:
    end = whole.size - _TRAILER.size
    mark, noted = _TRAILER.unpack(whole.slice(end).to_pybytes())
    return bool(mark == _MARK and noted == _checksum(whole.slice(0, end), name, checksum))


def _checksum(content: pa.Buffer, name: str, checksum: int) -> int:
    """Checksum over a copy's bytes, its name and its blob's checksum."""
    return zlib.crc32(content, zlib.crc32(f"{name} {checksum}".encode()))


def _make_way(path: Path) -> None:
    """Remove a folder that has a copy's name: everything in our folder is ours."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
