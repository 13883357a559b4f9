"""The stateful processor of a streaming join: state in, kernel, results and metrics out."""

import time
from collections.abc import Iterator
from typing import Any

import pandas as pd
import pyarrow as pa
from pyspark import TaskContext
from pyspark.sql.streaming.stateful_processor import (
    ExpiredTimerInfo,
    StatefulProcessor,
    StatefulProcessorHandle,
    TimerValues,
)

from headgate.engine.batch import NO_WATERMARK
from headgate.engine.held import Screened, screen
from headgate.engine.tables import TableStep
from headgate.spark.blobs import from_blob, to_blob
from headgate.spark.local_copy import LocalCopy
from headgate.spark.metrics import result_rows, stats_row
from headgate.spark.packing import WEIGHT_COLUMN
from headgate.spark.plan import ShardPlan, check_same_join
from headgate.spark.shards import CONTROL
from headgate.spark.state import ShardState, ShardStore

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


class JoinProcessor(StatefulProcessor):
    """Joins the rows of one shard, batch after batch.

    Late rows are those Spark's own join drops: at or before the watermark *of the previous batch*.
    Spark tells a processor only the present one, so each shard keeps the last it heard of, and a
    timer makes sure that it hears of every change.
    """

    def __init__(self, plan: ShardPlan) -> None:
        self._plan = plan

    def init(self, handle: StatefulProcessorHandle) -> None:
        """Declare the state variables."""
        self._handle = handle
        self._store = ShardStore.of(handle)
        self._control = handle.getValueState("control", "description string")

    def handleInputRows(  # type: ignore[override]  # the pandas form of the two
        self, key: Any, rows: Iterator[pd.DataFrame], timerValues: TimerValues
    ) -> Iterator[pd.DataFrame]:
        """Join the blobs of a batch."""
        packed = pd.concat(list(rows), ignore_index=True)
        shard = int(key[0])
        if shard == CONTROL:
            self._check_same_join()
            return
        watch = Stopwatch()
        late_at, watermark = self._hear_watermark(timerValues)
        arriving = tuple(self._arrivals(packed, side, late_at) for side in (0, 1))
        state = ShardState.read(self._plan, self._store, LocalCopy(self._operator(), shard))
        held = (state.held(0), state.held(1))
        watch.lap("read_ms")
        step = TableStep(
            self._plan.terms,
            self._plan.shape,
            held,
            (arriving[0], arriving[1]),
            state.progress,
            watermark=late_at,
            keep_late=True,
            lessons=state.lessons(),
            shard=self._plan.labels.index(shard),
        )
        for results in step.results():
            firsts = range(0, results.num_rows, ROWS_PER_BLOB)
            yield result_rows([to_blob(results.slice(at, ROWS_PER_BLOB)) for at in firsts])
        watch.lap("join_ms")
        step.raise_watermark(watermark)
        state.write(step, held)
        watch.lap("write_ms")
        yield stats_row(step.stats, state.figures, watch.laps, state.learned)

    def handleExpiredTimer(
        self, key: Any, timerValues: TimerValues, expiredTimerInfo: ExpiredTimerInfo
    ) -> Iterator[pd.DataFrame]:
        """Note a watermark that rose in a batch without rows for this shard."""
        self._hear_watermark(timerValues)
        return iter(())

    def close(self) -> None:
        """Nothing to release."""

    def _hear_watermark(self, timer_values: TimerValues) -> tuple[int, int]:
        """Note the present watermark; return the one before and this one, in microseconds."""
        heard = self._store.watermark.get()
        millis = timer_values.getCurrentWatermarkInMs()
        self._store.watermark.update((millis * 1000,))
        for pending in list(self._handle.listTimers()):
            self._handle.deleteTimer(pending)
        self._handle.registerTimer(millis + 1)
        return (NO_WATERMARK if heard is None else int(heard[0])), millis * 1000

    def _arrivals(self, packed: pd.DataFrame, side: int, late_at: int) -> Screened:
        """A side's rows in an order that does not depend on how the shuffle delivered them."""
        mine = packed[packed["side"] == side].sort_values(["part", "ordinal"])
        tables = [from_blob(blob) for blob in mine["blob"] if len(blob)]
        if not tables:
            return screen(self._plan.schemas[side].empty_table(), self._plan.shape.times[side])
        table = pa.concat_tables(tables)
        weight = None
        if WEIGHT_COLUMN in table.column_names:
            weight = table.column(WEIGHT_COLUMN).to_numpy()
            table = table.drop_columns(WEIGHT_COLUMN)
        table = table.cast(self._plan.schemas[side])
        return screen(table, self._plan.shape.times[side], weight, late_at)

    def _check_same_join(self) -> None:
        before = self._control.get()
        if before is None:
            self._control.update((self._plan.description,))
        else:
            check_same_join(before[0], self._plan.description)

    def _operator(self) -> str:
        """Name for local copies: two queries started from one DataFrame must not share them."""
        context = TaskContext.get()
        query = context.getLocalProperty("sql.streaming.queryId") if context else None
        return f"{self._plan.operator}-{query or 'tested'}"
