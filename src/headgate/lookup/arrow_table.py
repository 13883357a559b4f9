"""A lookup table held in memory, for experiments and tests."""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from headgate.columns.key_codes import encode_together
from headgate.columns.relabelling import relabelled
from headgate.engine.inputs import carried_table
from headgate.lookup.table import Table, same_zone
from headgate.spec import SpecError


@dataclass(frozen=True, eq=False)
class ArrowTable(Table):
    """An Arrow table with one row per key.

    It is entirely in memory, and Spark ships it with every task, so caching it saves nothing: use
    it for small tables and to try policies.

    Examples
    --------
    >>> ArrowTable(pa.table({"id": [1, 2], "name": ["one", "two"]})).name
    'an Arrow table of 2 rows'
    """

    table: pa.Table

    def __post_init__(self) -> None:
        if not isinstance(self.table, pa.Table):
            raise SpecError(
                f"ArrowTable was given a {type(self.table).__name__}: give a pyarrow.Table"
            )
        object.__setattr__(self, "table", carried_table(self.table, self.name))

    @property
    def name(self) -> str:
        """The name shown in messages."""
        return f"an Arrow table of {self.table.num_rows:,} rows"

    def __repr__(self) -> str:
        return f"ArrowTable({self.table.num_rows:,} rows)"

    def schema(self) -> pa.Schema:
        """Its columns."""
        return same_zone(self.table.schema)

    def fetch(self, keys: pa.Table, schema: pa.Schema) -> pa.Table:
        """Return the rows with these keys, by scanning the whole table."""
        mine = self.table.select(keys.column_names).cast(keys.schema)
        (asked, present), _ = encode_together([keys.columns, mine.columns])
        found = np.isin(present, asked)
        return relabelled(self.table.filter(pa.array(found)).select(schema.names), schema)
