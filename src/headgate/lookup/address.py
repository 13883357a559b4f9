"""Addresses of PostgreSQL servers, which never hold a password.

A table is part of query plans and is named in logs and checkpoints, so an address that contains a
password is refused. The password comes from where libpq looks for it (a password file, PGPASSWORD,
a service file), or the whole address from an environment variable that is read where the connection
is made.
"""

import os
import re
from dataclasses import dataclass
from typing import Any

from headgate.lookup.table import missing_package
from headgate.spec import SpecError

SECRETS = ("password", "sslpassword")
DEFAULTS: dict[str, Any] = {
    "connect_timeout": 10,
    "keepalives_idle": 30,
    "keepalives_interval": 10,
    "keepalives_count": 3,
}
"""Where the DSN says nothing of them: a server that vanished is noticed within a minute, not after
the hours that a network waits by itself."""
HOW = (
    "leave it out and let PostgreSQL's client find it (a password file ~/.pgpass or "
    '"... passfile=/path", PGPASSWORD, or a service file), or put the whole DSN into an '
    "environment variable and give its name as dsn_env="
)


@dataclass(frozen=True)
class Address:
    """A server's address: a DSN without a password, or an environment variable that holds a DSN.

    Examples
    --------
    >>> Address.checked("postgresql://reader@db/plant", None)
    Address(dsn='postgresql://reader@db/plant', variable=None)
    >>> Address.checked("postgresql://reader:secret@db/plant", None)
    Traceback (most recent call last):
    ...
    headgate.spec.errors.SpecError: the DSN holds a password, which would end up in query plans \
and logs: leave it out ...
    """

    dsn: str | None
    variable: str | None

    @classmethod
    def checked(cls, dsn: object, variable: object) -> "Address":
        """Build an address; raise if it is invalid or contains a secret."""
        if (dsn is None) == (variable is None):
            raise SpecError(
                "a PostgreSQL table needs an address: give either a DSN "
                '("postgresql://reader@host/database") or dsn_env= (the name of an environment '
                "variable that holds one)"
            )
        if variable is not None:
            if not isinstance(variable, str) or not re.fullmatch(r"[A-Za-z_]\w*", variable):
                # A DSN passed here by mistake may hold a password: keep it out of the message.
                raise SpecError(
                    "dsn_env= is the name of an environment variable (letters, digits and _), and "
                    "what was given is not: a DSN without a password goes to the first parameter"
                )
            return cls(None, variable)
        if not isinstance(dsn, str):
            raise SpecError(f"the DSN is a {type(dsn).__name__}: give a text")
        if any(secret in _parsed(dsn) for secret in SECRETS):
            raise SpecError(
                f"the DSN holds a password, which would end up in query plans and logs: {HOW}"
            )
        return cls(dsn, None)

    def connection_options(self) -> dict[str, Any]:
        """Read the connection options now; do not store them."""
        if self.variable is None:
            return DEFAULTS | _parsed(self.dsn or "")
        dsn = os.environ.get(self.variable)
        if dsn is None:
            raise SpecError(
                f"the environment variable {self.variable} is not set in this process: set it "
                f"before the program starts; for Spark's workers too "
                f"(spark.executorEnv.{self.variable}, or a password file in its place)"
            )
        return DEFAULTS | _parsed(dsn)

    def scrubbed(self, message: str) -> str:
        """Put a server or client message on one line, with known passwords removed."""
        known = [os.environ.get("PGPASSWORD")]
        if self.variable is not None:
            dsn = os.environ.get(self.variable)
            known.append(dsn)
            known += [_parsed(dsn).get(secret) for secret in SECRETS] if dsn else []
        for secret in known:
            if secret:
                message = message.replace(secret, "***")
        return " ".join(message.split())


def _parsed(dsn: str) -> dict[str, Any]:
    try:
        from psycopg import ProgrammingError
        from psycopg.conninfo import conninfo_to_dict
    except ImportError:
        raise missing_package("psycopg", "hg.PostgresTable") from None
    try:
        return dict(conninfo_to_dict(dsn))
    except ProgrammingError:
        # The client's message repeats the text it could not parse, which may be a password.
        raise SpecError(
            'the DSN cannot be read: write "postgresql://reader@host:5432/database" or '
            '"host=... dbname=... user=..."'
        ) from None
