"""Joins bounded inputs on Spark: sorts each shard's rows by time and replays them in steps.

Rows reach a shard in event order, so memory holds only the stored rows and the arrivals of one
step, however large the input is.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import StructType

from headgate.columns.plain_form import no_rows
from headgate.columns.relabelling import relabelled
from headgate.columns.row_source import PIECE_BYTES, RowSource, in_pieces
from headgate.engine.driver import Driver
from headgate.engine.join_step import results
from headgate.engine.placed_rows import Screened
from headgate.engine.replay import ROWS_AT_ONCE
from headgate.engine.rows_at_end import RowsAtEnd, still_stored, without_time
from headgate.engine.step_cuts import in_steps, keep_compact
from headgate.engine.table_coding import TableCoding
from headgate.engine.table_learner import nothing_learned
from headgate.engine.table_rows import TableRows, screen, without_times
from headgate.learning.watch_room import Coming
from headgate.pacing.event_pacing import EventPacing
from headgate.policies import Policy
from headgate.spark.join.shard_plan import ShardPlan

PACED_ROWS_AT_ONCE = 1 << 15
"""Where processor time is limited, what a step took corrects the next: there should be some."""

STEP_BYTES = 1 << 25
"""A step's arrivals at most; only a single row that is larger takes more."""


def tagged(
    frame: DataFrame, side: int, label: Column, time: Column, columns: StructType, other: StructType
) -> DataFrame:
    """A side's rows as structs, with a null struct for the other side, so both can be mixed."""
    own = F.struct(*columns.names)
    none = F.lit(None).cast(other)
    left, right = (own, none) if side == 0 else (none, own)
    return frame.select(
        label.alias("shard"),
        time.alias("time"),
        F.lit(side).alias("side"),
        F.monotonically_increasing_id().alias("position"),
        left.alias("left"),
        right.alias("right"),
    )


@dataclass(frozen=True)
class ReplayShards:
    """Joins sorted, tagged rows; run by ``mapInArrow``."""

    plan: ShardPlan
    policy: Policy

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        shard, replay = None, None
        for table in _steps(batches):
            label = table.column("shard")[0].as_py()
            if replay is None or label != shard:
                if replay is not None:
                    yield from replay.end()
                shard, replay = label, _ShardReplay(self.plan, self.policy, label)
            yield from replay.advance(table)
        if replay is not None:
            yield from replay.end()


class _ShardReplay:
    """Replays one shard: splits its rows into steps, which a driver processes in turn."""

    def __init__(self, plan: ShardPlan, policy: Policy, label: int) -> None:
        self._plan, self._policy = plan, policy
        self._shard, self._terms = plan.labels.index(label), plan.terms_of(label)
        state = None
        if plan.room is not None:
            state = nothing_learned(plan.terms.windows, plan.room, plan.shape, plan.schemas)
        left, right = (TableRows.nothing(schema) for schema in plan.schemas)
        self._driver = Driver[TableRows](
            TableCoding(plan.shape, plan.definitions, state),
            (left, right),
            pacing=None if plan.pacer is None else EventPacing(plan.pacer),
        )

    def advance(self, table: pa.Table) -> Iterator[pa.RecordBatch]:
        arriving = (self._arrivals(table, 0), self._arrivals(table, 1))
        tables = (arriving[0].rows.table, arriving[1].rows.table)
        for side, came in enumerate(arriving):
            if came.null_times and self._terms.how.outer[side]:
                places = without_times(tables[side], self._plan.shape.times[side])
                yield from self._alone(without_time(self._terms, side, places), tables)
        count = len(arriving[0]) + len(arriving[1])
        by_key = self._plan.follows_keys and self._driver.watches_among(count)
        for part in in_steps(arriving, self._plan.shape, self._step_rows, by_key):
            step = self._driver.begin(self._terms, part.arriving)
            for rows in results(step, self._plan.shape, self._shard):
                yield from rows.combine_chunks().to_batches()
            self._driver.finish(step)
            keep_compact(self._driver, step)

    def _step_rows(self, coming: Coming) -> int:
        if self._plan.pacer is not None:
            return PACED_ROWS_AT_ONCE
        return self._driver.most_at_once(self._terms, coming)

    def end(self) -> Iterator[pa.RecordBatch]:
        """After the last row of the shard: the rows still stored that have no partner."""
        stored = self._driver.stored
        yield from self._alone(
            still_stored(self._terms, stored), (stored[0].table, stored[1].table)
        )

    def _alone(
        self, found: list[RowsAtEnd], tables: tuple[pa.Table, pa.Table]
    ) -> Iterator[pa.RecordBatch]:
        """Rows of these tables that come out without a partner."""
        shape = self._plan.shape
        for decided in found:
            left, right = (RowSource(table) for table in tables)
            for block in decided.shown(self._terms.shows_undecided):
                for rows in shape.results(left, right, block, PIECE_BYTES):
                    yield from rows.combine_chunks().to_batches()

    def _arrivals(self, table: pa.Table, side: int) -> Screened[TableRows]:
        mine = table.filter(pc.equal(table.column("side"), side))
        struct = mine.column("left" if side == 0 else "right").combine_chunks()
        schema = self._plan.schemas[side]
        rows = no_rows(schema)
        if len(struct):
            rows = relabelled(pa.Table.from_arrays(struct.flatten(), names=schema.names), schema)
        weight: np.ndarray | None = None
        if self._policy.weighs_keys and rows.num_rows:
            keys = self._plan.shape.key_columns(rows, side)
            weight = self._policy.weigh(keys, side)
        return screen(rows, self._plan.shape.times[side], weight)


def _steps(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.Table]:
    """Group batches into steps of suitable size, none with rows of two shards."""
    waiting: list[pa.Table] = []
    rows = size = 0
    for batch in batches:
        shards = batch.column(0).to_numpy()
        cuts = [0, *(np.flatnonzero(np.diff(shards)) + 1).tolist(), batch.num_rows]
        for first, end in pairwise(cuts):
            if first == end:
                continue
            for part in in_pieces(
                pa.Table.from_batches([batch.slice(first, end - first)]), STEP_BYTES
            ):
                full = rows >= ROWS_AT_ONCE or size + part.nbytes > STEP_BYTES
                if waiting and (full or waiting[-1].column(0)[0] != part.column(0)[0]):
                    yield pa.concat_tables(waiting)
                    waiting, rows, size = [], 0, 0
                waiting.append(part)
                rows += part.num_rows
                size += part.nbytes
    if waiting:
        yield pa.concat_tables(waiting)
