"""Bounded inputs on Spark: each shard's rows sorted by time, replayed in steps.

Rows reach a shard in event order, so memory holds what is stored and one step's arrivals, however
large the input is.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from time import process_time

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import StructType

from headgate.columns.pieces import in_pieces
from headgate.columns.plain_form import no_rows
from headgate.columns.relabelling import relabelled
from headgate.engine.replay import ROWS_AT_ONCE, most_to_learn_from, most_to_observe
from headgate.engine.table_learner import Lessons
from headgate.engine.table_rows import Held, Screened, numbered, screen
from headgate.engine.table_step import TableStep
from headgate.kernel.progress import Progress
from headgate.pacing.pacer import PaceState, covered_s
from headgate.policies import Policy
from headgate.spark.join.shard_plan import ShardPlan

PACED_ROWS_AT_ONCE = 1 << 15
"""Where processor time is limited, what a step took corrects the next: there should be some."""

STEP_BYTES = 1 << 25
"""A step's arrivals at most; only a single row that is larger takes more."""


def tagged(
    frame: DataFrame, side: int, label: Column, time: Column, columns: StructType, other: StructType
) -> DataFrame:
    """A side's rows as structs beside an empty one for the other side, so that both can mix."""
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
    """Joins sorted, tagged rows; to be run by ``mapInArrow``."""

    plan: ShardPlan
    policy: Policy

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        shard, replay = None, None
        for table in _steps(batches):
            label = table.column("shard")[0].as_py()
            if replay is None or label != shard:
                shard, replay = label, _ShardReplay(self.plan, self.policy, label)
            yield from replay.advance(table)


class _ShardReplay:
    def __init__(self, plan: ShardPlan, policy: Policy, shard: int) -> None:
        self._plan, self._policy, self._shard = plan, policy, shard
        self._held = (Held.nothing(plan.schemas[0]), Held.nothing(plan.schemas[1]))
        self._progress = Progress()
        self._pacing = PaceState()
        self._began = process_time()
        self._lessons: Lessons | None = None
        if plan.room is not None:
            self._lessons = Lessons.none_yet(
                plan.terms.windows, plan.room, plan.shape, plan.schemas
            )

    def advance(self, table: pa.Table) -> Iterator[pa.RecordBatch]:
        first = 0
        while first < table.num_rows:
            size = table.num_rows
            stored = len(self._held[0].place) + len(self._held[1].place)
            if self._lessons is not None:
                size = most_to_learn_from(sum(self._progress.seen), stored)
            elif self._policy.observes:
                size = most_to_observe(stored)
            if self._plan.pacer is not None:
                size = min(size, PACED_ROWS_AT_ONCE)
            yield from self._advance(table.slice(first, size))
            first += size

    def _advance(self, table: pa.Table) -> Iterator[pa.RecordBatch]:
        arriving = (self._arrivals(table, 0), self._arrivals(table, 1))
        pace, span_s = None, 0.0
        if self._plan.pacer is not None:
            span_s = covered_s(self._progress, (arriving[0].rows.time, arriving[1].rows.time))
            (left, right), pace = self._plan.pacer.admit(
                self._pacing,
                self._plan.terms.seed,
                numbered(arriving, self._progress.seen),
                span_s,
                elapsed_s=span_s,
            )
            arriving = (arriving[0].thinned(left), arriving[1].thinned(right))
        step = TableStep(
            self._plan.terms,
            self._plan.shape,
            self._held,
            arriving,
            self._progress,
            lessons=self._lessons,
            shard=self._plan.labels.index(self._shard),
            definitions=self._plan.definitions,
            pace=pace,
        )
        for results in step.results():
            yield from results.combine_chunks().to_batches()
        self._held = (step.survivors(0).compact(), step.survivors(1).compact())
        self._progress = step.after
        if (learned := step.learned()) is not None:
            self._lessons = learned.lessons
        if self._plan.pacer is not None:
            now = process_time()
            passed = step.passed(now - self._began)
            self._pacing = self._plan.pacer.after(self._pacing, passed, span_s, span_s)
            self._began = now

    def _arrivals(self, table: pa.Table, side: int) -> Screened:
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
    """Batches joined into steps of a good size, none with rows of two shards."""
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
