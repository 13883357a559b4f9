"""What processors of joins and of lookups have in common: a shard, its plan and its state."""

import time
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from pyspark.sql.streaming.stateful_processor import StatefulProcessor, StatefulProcessorHandle

from headgate.columns.relabelled import relabelled
from headgate.spark.blobs import from_blob, to_blob
from headgate.spark.plan import ShardPlan, check_same_join
from headgate.spark.state import ShardStore

ROWS_PER_BLOB = 1 << 16


class Stopwatch:
    """Milliseconds between laps."""

    def __init__(self) -> None:
        self._started = time.perf_counter()
        self.laps: dict[str, int] = {}

    def lap(self, name: str) -> None:
        """Note the time since the last lap."""
        now = time.perf_counter()
        self.laps[name] = round(1000 * (now - self._started))
        self._started = now


class ShardProcessor(StatefulProcessor):
    """A processor whose keys are shards; one of them holds no rows and checks restarts."""

    def __init__(self, plan: ShardPlan) -> None:
        self._plan = plan

    def init(self, handle: StatefulProcessorHandle) -> None:
        """Declare the state variables."""
        self._handle = handle
        self._store = ShardStore.of(handle)
        self._control = handle.getValueState("control", "description string")

    def close(self) -> None:
        """Nothing to release."""

    def _check_same_join(self) -> None:
        before = self._control.get()
        if before is None:
            self._control.update((self._plan.description,))
        else:
            check_same_join(before[0], self._plan.description)


def unpacked(packed: pd.DataFrame, schema: pa.Schema) -> tuple[pa.Table, np.ndarray | None]:
    """Rows in an order that does not depend on how the shuffle delivered them, and weights."""
    mine = packed.sort_values(["part", "ordinal"])
    tables = [from_blob(blob) for blob in mine["blob"] if len(blob)]
    if not tables:
        return schema.empty_table(), None
    table = pa.concat_tables(tables)
    weight = None
    if table.num_columns > len(schema):
        weight = table.column(len(schema)).to_numpy()
        table = table.remove_column(len(schema))
    return relabelled(table, schema), weight


def in_blobs(results: pa.Table) -> list[Any]:
    """Result rows as blobs of a size that is quick to hand on."""
    firsts = range(0, results.num_rows, ROWS_PER_BLOB)
    return [to_blob(results.slice(at, ROWS_PER_BLOB)) for at in firsts]
