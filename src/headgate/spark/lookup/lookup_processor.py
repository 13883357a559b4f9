"""The stateful processor of a streaming lookup: reads the cache, emits results and metrics."""

from collections.abc import Iterator
from dataclasses import dataclass

import pandas as pd
from pyspark.sql.streaming.stateful_processor import TimerValues

from headgate.engine.table_rows import TableRows
from headgate.lookup.lookup_request import How
from headgate.lookup.lookup_step import LookupStep
from headgate.lookup.table import Table
from headgate.spark.join.shard_plan import ShardPlan
from headgate.spark.lookup.lookup_metrics import stats_row
from headgate.spark.shard_arrivals import ShardArrivals
from headgate.spark.shard_output import result_rows
from headgate.spark.shard_processor import ShardProcessor, Stopwatch, result_blobs
from headgate.spark.state.local_copy import LocalCopy
from headgate.spark.state.shard_state import ShardState
from headgate.spark.worker_settings import settle


@dataclass(frozen=True, kw_only=True)
class LookupPlan(ShardPlan):
    """The plan that every shard of a lookup gets; its schemas are the table's and the stream's."""

    table: Table
    how: How


class LookupProcessor(ShardProcessor):
    """Looks up the rows of one shard, batch after batch.

    A batch that fails, because its table cannot be reached or for any other reason, has no effect:
    Spark commits results, state and input offsets together, and repeats the batch.
    """

    _plan: LookupPlan

    def _advance(
        self, shard: int, frames: Iterator[pd.DataFrame], timer_values: TimerValues
    ) -> Iterator[pd.DataFrame]:
        plan, watch = self._plan, Stopwatch()
        references, weight = ShardArrivals.read(frames, {0: plan.schemas[1]}).sides[0]
        state = ShardState.read(plan, self._store, LocalCopy(plan.operator, shard))
        cached = state.held(0)
        watch.lap("read_ms")
        step = LookupStep(
            terms=plan.terms,
            shape=plan.shape,
            table=plan.table,
            schema=plan.schemas[0],
            stored=cached,
            references=references,
            progress=state.progress,
            how=plan.how,
            weight=weight,
        )
        for blobs in result_blobs(step.results(), plan.row_bytes):
            yield result_rows(blobs)
        watch.lap("join_ms")
        state.write(step, (cached, TableRows.nothing(plan.schemas[1])))
        watch.lap("write_ms")
        yield stats_row(step.lookup_stats, state.figures, watch.laps, plan.labels.index(shard))
        settle()
