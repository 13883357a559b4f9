"""The stateful processor of a streaming join: reads state, runs the kernel, emits results."""

from collections.abc import Iterable, Iterator
from contextlib import nullcontext
from dataclasses import replace
from functools import partial

import pandas as pd
import pyarrow as pa
from pyspark.sql.streaming.stateful_processor import TimerValues

from headgate.engine.definitions import Definitions, known_definitions
from headgate.engine.driver import Driver
from headgate.engine.finished_batch import FinishedBatch
from headgate.engine.join_step import results
from headgate.engine.passed_rows import may_set_aside, without_passed
from headgate.engine.placed_rows import Screened
from headgate.engine.stats import Stats
from headgate.engine.step_cuts import StepArrivals, in_steps, keep_compact
from headgate.engine.table_coding import TableCoding
from headgate.engine.table_rows import TableRows, screen
from headgate.kernel.step_progress import StepProgress
from headgate.spark.join.join_metrics import stats_row
from headgate.spark.join.memory_figures import expected_of_shard, limits_of
from headgate.spark.join.published_changes import CHANGES, LIMITS, read_changes, read_limit
from headgate.spark.join.sample_tally import SampleTally
from headgate.spark.join.shard_pacing import ShardPacing
from headgate.spark.join.task_ledger import TaskLedger
from headgate.spark.row_output import figures_frame, row_frame
from headgate.spark.shard_arrivals import ShardArrivals
from headgate.spark.shard_output import result_rows
from headgate.spark.shard_processor import ShardProcessor, Stopwatch, result_blobs
from headgate.spark.state.local_copy import LocalCopy
from headgate.spark.state.shard_state import ShardState
from headgate.spark.worker_settings import settle
from headgate.spec import SpecError

TIE_US = 1_000
"""Watermarks are in whole milliseconds. A row whose window ends at the watermark can meet nobody
any more, but Spark's own outer joins put it out only when the watermark is past that end."""


