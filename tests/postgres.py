"""A PostgreSQL server of the tests' own: in a temporary folder, on a free port, never as root."""

import glob
import os
import pwd
import shutil
import socket
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import psycopg

PASSWORD = "correct-horse-battery-staple"
WHERE = ("/usr/lib/postgresql/*/bin", "/usr/pgsql-*/bin", "/opt/homebrew/opt/postgresql*/bin")
NO_SERVER = (
    "no PostgreSQL server is installed, or no user to run it as: `make postgres` as root on "
    "Debian, or install PostgreSQL and put initdb and pg_ctl on PATH"
)


def binaries() -> Path | None:
    """Where initdb and pg_ctl are; None where there are none."""
    found = shutil.which("pg_ctl")
    folders = [Path(found).resolve().parent] if found else []
    folders += [Path(folder) for pattern in WHERE for folder in sorted(glob.glob(pattern))[::-1]]
    for folder in folders:
        if (folder / "initdb").exists() and (folder / "pg_ctl").exists():
            return folder
    return None


def someone_else() -> str | None:
    """Whom to run the server as when root, which it refuses."""
    known = {user.pw_name for user in pwd.getpwall()}
    return next((name for name in ("postgres", "nobody") if name in known), None)


def can_run() -> bool:
    """Whether a server can be started here."""
    return binaries() is not None and (os.geteuid() != 0 or someone_else() is not None)


class Server:
    """A server that can be stopped hard and started again."""

    def __init__(self) -> None:
        self._folder = Path(tempfile.mkdtemp(prefix="headgate-pg-"))
        self._as: dict[str, Any] = {}
        if os.geteuid() == 0:
            user = pwd.getpwnam(someone_else() or "")
            os.chown(self._folder, user.pw_uid, user.pw_gid)
            self._as = {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port: int = free.getsockname()[1]
        secret = self._folder / "secret"
        secret.write_text(PASSWORD)
        secret.chmod(0o644)
        self._call(
            *("initdb", "--pgdata", str(self._data), "--username", "plant", "--encoding", "UTF8"),
            *("--locale", "C", "--auth", "scram-sha-256", "--pwfile", str(secret), "--no-sync"),
        )
        secret.unlink()
        self.passfile = self._folder / "passfile"
        self.passfile.write_text(f"127.0.0.1:{self.port}:*:plant:{PASSWORD}\n")
        self.passfile.chmod(0o600)
        self.start()

    @property
    def _data(self) -> Path:
        return self._folder / "data"

    @property
    def dsn(self) -> str:
        """How to reach it, without the password."""
        return (
            f"host=127.0.0.1 port={self.port} user=plant dbname=postgres passfile={self.passfile}"
        )

    @property
    def dsn_with_password(self) -> str:
        """What must go into an environment variable, and nowhere else."""
        return f"postgresql://plant:{PASSWORD}@127.0.0.1:{self.port}/postgres"

    def start(self) -> None:
        """Start, and wait until it answers."""
        options = f"-p {self.port} -k {self._folder} -c listen_addresses=127.0.0.1 -c fsync=off"
        log = str(self._folder / "log")
        self._call("pg_ctl", "start", "-w", "-D", str(self._data), "-l", log, "-o", options)

    def kill(self) -> None:
        """Stop as if the power had failed: no goodbye to anyone."""
        self._call("pg_ctl", "stop", "-m", "immediate", "-D", str(self._data))

    def execute(self, *statements: str) -> None:
        """Run some SQL."""
        with psycopg.connect(self.dsn_with_password, autocommit=True) as connection:
            for statement in statements:
                connection.execute(statement)  # type: ignore[arg-type]

    def remove(self) -> None:
        """Stop it and leave nothing behind."""
        try:
            self.kill()
        finally:
            shutil.rmtree(self._folder, ignore_errors=True)

    def _call(self, program: str, *arguments: str) -> None:
        # A server started by pg_ctl inherits its output: a pipe would never end.
        with tempfile.TemporaryFile("w+") as said:
            done = subprocess.run(
                [str((binaries() or Path()) / program), *arguments],
                cwd=self._folder,
                stdin=subprocess.DEVNULL,
                stdout=said,
                stderr=said,
                check=False,
                **self._as,
            )
            said.seek(0)
            if done.returncode != 0:
                log = self._folder / "log"
                told = log.read_text()[-2000:] if log.exists() else ""
                raise RuntimeError(f"{program} failed: {said.read()}\n{told}")
