"""What processors of joins and of lookups have in common: a shard, its plan and its state."""

import time
from collections.abc import Iterable, Iterator

import pyarrow as pa
from pyspark.sql.streaming.stateful_processor import StatefulProcessor, StatefulProcessorHandle

from headgate.spark.blobs import to_blob
from headgate.spark.packing import padded
from headgate.spark.plan import ShardPlan, check_same_join
from headgate.spark.state import ShardStore

FRAME_BYTES = 1 << 23


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


def result_blobs(pieces: Iterable[pa.Table], row_bytes: int | None) -> Iterator[list[bytes]]:
    """Pieces of the result as blobs, as many together as are quick to hand on.

    Every frame that is handed on costs, however short it is, and all of it is in memory at once.
    Parameter ``row_bytes`` is that of `padded`.
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
