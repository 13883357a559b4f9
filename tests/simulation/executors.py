"""Simulated executors: a folder of local copies each, a clock, a disk that may be full."""

import contextlib
import errno
import os
import random
import shutil
import time as real_time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pyarrow as pa

from headgate.spark.state import local_copy, local_files

DAY = 86_400


class Executor:
    """Where tasks run; its files outlive its workers, and it may lose them."""

    def __init__(self, root: Path, number: int) -> None:
        self.place = root / f"executor-{number}" / "blockmgr"
        self.place.mkdir(parents=True, exist_ok=True)
        self.clock_off = 0
        self.disk_is_full = False

    def copies(self) -> list[Path]:
        """Its local copies, in an order that does not depend on the disk."""
        found = self.place.glob("headgate/*/shard-*/*")
        return sorted(path for path in found if path.is_file())

    def files(self) -> dict[str, bytes]:
        """Its local copies with their places, to `restore` them elsewhere."""
        return {str(path.relative_to(self.place)): path.read_bytes() for path in self.copies()}

    def restore(self, files: dict[str, bytes]) -> None:
        """Put back what `files` gave."""
        for name, content in files.items():
            path = self.place / name
            folders = [path.parent, *path.parent.parents]
            for folder in reversed(folders[: folders.index(self.place)]):
                folder.mkdir(mode=0o700, exist_ok=True)
            path.write_bytes(content)
            path.chmod(0o600)

    def lose_files(self) -> None:
        """All of its files are gone."""
        shutil.rmtree(self.place / "headgate", ignore_errors=True)

    def cut_a_file(self, rng: random.Random) -> str | None:
        """Cut a copy short, as a disk does that loses its power."""
        return self._altered(rng, lambda data: data[: rng.randrange(len(data))])

    def flip_a_bit(self, rng: random.Random) -> str | None:
        """Alter a bit of a copy."""

        def flipped(data: bytes) -> bytes:
            at = rng.randrange(len(data))
            return data[:at] + bytes([data[at] ^ (1 << rng.randrange(8))]) + data[at + 1 :]

        return self._altered(rng, flipped)

    def swap_two(self, rng: random.Random) -> str | None:
        """Give two copies each other's names."""
        found = self.copies()
        if len(found) < 2:
            return None
        one, other = rng.sample(found, 2)
        aside = one.with_name("aside")
        one.rename(aside)
        other.rename(one)
        aside.rename(other)
        return f"{one.name} and {other.name}"

    def _altered(self, rng: random.Random, change: Callable[[bytes], bytes]) -> str | None:
        found = [path for path in self.copies() if path.stat().st_size]
        if not found:
            return None
        path = rng.choice(found)
        changed = change(path.read_bytes())
        # A new file: what a worker has mapped does not change under it.
        path.unlink()
        path.write_bytes(changed)
        path.chmod(0o600)
        return path.name

    @contextlib.contextmanager
    def at_work(self, run: str, names: random.Random) -> Iterator[None]:
        """Code inside runs on this executor, in this run of the query."""
        before = os.environ.get(local_files.LOCAL_DIRS)
        os.environ[local_files.LOCAL_DIRS] = str(self.place)
        clock = SimpleNamespace(time=lambda: real_time.time() + self.clock_off)
        unique = SimpleNamespace(
            uuid4=lambda: SimpleNamespace(hex=f"{names.getrandbits(128):032x}")
        )
        patches = (
            (local_files, "run_of_task", lambda: run),
            (local_files, "time", clock),
            (local_copy, "uuid", unique),
            (local_copy, "write_blob", self._write_blob),
        )
        kept = [(module, name, getattr(module, name)) for module, name, _ in patches]
        for module, name, value in patches:
            setattr(module, name, value)
        try:
            yield
        finally:
            for module, name, value in kept:
                setattr(module, name, value)
            if before is None:
                del os.environ[local_files.LOCAL_DIRS]
            else:
                os.environ[local_files.LOCAL_DIRS] = before

    def _write_blob(self, table: pa.Table, file: Any, compress: bool = False) -> None:
        if self.disk_is_full:
            file.write(b"HG")
            raise OSError(errno.ENOSPC, "No space left on device")
        _WRITE_BLOB(table, file, compress)


_WRITE_BLOB = local_copy.write_blob


def forget_verified() -> None:
    """A new worker has verified no copy yet."""
    local_copy._verified.clear()
