"""A table in Parquet files: how workers read the snapshot of a Spark DataFrame."""

from dataclasses import dataclass, field

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds

from headgate.columns.key_codes import encode_together
from headgate.lookup.retry import Retry
from headgate.lookup.table import Table
from headgate.lookup.table_errors import ConnectionLost, TableError


@dataclass(frozen=True)
class ParquetTable(Table):
    """A folder of Parquet files, at a path or URI that pyarrow can open.

    If rows are sorted by key, a fetch skips most of them: files and row groups record their lowest
    and highest key.
    """

    path: str
    columns: pa.Schema = field(repr=False)
    retry: Retry = field(default_factory=Retry)

    @property
    def name(self) -> str:
        """The name used in messages and checkpoints."""
        return f"Parquet files in {self.path}"

    def schema(self) -> pa.Schema:
        """The columns, as they were written."""
        return self.columns

    def fetch(self, keys: pa.Table, schema: pa.Schema) -> pa.Table:
        """The rows with these keys."""

        def attempt() -> pa.Table:
            try:
                rows = ds.dataset(self.path, format="parquet", exclude_invalid_files=False)
                return rows.to_table(columns=schema.names, filter=_any_of(keys)).cast(schema)
            except FileNotFoundError:
                raise TableError(
                    f"the snapshot {self.path} cannot be found here: choose a place that driver "
                    f"and workers share with hg.SparkTable(df, snapshot=...)"
                ) from None
            except OSError as error:
                raise ConnectionLost(str(error)) from None

        found = self.retry.call(attempt, self.name)
        if keys.num_columns == 1:
            return found
        # Each column matches some requested key, but a combination may match none.
        mine = found.select(keys.column_names)
        (asked, present), _ = encode_together([keys.columns, mine.columns])
        return found.filter(pc.is_in(pa.array(present), pa.array(asked)))


def _any_of(keys: pa.Table) -> pc.Expression:
    chosen = pc.scalar(True)
    for name in keys.column_names:
        values = keys.column(name).combine_chunks()
        chosen &= pc.field(name).isin(values)
        # Numbers that include NaN have no maximum.
        if not pa.types.is_boolean(values.type) and not pa.types.is_floating(values.type):
            bounds = pc.min_max(values)
            chosen &= (pc.field(name) >= bounds["min"]) & (pc.field(name) <= bounds["max"])
    return chosen
