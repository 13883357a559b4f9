"""Reads the blobs that a shard receives in a batch."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa

from headgate.columns.plain_form import no_rows
from headgate.columns.relabelling import relabelled
from headgate.spark.state.blobs import from_blob
from headgate.spark.table_buffer import TableBuffer

_NO_NOTICES = pd.DataFrame([], columns=["side", "part", "ordinal", "blob"])
"""Made once: a frame takes a millisecond, and most batches bring none."""


class SideRows(NamedTuple):
    """The rows of a side, and the policy's weights of their keys, if it uses any."""

    table: pa.Table
    weight: np.ndarray | None


@dataclass(frozen=True)
class ShardArrivals:
    """Everything a shard receives in a batch.

    Parameters
    ----------
    sides
        The rows of each side, in an order that does not depend on how the shuffle delivered them.
    notices
        Control messages: blobs addressed to the join itself.
    is_nothing
        Whether there was not even an empty blob: the batch has no input.
    """

    sides: Mapping[int, SideRows]
    notices: pd.DataFrame
    is_nothing: bool

    @classmethod
    def read(
        cls, frames: Iterator[pd.DataFrame], schemas: Mapping[int, pa.Schema]
    ) -> "ShardArrivals":
        """Read all blobs; those of a side in ``schemas`` carry rows of that schema."""
        reader = _Reader(schemas)
        for frame in frames:
            reader.add(frame)
            del frame  # or this name would keep it in memory while Spark builds the next
        return cls(reader.sides(), reader.notices(), reader.rows == 0)

    @property
    def usual_weights(self) -> tuple[float, float]:
        """The mean of each side's weights; zero where rows have none."""
        left, right = (
            0.0 if weight is None or not len(weight) else float(weight.mean())
            for weight in (self.sides[side].weight for side in (0, 1))
        )
        return left, right


class _Reader:
    def __init__(self, schemas: Mapping[int, pa.Schema]) -> None:
        self._schemas = schemas
        self.rows = 0
        """Blobs so far, empty ones included."""
        self._buffer = TableBuffer()
        self._blobs: list[tuple[int, int, int]] = []
        """Side, part and ordinal of each."""
        self._weights: list[np.ndarray | None] = []
        self._notices: list[tuple[Any, ...]] = []

    def add(self, frame: pd.DataFrame) -> None:
        self.rows += len(frame)
        columns = (frame[name] for name in ("side", "part", "ordinal", "blob"))
        for side, part, ordinal, blob in zip(*columns, strict=True):
            if side not in self._schemas:
                self._notices.append((side, part, ordinal, blob))
            elif len(blob):
                self._add_rows(from_blob(blob), self._schemas[side])
                self._blobs.append((side, part, ordinal))

    def _add_rows(self, table: pa.Table, schema: pa.Schema) -> None:
        weight = None
        if table.num_columns > len(schema):
            weight = table.column(len(schema)).to_numpy().copy()
            table = table.remove_column(len(schema))
        self._weights.append(weight)
        self._buffer.add(relabelled(table, schema))

    def notices(self) -> pd.DataFrame:
        if not self._notices:
            return _NO_NOTICES
        return pd.DataFrame(self._notices, columns=["side", "part", "ordinal", "blob"])

    def sides(self) -> dict[int, SideRows]:
        tables = self._buffer.tables()
        order = sorted(range(len(tables)), key=self._blobs.__getitem__)
        found = {}
        for side, schema in self._schemas.items():
            mine = [place for place in order if self._blobs[place][0] == side]
            weights = [weight for place in mine if (weight := self._weights[place]) is not None]
            parts = [tables[place] for place in mine] or [no_rows(schema)]
            found[side] = SideRows(
                pa.concat_tables(parts), np.concatenate(weights) if weights else None
            )
        return found
