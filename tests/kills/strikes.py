"""What a kill campaign does to a running query."""

import contextlib
import os
import random
import signal
import subprocess
import time
from pathlib import Path
from types import TracebackType
from typing import Protocol

import psutil

from tests.postgres import Server

DISK_KB = 8_000
"""Room for a checkpoint of the campaign's queries, which takes some 2 MB."""
FULL_S = 8.0
"""How long a disk stays full at most: until the query ends, as a rule."""
MARKS = {"worker": "pyspark.daemon", "executor": "CoarseGrainedExecutorBackend"}


class Strike(Protocol):
    """A way to disturb a query."""

    @property
    def master(self) -> str:
        """Where the query runs."""

    def at(self, process: subprocess.Popen, rng: random.Random) -> bool:
        """Strike; False where there is nothing to strike at yet."""

    def over(self) -> None:
        """The query has ended."""


class Processes:
    """Kills the whole query, a Python worker of it, or an executor."""

    def __init__(self, victim: str) -> None:
        self._victim = victim

    @property
    def master(self) -> str:
        """Executors are processes of their own on a cluster alone; a task is tried again there, and
        here if that is said."""
        if self._victim == "executor":
            return "local-cluster[2,1,1024]"
        return "local[2, 20]" if self._victim == "worker" else "local[2]"

    def at(self, process: subprocess.Popen, rng: random.Random) -> bool:
        """Kill it with SIGKILL."""
        if self._victim == "driver":
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            return True
        found = []
        with contextlib.suppress(psutil.NoSuchProcess):
            for child in psutil.Process(process.pid).children(recursive=True):
                with contextlib.suppress(psutil.NoSuchProcess):
                    if MARKS[self._victim] in " ".join(child.cmdline()):
                        found.append(child)
        if not found:
            return False
        with contextlib.suppress(psutil.NoSuchProcess):
            rng.choice(found).kill()
        return True

    def over(self) -> None:
        """Nothing to mend."""


class Database:
    """A PostgreSQL server under a lookup, stopped as if its power had failed."""

    master = "local[2]"

    def __init__(self) -> None:
        self._server = Server()
        self._server.execute(
            "create table levels as select k::bigint as key, 'level ' || k as level, "
            "k * 1.5::float8 as energy from generate_series(0, 29) k where k % 7 <> 3",
        )
        self.dsn = self._server.dsn

    def __enter__(self) -> "Database":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: object, trace: TracebackType | None
    ) -> None:
        self._server.remove()

    def at(self, process: subprocess.Popen, rng: random.Random) -> bool:
        """Stop the server hard, and start it a moment later."""
        self._server.kill()
        time.sleep(rng.uniform(0.1, 3.0))
        self._server.start()
        return True

    def over(self) -> None:
        """The server runs again already."""


class SmallDisk:
    """A small disk under the checkpoint, which is filled; needs root, to mount it."""

    master = "local[2]"

    def __init__(self, place: Path) -> None:
        self._place = place
        self._ballast = place / "ballast"
        place.mkdir(parents=True)
        subprocess.run(
            ["mount", "-t", "tmpfs", "-o", f"size={DISK_KB}k", "tmpfs", str(place)], check=True
        )

    def __enter__(self) -> "SmallDisk":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: object, trace: TracebackType | None
    ) -> None:
        subprocess.run(["umount", "--lazy", str(self._place)], check=True)

    def at(self, process: subprocess.Popen, rng: random.Random) -> bool:
        """Fill the disk to the last byte, and make room when the query has ended or waits."""
        with contextlib.suppress(OSError), self._ballast.open("wb", buffering=0) as file:
            while file.write(b"0" * 4096):
                pass
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(FULL_S)
        self.over()
        return True

    def over(self) -> None:
        """Make room again."""
        self._ballast.unlink(missing_ok=True)
