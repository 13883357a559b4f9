"""What a lookup asks of a table: its columns, and the rows of some keys in one query."""

from abc import ABC, abstractmethod

import pyarrow as pa

from headgate.spec import SpecError


class Table(ABC):
    """A table with one row a key, somewhere else.

    Tables travel to workers, so they hold how to reach the data, never a connection, and never a
    secret: a table's text and its pickled form may end up in logs and query plans.
    """

    @property
    @abstractmethod
    def name(self) -> str:
        """What messages and checkpoints call it."""

    @abstractmethod
    def schema(self) -> pa.Schema:
        """All its columns. Raises `SpecError` where there is no such table."""

    @abstractmethod
    def fetch(self, keys: pa.Table, schema: pa.Schema) -> pa.Table:
        """The rows with these keys, in any order, by one query.

        Parameters
        ----------
        keys
            Key columns under the table's names and of its types; no nulls, no key twice.
        schema
            The columns wanted, in order.
        """

    def check_keys(self, keys: tuple[str, ...]) -> None:  # noqa: B027 - most have nothing to add
        """Raise where values of these columns are compared in another way than by value."""

    def close(self) -> None:  # noqa: B027 - most keep nothing open
        """Let go of what is open in this process."""

    def for_workers(self, keys: tuple[str, ...]) -> "Table":
        """The table as workers of a cluster can ask it for rows with these key columns."""
        return self


def missing_package(package: str, table: str) -> SpecError:
    """What to say where an extra is not installed."""
    return SpecError(f'{table} needs {package}, which is missing: pip install "headgate[lookup]"')


def same_zone(schema: pa.Schema) -> pa.Schema:
    """The schema with times of any zone in UTC, so that sessions with other settings agree."""
    return pa.schema(
        [
            field.with_type(pa.timestamp(field.type.unit, "UTC"))
            if pa.types.is_timestamp(field.type) and field.type.tz is not None
            else field
            for field in schema.remove_metadata()
        ]
    )
