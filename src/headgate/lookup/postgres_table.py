"""A table in PostgreSQL."""

import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from headgate.lookup.address import Address
from headgate.lookup.postgres_types import arrow_type
from headgate.lookup.retry import Answer, Retry
from headgate.lookup.sql_names import table_name
from headgate.lookup.table import Table
from headgate.lookup.table_errors import ConnectionLost, TableError
from headgate.spec import SpecError

if TYPE_CHECKING:
    from psycopg import Connection

_PERMANENT_STATES = ("28", "3D", "42", "57014")
"""Beginnings of SQLSTATEs that another attempt does not change: not allowed in, no such database,
a wrong query, a query that took longer than it may."""
_PERMANENT_WORDS = ("authentication failed", "no password supplied", "does not exist")
"""While connecting the client tells no SQLSTATE. Servers may speak other languages; then an error
that cannot pass takes all attempts to be told."""


@dataclass
class _Open:
    """An open connection, and the server's type names of the table's columns."""

    connection: "Connection[Any]"
    types: dict[str, str]
    schema: pa.Schema


_opened: dict[tuple[int, "PostgresTable"], _Open] = {}
"""One connection per process and table."""


@dataclass(frozen=True, init=False)
class PostgresTable(Table):
    """A table or view in PostgreSQL.

    One query per batch fetches the rows of all keys that are not cached; an index on the key
    columns makes it fast. Numbers, text, booleans, dates, times and bytes keep their types; any
    other type arrives as the text that the server prints.

    Parameters
    ----------
    dsn
        The server: "postgresql://reader@host/database" or "host=... dbname=... user=...", without
        a password. The password is found as PostgreSQL's own tools find it: in a password file
        (~/.pgpass, or ``passfile=`` in the DSN), in PGPASSWORD, or through a service file.
    table
        "table" or "schema.table".
    dsn_env
        In place of ``dsn``: an environment variable that holds one, with or without a password. It
        is read where the connection is made: on Spark, by every worker.
    retry
        What to do when the connection is lost.

    Examples
    --------
    >>> PostgresTable("postgresql://reader@db.example/plant", "public.sensors").name
    'PostgreSQL table public.sensors'
    >>> PostgresTable(dsn_env="PLANT_DSN", table="public.sensors").address
    Address(dsn=None, variable='PLANT_DSN')
    """

    address: Address
    table: tuple[str, ...]
    retry: Retry

    def __init__(
        self,
        dsn: str | None = None,
        table: str | None = None,
        *,
        dsn_env: str | None = None,
        retry: Retry | None = None,
    ) -> None:
        object.__setattr__(self, "address", Address.checked(dsn, dsn_env))
        object.__setattr__(self, "table", table_name(table))
        object.__setattr__(self, "retry", retry or Retry())

    @property
    def name(self) -> str:
        """The name used in messages and checkpoints; without the address, which may change."""
        return f"PostgreSQL table {'.'.join(self.table)}"

    def schema(self) -> pa.Schema:
        """The table's columns."""
        return self._asked(lambda opened: opened.schema)

    def fetch(self, keys: pa.Table, schema: pa.Schema) -> pa.Table:
        """The rows with these keys."""
        keys = _storable(keys)
        rows = self._asked(lambda opened: self._rows(opened, keys, schema))
        columns = list(zip(*rows, strict=True)) or [()] * len(schema)
        arrays = []
        for values, field in zip(columns, schema, strict=True):
            try:
                arrays.append(pa.array(values, field.type))
            except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError):
                raise TableError(
                    f'column "{field.name}" of {self.name} holds a value that {field.type} does '
                    f"not: leave the column out with columns=, or cast it in a view"
                ) from None
        return pa.table(arrays, schema=schema)

    def close(self) -> None:
        """Close this process's connection."""
        opened = _opened.pop((os.getpid(), self), None)
        if opened is not None:
            opened.connection.close()

    def _rows(self, opened: _Open, keys: pa.Table, schema: pa.Schema) -> list[Any]:
        from psycopg import sql

        columns = sql.SQL(", ").join(_selected(field) for field in schema)
        lists = [keys.column(name).to_pylist() for name in keys.column_names]
        arrays = [
            # Type names come from the server itself.
            sql.SQL("%s::{}[]").format(sql.SQL(opened.types[name]))
            for name in keys.column_names
        ]
        names = [sql.Identifier(name) for name in keys.column_names]
        if len(names) == 1:
            which = sql.SQL("{} = any({})").format(names[0], arrays[0])
        else:
            which = sql.SQL("({}) in (select * from unnest({}))").format(
                sql.SQL(", ").join(names), sql.SQL(", ").join(arrays)
            )
        query = sql.SQL("select {} from {} where {}").format(
            columns, sql.Identifier(*self.table), which
        )
        return opened.connection.execute(query, lists).fetchall()

    def _asked(self, ask: Callable[[_Open], Answer]) -> Answer:
        import psycopg

        def attempt() -> Answer:
            try:
                return ask(self._open())
            except (psycopg.OperationalError, psycopg.InterfaceError) as error:
                self.close()
                message = self.address.scrubbed(str(error))
                if _is_permanent(error.sqlstate, message):
                    raise TableError(f"{self.name} cannot be asked: {message}") from None
                raise ConnectionLost(message) from None
            except psycopg.errors.UndefinedTable:
                raise SpecError(
                    f"there is no table {'.'.join(self.table)} in the database: name one that is "
                    f"there (upper and lower case matter)"
                ) from None
            except psycopg.Error as error:
                message = self.address.scrubbed(str(error))
                raise TableError(f"{self.name} cannot be asked: {message}") from None

        return self.retry.call(attempt, self.name)

    def _open(self) -> _Open:
        """Return this process's connection; open one if there is none or it was lost."""
        import psycopg
        from psycopg import sql

        mine = (os.getpid(), self)
        if mine in _opened and not _opened[mine].connection.closed:
            return _opened[mine]
        options = {"application_name": "headgate", **self.address.connection_options()}
        connection = psycopg.connect(**options, autocommit=True)
        none = sql.SQL("select * from {} limit 0").format(sql.Identifier(*self.table))
        described = connection.execute(none).description or []
        codes = [column.type_code for column in described]
        named = connection.execute(
            "select format_type(code, null) "
            "from unnest(%s::oid[]) with ordinality as t(code, place) order by place",
            [codes],
        )
        types = {
            column.name: str(name)
            for column, (name,) in zip(described, named.fetchall(), strict=True)
        }
        schema = pa.schema(
            [
                (column.name, arrow_type(types[column.name], column.precision, column.scale))
                for column in described
            ]
        )
        _opened[mine] = _Open(connection, types, schema)
        return _opened[mine]


def _is_permanent(state: str | None, message: str) -> bool:
    if state is not None:
        return state.startswith(_PERMANENT_STATES)
    return any(words in message for words in _PERMANENT_WORDS)


def _selected(field: pa.Field) -> Any:
    from psycopg import sql

    name = sql.Identifier(field.name)
    return sql.SQL("{}::text").format(name) if pa.types.is_string(field.type) else name


def _storable(keys: pa.Table) -> pa.Table:
    """Drop keys that no row can have: PostgreSQL text cannot contain the character zero."""
    for name in keys.column_names:
        if pa.types.is_string(keys.schema.field(name).type):
            keys = keys.filter(pc.invert(pc.match_substring(keys.column(name), "\0")))
    return keys
