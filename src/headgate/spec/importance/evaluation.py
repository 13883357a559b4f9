"""Evaluates expressions over Arrow tables with DuckDB.

Imports DuckDB, so it is itself imported where an expression is first computed.
"""

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa

from headgate.spec.errors import SpecError
from headgate.spec.importance.plain_values import (
    BOOLEAN,
    DATE,
    NUMBER,
    TIME,
    ZONED_TIME,
    family_of_column,
)
from headgate.spec.importance.spark_sql import Translation

MOST_TRIES = 200
"""How often an expression may fail on the rows of a batch, a millisecond each."""
ROWS_TRIED = 3
_databases: dict[int, Any] = {}
_making = threading.Lock()

_SETTINGS: dict[str, Any] = {
    "threads": 1,  # a Spark task has one core
    "enable_external_access": False,
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
}


def evaluate(translation: Translation, table: pa.Table, asked: str) -> pa.ChunkedArray:
    """The expression's value for each row, as doubles; null where it cannot be computed.

    Row values never raise an error, so a running join goes on whatever arrives. An expression that
    is invalid for these columns raises a `SpecError`, even without rows.
    """
    try:
        return _computed(translation, table, asked)
    except SpecError:
        check_binds(translation, table.schema, asked)
        return pa.chunked_array(
            [
                chunk
                for part in _pieces(translation, table, asked, Tries(MOST_TRIES))
                for chunk in part.chunks
            ],
            pa.float64(),
        )


@dataclass
class Tries:
    """How often an expression may fail before the remaining rows get importance 0."""

    left: int


def _pieces(
    translation: Translation, table: pa.Table, asked: str, tries: Tries
) -> Iterator[pa.ChunkedArray]:
    """Evaluate rows of which some make DuckDB fail: bisect until those are found."""
    try:
        yield _computed(translation, table, asked)
    except SpecError:
        tries.left -= 1
        half = table.num_rows // 2
        if not half or tries.left <= 0:
            yield pa.chunked_array([pa.nulls(table.num_rows, pa.float64())])
            return
        yield from _pieces(translation, table.slice(0, half), asked, tries)
        yield from _pieces(translation, table.slice(half), asked, tries)


def _computed(translation: Translation, table: pa.Table, asked: str) -> pa.ChunkedArray:
    query = f"select try_cast(try({translation.sql}) as double) as importance from given"
    with _rows(translation, table, asked) as connection:
        return connection.sql(query).to_arrow_table().column("importance")


def check_binds(translation: Translation, schema: pa.Schema, asked: str) -> None:
    """Raise a `SpecError` where the expression is invalid for the schema or not numeric."""
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


def check_computes(translation: Translation, schema: pa.Schema, asked: str) -> None:
    """Raise a `SpecError` where the expression fails already on a few rows of nulls."""
    needed = {name: schema.field(name).type for name in translation.columns}
    nothing = {name: pa.nulls(ROWS_TRIED, kind) for name, kind in needed.items()}
    _computed(translation, pa.table(nothing), asked)


def _type(connection: Any, sql: str) -> pa.DataType:
    return connection.sql(f"select try({sql}) from given").to_arrow_table().schema.types[0]


@contextmanager
def _rows(translation: Translation, table: pa.Table, asked: str) -> Iterator[Any]:
    """A connection with the needed columns as the table ``given``, named c0, c1, ..."""
    columns = [_readable(table.column(name)) for name in translation.columns]
    given = pa.table(columns, [f"c{number}" for number in range(len(columns))])
    # A cursor is a separate connection, so threads do not interfere.
    connection = _database().cursor()
    try:
        connection.execute(f"set TimeZone = '{_zone(table.schema)}'")
        connection.register("given", given)
        yield connection
    except (duckdb.Error, pa.ArrowException) as error:
        if isinstance(error, duckdb.InternalException | duckdb.FatalException):
            _databases.pop(os.getpid(), None)  # it no longer responds
        reason = (str(error).strip() or type(error).__name__).splitlines()[0]
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
    """The time zone for hours and days: that of the first column that has one.

    Any column counts, also one that the expression does not read: rows carry their event time.
    On Spark that is UTC, since state must not depend on the session's zone.
    """
    zones = (kind.tz for kind in schema.types if pa.types.is_timestamp(kind) and kind.tz)
    return next(zones, "UTC")


def _database() -> Any:
    """An in-memory database, one per process: a forked process must not use its parent's."""
    with _making:
        if os.getpid() not in _databases:
            _databases[os.getpid()] = duckdb.connect(":memory:", config=_SETTINGS)
        return _databases[os.getpid()]
