"""A table in a DuckDB file."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from headgate.lookup.retry import Answer, Retry
from headgate.lookup.sql_names import quoted, table_name
from headgate.lookup.table import Table, missing_package, same_zone
from headgate.lookup.table_errors import ConnectionLost, TableError
from headgate.spec import SpecError


@dataclass(frozen=True, init=False)
class DuckDbTable(Table):
    """A table or view in a DuckDB file, read-only.

    The file is opened for each query and closed afterwards, so that other processes can write to it
    between batches; while another process has it open for writing, queries wait (``retry``).

    Parameters
    ----------
    path
        The file. On a cluster, every worker must reach it under this path.
    table
        "table" or "schema.table".
    retry
        What to do while another process writes to the file.

    Examples
    --------
    >>> DuckDbTable("energy.duckdb", "consumption").name
    'table consumption of energy.duckdb'
    """

    path: str
    table: tuple[str, ...]
    retry: Retry

    def __init__(self, path: "str | Path", table: str, *, retry: Retry | None = None) -> None:
        if not isinstance(path, str | Path) or not str(path) or str(path) == ":memory:":
            raise SpecError(
                f"path {path!r} is not accepted: give the path of a DuckDB file (a table in memory "
                f"goes to hg.ArrowTable)"
            )
        _duckdb()
        # Workers may have another working directory.
        object.__setattr__(self, "path", str(Path(path).resolve()))
        object.__setattr__(self, "table", table_name(table))
        object.__setattr__(self, "retry", retry or Retry())

    @property
    def name(self) -> str:
        """The name used in messages and checkpoints."""
        return f"table {'.'.join(self.table)} of {Path(self.path).name}"

    def schema(self) -> pa.Schema:
        """The table's columns."""
        query = f"select * from {quoted(self.table)} limit 0"
        return same_zone(
            self._asked(lambda connection: connection.sql(query).to_arrow_table()).schema
        )

    def fetch(self, keys: pa.Table, schema: pa.Schema) -> pa.Table:
        """Return the rows with these keys, by joining the table with them."""
        columns = ", ".join(f"t.{quoted(name)}" for name in schema.names)
        equal = " and ".join(f"t.{quoted(name)} = k.{quoted(name)}" for name in keys.column_names)
        query = f"select {columns} from {quoted(self.table)} t join headgate_keys k on {equal}"

        def ask(connection: Any) -> pa.Table:
            connection.register("headgate_keys", keys)
            return connection.sql(query).to_arrow_table()

        return self._asked(ask).cast(schema)

    def _asked(self, ask: Callable[[Any], Answer]) -> Answer:
        duckdb = _duckdb()

        def attempt() -> Answer:
            try:
                with duckdb.connect(self.path, read_only=True) as connection:
                    connection.execute("set timezone = 'UTC'")
                    return ask(connection)
            except duckdb.CatalogException:
                raise SpecError(
                    f"there is no table {'.'.join(self.table)} in {self.path}: name one that is "
                    f"there (upper and lower case matter)"
                ) from None
            except duckdb.IOException as error:
                if not Path(self.path).exists():
                    raise SpecError(f"there is no file {self.path}: give a DuckDB file") from None
                raise ConnectionLost(str(error)) from None
            except duckdb.ConnectionException as error:
                raise TableError(
                    f"{self.path} is open in this process in another way, and DuckDB does not open "
                    f"it twice: close the other connection ({error})"
                ) from None

        return self.retry.call(attempt, self.name)


def _duckdb() -> Any:
    try:
        import duckdb
    except ImportError:
        raise missing_package("duckdb", "hg.DuckDbTable") from None
    return duckdb
