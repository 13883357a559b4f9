"""The base class of the join and lookup processors: a shard, its plan and its state."""

import time
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import pandas as pd
import pyarrow as pa
from pyspark import cloudpickle
from pyspark.sql.streaming.stateful_processor import (
    ExpiredTimerInfo,
    StatefulProcessor,
    StatefulProcessorHandle,
    TimerValues,
)
from pyspark.sql.types import BinaryType, IntegerType, LongType, StringType, StructType

from headgate.deferred_processor import DeferredProcessor, Variables, declared
from headgate.spark.join.restart_rules import check_restart
from headgate.spark.join.shard_plan import ShardPlan
from headgate.spark.packing import padded
from headgate.spark.shards import CONTROL
from headgate.spark.state.blobs import to_blob
from headgate.spark.state.control_text import control_text, read_control
from headgate.spark.state.shard_store import VARIABLES, ShardStore

FRAME_BYTES = 1 << 23
FIRST_TIMER_MS = -1
"""Before the first watermark, which is 0: due in every batch."""
_KINDS = {"binary": BinaryType, "int": IntegerType, "long": LongType, "string": StringType}


def _as_struct(columns: str) -> StructType:
    """Columns as Spark's own type; for each given as text a task would ask Java what it says."""
    struct = StructType()
    for column in columns.split(", "):
        name, kind = column.split()
        struct.add(name, _KINDS[kind]())
    return struct


_VARIABLES: Variables = tuple(
    (name, *map(_as_struct, types))
    for name, *types in (*VARIABLES, ("control", "description string"))
)


class Stopwatch:
    """Measures the milliseconds between laps."""

    def __init__(self) -> None:
        self._started = time.perf_counter()
        self.laps: dict[str, int] = {}

    def lap(self, name: str) -> None:
        """Record the time since the last lap."""
        now = time.perf_counter()
        self.laps[name] = round(1000 * (now - self._started))
        self._started = now


class ShardProcessor(StatefulProcessor):
    """A processor whose keys are shards; one of them holds no rows and checks restarts.

    Metrics are sums over shards, so every shard must emit its own in every batch. Batches with
    input bring every shard a row, even if it is empty. Batches without input (the watermark moved,
    or another part of the query has rows) bring none, so a timer runs the shard instead. The timer
    is due in every batch, and fires after the rows are handled.
    """

    def __init__(self, plan: ShardPlan) -> None:
        self._plan = plan

    def __reduce__(self) -> tuple[Any, ...]:
        """Spark gets a stand-in, which declares the state without loading all that is needed here.

        Users' own policies may be pickled with it, by value, as Spark does with functions.
        """
        packed: bytes = cloudpickle.dumps((type(self), self._plan))  # type: ignore[no-untyped-call]
        return DeferredProcessor, (_VARIABLES, packed)

    def init(self, handle: StatefulProcessorHandle) -> None:
        """Declare the state variables."""
        self.begin(handle, declared(handle, _VARIABLES))

    def begin(self, handle: StatefulProcessorHandle, states: Mapping[str, Any]) -> None:
        """Use state variables that have been declared."""
        self._handle = handle
        self._store = ShardStore.of(states)
        self._control = states["control"]
        self._done: set[int] = set()
        """Shards that had rows in this batch; every task creates a new processor."""

    def close(self) -> None:
        """Nothing to release."""

    def handleInputRows(  # type: ignore[override]  # the pandas form of the two
        self, key: Any, rows: Iterator[pd.DataFrame], timerValues: TimerValues
    ) -> Iterator[pd.DataFrame]:
        """Process the blobs of a batch."""
        shard = int(key[0])
        if shard == CONTROL:
            self._check_restart()
            return
        self._done.add(shard)
        if not list(self._handle.listTimers()):
            self._handle.registerTimer(FIRST_TIMER_MS)
        yield from self._advance(shard, rows, timerValues)

    def handleExpiredTimer(
        self, key: Any, timerValues: TimerValues, expiredTimerInfo: ExpiredTimerInfo
    ) -> Iterator[pd.DataFrame]:
        """Run a batch that has no input for this shard."""
        # Spark iterates over timers from the earliest on and deletes this one. A new, earlier timer
        # fires in the next batch, and not again in this one.
        before = min(expiredTimerInfo.getExpiryTimeInMs() - 1, FIRST_TIMER_MS)
        self._handle.registerTimer(before)
        shard = int(key[0])
        if shard in self._done:
            self._done.remove(shard)
        else:
            yield from self._advance(shard, iter(()), timerValues)

    def _advance(
        self, shard: int, frames: Iterator[pd.DataFrame], timer_values: TimerValues
    ) -> Iterator[pd.DataFrame]:
        """Yield the results of a shard's batch, then its metrics.

        There are no frames if the batch has no input for the shard.
        """
        raise NotImplementedError

    def _check_restart(self) -> None:
        """Check, before any row is read, that the checkpoint can be taken up by this join."""
        before, now = self._control.get(), self._plan.description
        if before is not None:
            noted = read_control(before[0])
            if noted == now and before[0] == control_text(now):
                return
            check_restart(noted, now)
        self._control.update((control_text(now),))


def result_blobs(pieces: Iterable[pa.Table], row_bytes: int | None) -> Iterator[list[bytes]]:
    """Convert pieces of the result to blobs, grouped into frames of efficient size.

    Each frame has a fixed cost, however short it is, and is in memory as a whole.
    ``row_bytes`` is as for `padded`.
    """
    blobs: list[bytes] = []
    size = 0
    for piece in pieces:
        blob = to_blob(piece)
        if blobs and size + len(blob) > FRAME_BYTES:
            yield padded(blobs, row_bytes)
            blobs, size = [], 0
        blobs.append(blob)
        size += len(blob)
    if blobs:
        yield padded(blobs, row_bytes)
