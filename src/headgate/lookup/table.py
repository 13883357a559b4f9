"""The interface of a lookup table: its columns, and fetching the rows of some keys in one query."""

from abc import ABC, abstractmethod

import pyarrow as pa

from headgate.spec import SpecError


class Table(ABC):
    """An external table with one row per key.

    Tables are shipped to workers, so they hold the address of the data, never a connection or a
    secret: a table's text and its pickled form may end up in logs and query plans.
    """

    @property
    @abstractmethod
    def name(self) -> str:
        """The name used in messages and checkpoints."""

    @abstractmethod
    def schema(self) -> pa.Schema:
        """All its columns. Raises `SpecError` if there is no such table."""

    @abstractmethod
    def fetch(self, keys: pa.Table, schema: pa.Schema) -> pa.Table:
        """Fetch the rows with these keys with one query, in any order.

        Parameters
        ----------
        keys
            Key columns with the table's names and types; no nulls, no duplicates.
        schema
            The columns to fetch, in order.
        """

    def check_keys(self, keys: tuple[str, ...]) -> None:  # noqa: B027 - most have nothing to add
        """Raise if these columns are not compared by plain value (for instance by a collation)."""

    def close(self) -> None:  # noqa: B027 - most keep nothing open
        """Close what this process holds open."""

    def for_workers(self, keys: tuple[str, ...]) -> "Table":
        """Return a form of the table that cluster workers can query by these key columns."""
        return self


def missing_package(package: str, table: str) -> SpecError:
    """The error message for an extra that is not installed."""
    return SpecError(f'{table} needs {package}, which is missing: pip install "headgate[lookup]"')


def same_zone(schema: pa.Schema) -> pa.Schema:
    """Return the schema with all zoned times in UTC, whatever the session's settings."""
    return pa.schema(
        [
            field.with_type(pa.timestamp(field.type.unit, "UTC"))
            if pa.types.is_timestamp(field.type) and field.type.tz is not None
            else field
            for field in schema.remove_metadata()
        ]
    )
