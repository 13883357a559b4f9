"""Expressions computed over Arrow tables by DuckDB.

Imports DuckDB, so it is itself imported where an expression is first computed.
"""

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa

from headgate.spec.errors import SpecError
from headgate.spec.importance.spark_sql import Translation
from headgate.spec.importance.values import (
    BOOLEAN,
    DATE,
    NUMBER,
    TIME,
    ZONED_TIME,
    family_of_column,
)

_databases: dict[int, Any] = {}
_making = threading.Lock()

_SETTINGS: dict[str, Any] = {
    "threads": 1,  # a Spark task has one core
    "enable_external_access": False,
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
}


def evaluate(translation: Translation, table: pa.Table, asked: str) -> pa.ChunkedArray:
    """The expression's value for each row, as doubles; null where it cannot be computed."""
    query = f"select try_cast(try({translation.sql}) as double) as importance from given"
    with _rows(translation, table, asked) as connection:
        return connection.sql(query).to_arrow_table().column("importance")


def check_binds(translation: Translation, schema: pa.Schema, asked: str) -> None:
    """Raise a `SpecError` where the expression has no meaning, or not that of a number, there."""
    with _rows(translation, schema.empty_table(), asked) as connection:
        for sql, written in translation.counted:
            if family_of_column(_type(connection, sql)) in (DATE, TIME, ZONED_TIME):
                raise SpecError(
                    f"{asked} casts a time to a number: write unix_timestamp({written}) for the "
                    f"seconds since 1970"
                )
        found = _type(connection, translation.sql)
        if family_of_column(found) not in (NUMBER, BOOLEAN):
            raise SpecError(f"{asked} gives {found}: give an expression whose value is a number")


def _type(connection: Any, sql: str) -> pa.DataType:
    return connection.sql(f"select try({sql}) from given").to_arrow_table().schema.types[0]


@contextmanager
def _rows(translation: Translation, table: pa.Table, asked: str) -> Iterator[Any]:
    """A connection with the needed columns as the table ``given``, named c0, c1, ..."""
    columns = [_readable(table.column(name)) for name in translation.columns]
    given = pa.table(columns, [f"c{number}" for number in range(len(columns))])
    # A cursor is a connection of its own, so threads are not in each other's way.
    connection = _database().cursor()
    try:
        connection.execute(f"set TimeZone = '{_zone(table.schema)}'")
        connection.register("given", given)
        yield connection
    except duckdb.Error as error:
        reason = str(error).strip().splitlines()[0]
        raise SpecError(f"{asked} cannot be computed: {reason}") from error
    finally:
        connection.close()


def _readable(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """The column as DuckDB takes it: no slices of structs, no zoned times finer than Spark's."""
    kind = column.type
    if pa.types.is_nested(kind):
        return column.take(pa.array(np.arange(len(column))))
    if pa.types.is_timestamp(kind) and kind.unit == "ns":
        return column.cast(pa.timestamp("us", kind.tz), safe=False)
    return column


def _zone(schema: pa.Schema) -> str:
    """The zone that hours and days are of: that of the first column that has one.

    Any column tells, also one that the expression does not read: rows come with their event time.
    On Spark that is UTC, since state must not depend on the session's zone.
    """
    zones = (kind.tz for kind in schema.types if pa.types.is_timestamp(kind) and kind.tz)
    return next(zones, "UTC")


def _database() -> Any:
    """A database in memory, one a process: what a fork inherits is not its own."""
    with _making:
        if os.getpid() not in _databases:
            _databases[os.getpid()] = duckdb.connect(":memory:", config=_SETTINGS)
        return _databases[os.getpid()]
