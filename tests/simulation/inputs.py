"""The packed input of a workload: what every shard gets in every batch, and its plan then."""

from collections.abc import Sequence
from typing import NamedTuple

import pandas as pd
import pyarrow as pa

from headgate.spark.join.published_changes import CHANGES, LIMITS, PackChanges
from headgate.spark.join.shard_plan import ShardPlan, SharedBudget, shard_plan
from headgate.spark.packing import SHARD_COLUMN, Packing
from headgate.spark.shards import CONTROL
from tests.simulation.workload import SCHEMAS, Row, Workload, table_of

OPERATOR = "simulated"


class BatchInput(NamedTuple):
    """What one batch hands to a query."""

    plan: ShardPlan
    frames: dict[int, pd.DataFrame]
    """By shard's label, what it gets; nothing in a batch without input."""


def packed_inputs(workload: Workload) -> list[BatchInput]:
    """Plans and frames of all batches; raises `SpecError` where the join cannot be asked."""
    labels = tuple(range(workload.shards))
    found: list[BatchInput] = []
    asked = None
    for number, batch in enumerate(workload.batches):
        version = workload.version(number)
        if version != asked:
            asked, join = version, version.join()
            most = (join.budget.rows or join.budget.memory or 0) if workload.shared else None
            plan = shard_plan(
                join,
                join.bind(SCHEMAS),
                labels,
                live=True,
                partitions=workload.partitions,
                operator=OPERATOR,
                sharing=None if most is None else SharedBudget(most),
            )
        frames: dict[int, pd.DataFrame] = {}
        if batch.has_input:
            packed = [
                out
                for side in (0, 1)
                for out in Packing(side, labels, tuple(SCHEMAS[side].names), ("key",), join.policy)(
                    _routed([row for row in batch.rows if row.side == side], side, len(labels))
                )
            ]
            packed += _told(batch.definitions, CHANGES, labels)
            packed += _told(batch.limits, LIMITS, labels)
            whole = pa.Table.from_batches(packed).to_pandas()
            frames = {label: whole[whole["shard"] == label] for label in (CONTROL, *labels)}
        found.append(BatchInput(plan, frames))
    return found


def shard_of(row: Row, shards: int) -> int:
    """The shard that a row goes to."""
    return 0 if row.key is None else row.key % shards


def _routed(rows: list[Row], side: int, shards: int) -> list[pa.RecordBatch]:
    if not rows:
        return []
    route = pa.array([shard_of(row, shards) for row in rows], pa.int32())
    return table_of(rows, side).add_column(0, SHARD_COLUMN, route).to_batches()


def _told(texts: Sequence[str], kind: int, labels: tuple[int, ...]) -> list[pa.RecordBatch]:
    if not texts:
        return []
    told = pa.record_batch(
        {
            "definition": list(texts),
            "at": pa.array([None] * len(texts), pa.int64()),
            "name": [f"{place:03d}" for place in range(len(texts))],
        }
    )
    return list(PackChanges(labels, kind)([told]))
