"""A shard driven batch by batch in memory: the real processor, Spark's own tester around it."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import pandas as pd
import pyarrow as pa
import pytest

import headgate as hg
from headgate.columns.plain_form import no_rows
from headgate.engine.shard_layout import join_layout
from headgate.spark.join.join_processor import JoinProcessor
from headgate.spark.join.published_changes import CHANGES, LIMITS, PackChanges
from headgate.spark.join.shard_plan import SharedBudget, shard_plan
from headgate.spark.packing import SHARD_COLUMN, Packing
from headgate.spark.state.blobs import from_blob
from headgate.spark.state.local_copy import LocalCopy
from headgate.spark.state.shard_state import ShardState

LABEL = 0
MOST = 1_000_000
"""The budget of all joins, where a shard's is part of one."""


class ShardBatch(NamedTuple):
    """What a shard put out for one batch."""

    pairs: pa.Table
    metrics: dict[str, Any]


class OneShard:
    """A shard of a join, fed by hand; the only one, unless others come before it.

    Parameters
    ----------
    operator
        Name of the local copies; choose one no other test uses.
    shared
        Whether its budget may change on the way.
    place
        How many shards come before it.
    """

    def __init__(
        self,
        join: hg.WindowJoin,
        schemas: tuple[pa.Schema, pa.Schema],
        operator: str,
        shared: bool = False,
        place: int = 0,
    ):
        # Spark has it from 4.2 on; older versions are tried by the real queries.
        tester = pytest.importorskip("pyspark.sql.streaming.tws_tester").TwsTester
        if join.budget.monitor is None and not join.policy.learns:
            join = join.within(_unmonitored(join.budget))
        self._join, self._schemas = join, schemas
        bound = join.bind(schemas)
        self._empty = no_rows(bound.result)
        self.plan = shard_plan(
            join,
            bound,
            (*range(LABEL + 1, LABEL + 1 + place), LABEL),
            live=True,
            operator=operator,
            sharing=SharedBudget(MOST) if shared else None,
        )
        self.tester = tester(
            JoinProcessor(self.plan), timeMode="EventTime", eventTimeExtractor=lambda row: 1 << 62
        )
        # The tester refuses timers that are due at once, which Spark takes.
        handle = self.tester.handle
        handle.registerTimer = lambda at: handle._timers.registerTimer(handle.grouping_key, at)

    def batch(
        self,
        left: pa.Table | None = None,
        right: pa.Table | None = None,
        watermark_ms: int | None = None,
        redefined: Sequence[tuple[int | None, str]] = (),
        limits: Sequence[str] = (),
    ) -> ShardBatch:
        """Hand over the rows of a batch; the watermark is the batch's own.

        ``redefined`` are event times and texts of what is important, as they are published;
        ``limits`` what the join may store from now on.
        """
        if watermark_ms is not None:
            self.tester.setWatermark(watermark_ms)
        packed = [self._packed(table, side) for side, table in enumerate((left, right))]
        packed += [self._changes(redefined)] if redefined else []
        told = [(None, limit) for limit in limits]
        packed += [self._changes(told, LIMITS)] if told else []
        rows = self.tester.testInPandas(LABEL, pd.concat(packed, ignore_index=True))
        results = [from_blob(blob) for blob in rows["blob"] if blob is not None]
        figures = rows[rows["blob"].isna()].iloc[0]
        return ShardBatch(
            pa.concat_tables([self._empty, *results]),
            join_layout().by_name(figures["figures"]),
        )

    def state(self) -> ShardState:
        """The state that the last batch left."""
        processor = self.tester.processor
        self.tester.handle.setGroupingKey(LABEL)
        return ShardState.read(self.plan, processor._store, LocalCopy(self.plan.operator, LABEL))

    def _changes(
        self, redefined: Sequence[tuple[int | None, str]], kind: int = CHANGES
    ) -> pd.DataFrame:
        told = pa.record_batch(
            {
                "definition": [text for _, text in redefined],
                "at": pa.array([at for at, _ in redefined], pa.int64()),
                "name": [f"{place:03d}" for place in range(len(redefined))],
            }
        )
        return pd.concat([out.to_pandas() for out in PackChanges((LABEL,), kind)([told])])

    def _packed(self, table: pa.Table | None, side: int) -> pd.DataFrame:
        keys = (self._join.keys.left, self._join.keys.right)[side]
        names = tuple(self._schemas[side].names)
        pack = Packing(side, (LABEL,), names, keys, self._join.policy)
        batches = []
        if table is not None and table.num_rows:
            shard = pa.array([0] * table.num_rows, pa.int32())
            batches = table.add_column(0, SHARD_COLUMN, shard).to_batches()
        frames = pd.concat([out.to_pandas() for out in pack(batches)], ignore_index=True)
        return frames[frames["shard"] == LABEL]


def _unmonitored(budget: hg.Budget) -> hg.Budget:
    """The same budget, all of it for rows: most tests count them to the last."""
    return hg.Budget(
        rows=budget.rows, memory=budget.memory, split=budget.split, monitor=0.0, cpu=budget.cpu
    )