class JoinProcessor(ShardProcessor):
    """Joins the rows of one shard, batch after batch.

    Late rows are those Spark's own join drops: at or before the watermark *of the previous batch*.
    Spark gives a processor only the current watermark, so each shard stores the previous one. Rows
    without a partner come out in the batch in which Spark's own join puts them out.
    """

    def _advance(
        self, shard: int, frames: Iterator[pd.DataFrame], timer_values: TimerValues
    ) -> Iterator[pd.DataFrame]:
        ledger = TaskLedger(self._plan.operator)
        with nullcontext() if self._plan.pacer is None else ledger.timing(f"join-{shard}"):
            yield from self._joined(frames, shard, ledger, timer_values)

    def _joined(
        self,
        frames: Iterator[pd.DataFrame],
        shard: int,
        ledger: TaskLedger,
        timer_values: TimerValues,
    ) -> Iterator[pd.DataFrame]:
        watch = Stopwatch()
        came = ShardArrivals.read(frames, dict(enumerate(self._plan.schemas)))
        local = LocalCopy(self._plan.operator, shard)
        state = ShardState.read(self._plan, self._store, local, came.usual_weights)
        watermark = timer_values.getCurrentWatermarkInMs() * 1000
        late_at = state.hear_watermark(watermark)
        held, passed = (state.held(0), state.held(1)), Stats()
        self._hear_limits(came.notices, state, self._plan.labels.index(shard))
        plan = state.plan
        definitions, progress = self._definitions(came.notices, state)
        pacing = None
        # Time without input is counted with the next batch that has some.
        if plan.pacer is not None and not came.is_nothing:
            pacing = ShardPacing(plan.pacer, len(plan.labels), shard, state.pacing, ledger)
        coding = TableCoding(plan.shape, definitions, state.learned_before())
        arriving = (self._screened(came, 0, late_at), self._screened(came, 1, late_at))
        terms, tally = plan.terms_of(shard), SampleTally(plan.shape.drawn)
        tie_us = TIE_US if any(terms.how.outer) else 0
        if may_set_aside(terms, coding.learner):
            held, passed = without_passed(held, arriving, terms, watermark, progress.clock >> 1)
        driver = Driver(coding, (held[0].narrowed(), held[1].narrowed()), progress, pacing)
        driver.stats = passed
        state.figures["copied"] = self._copies(came, plan.labels.index(shard))
        watch.lap("read_ms")
        size = partial(driver.most_at_once, terms)
        came_now = len(arriving[0]) + len(arriving[1])
        by_key = plan.follows_keys and driver.watches_among(came_now)
        parts: Iterable[StepArrivals] = [StepArrivals(arriving)]
        if not driver.takes_whole(terms, came_now):
            parts = in_steps(arriving, plan.shape, size, by_key)
        for part in parts:
            step = driver.begin(terms, part.arriving, watermark=late_at - tie_us, keep_late=True)
            raised = watermark - tie_us if part.is_last else None
            rows = results(step, plan.shape, plan.labels.index(shard), watermark=raised)
            yield from self._put_out(tally.counted(rows))
            driver.finish(step)
            if not part.is_last:
                keep_compact(driver, step)
        watch.lap("join_ms")
        if pacing is not None:
            state.pacing = pacing.text
        whole = part.arriving is arriving
        done = step if whole else FinishedBatch(progress, held, step, driver.stats)
        state.write(done, held, driver.learned)
        watch.lap("write_ms")
        watch.laps["cpu_ms"] = round(1000 * pacing.seconds) if pacing is not None else 0
        clocks = (progress.clock, step.after.clock)
        sampled = tally.figures
        figures = self._figures(shard, driver, state, watch, clocks, definitions, sampled=sampled)
        yield figures if plan.row_columns is None else figures_frame(figures, plan.row_columns)
        settle()

    def _copies(self, came: ShardArrivals, number: int) -> int:
        """How many of the arrivals other shards have, too."""
        split = self._plan.split
        if split is None:
            return 0
        return sum(split.copies(came.sides[side].table, side, number) for side in (0, 1))

    def _put_out(self, pieces: Iterable[pa.Table]) -> Iterator[pd.DataFrame]:
        """The result as the operator puts it out: as rows, or in blobs."""
        if self._plan.row_columns is None:
            for blobs in result_blobs(pieces, self._plan.row_bytes):
                yield result_rows(blobs)
        else:
            yield from map(row_frame, pieces)

    def _figures(
        self,
        shard: int,
        driver: Driver[TableRows],
        state: ShardState,
        watch: Stopwatch,
        clocks: tuple[int, int],
        definitions: Definitions | None,
        *,
        sampled: dict[str, float],
    ) -> pd.DataFrame:
        """The row of metrics for the batch."""
        stats, figures = driver.stats, {**state.figures, **limits_of(state.plan)}
        expected = expected_of_shard(state.plan, clocks, stats, driver.learned)
        if definitions is not None:
            stats = replace(stats, redefined=stats.redefined + definitions.at_once)
        figures["shard"] = self._plan.labels.index(shard)
        expected |= sampled
        return stats_row(stats, figures, watch.laps, driver.learned, state.plan, expected)

    def _hear_limits(self, notices: pd.DataFrame, state: ShardState, own: int) -> None:
        """Apply new limits that came with this batch: those of the join, and this shard's own."""
        if notices.empty:
            return
        allowance = self._plan.allowance
        for _, told in read_changes(notices[notices["side"] == LIMITS]):
            try:
                shard, limit = read_limit(told, None if allowance is None else allowance.most)
                if shard is None:
                    state.limit_to(limit)
                elif shard == own:
                    # A shard's part is that of a join in which all have as much.
                    state.limit_to(limit * len(self._plan.labels))
            except SpecError:
                # An invalid limit must not fail the query; it shows in the metrics.
                state.figures["misdefined"] += 1

    def _definitions(
        self, notices: pd.DataFrame, state: ShardState
    ) -> tuple[Definitions | None, StepProgress]:
        """The definitions of importance for this batch, including new ones that came with it."""
        if self._plan.definitions is None:
            return None, state.progress
        news = read_changes(notices[notices["side"] == CHANGES])
        goal, schemas = self._plan.definitions.goals[0], self._plan.schemas
        known = known_definitions(goal, state.progress, schemas, news)
        state.figures["misdefined"] += known.refused
        return known.definitions, known.progress

    def _screened(self, came: ShardArrivals, side: int, late_at: int) -> Screened[TableRows]:
        """The rows of a side that can take part in the join."""
        table, weight = came.sides[side]
        return screen(table, self._plan.shape.times[side], weight, late_at)
