"""Reads and writes a shard's durable state.

The state store holds a *head* (the join's progress, the list of segments, which of their rows are
live), the *segments* themselves, and a *history* log for policies that score by history. A batch
reads the head, takes segments from their local copies, and writes its new segment, the changes of
the history, and the head. Everything is Arrow IPC behind a version number.
"""

from dataclasses import dataclass, field, replace
from typing import Protocol

import numpy as np
import pyarrow as pa

from headgate.engine.learned_step import LearnedState, LearnedStep
from headgate.engine.stats import Stats
from headgate.engine.table_rows import TableRows
from headgate.kernel.step_progress import NO_WATERMARK, StepProgress
from headgate.spark.join.restart_rules import Restart, check_restart
from headgate.spark.join.shard_plan import ShardPlan
from headgate.spark.state.blobs import damaged
from headgate.spark.state.given_up_filters import GivenUpFilters, with_fates
from headgate.spark.state.history_log import (
    changed_since,
    has_history,
    history_table,
    with_history,
)
from headgate.spark.state.learned_state import (
    check_learned,
    read_learned,
    unobserved,
    write_learned,
)
from headgate.spark.state.local_copy import LocalCopy, new_name
from headgate.spark.state.segments import (
    Segment,
    held_rows,
    live_fates,
    live_rows,
    mark_dead,
    new_segment,
    runs_to_rewrite,
    to_table,
)
from headgate.spark.state.shard_head import SegmentEntry, ShardHead, ShardPlace
from headgate.spark.state.shard_store import ShardStore
from headgate.spark.state.stored_tables import StoredTables, TablePlace
from headgate.spark.state.taken_up import take_up
from headgate.spark.state.unsettled import ArrivalMarks, Unsettled, place_of
from headgate.spec import How, SpecError

SMALLEST_LOG = 10_000
"""History entries always allowed to accumulate before the log is rewritten."""
SMALLEST_DEAD_BYTES = 1_000_000
"""Bytes of dead rows not worth reclaiming when only rows are limited."""


class FinishedStep(Protocol):
    """What the state needs to know of a batch: the step it took, or `FinishedBatch` of several."""

    @property
    def stats(self) -> Stats: ...

    @property
    def after(self) -> StepProgress: ...

    @property
    def keeps_history(self) -> bool: ...

    def alive(self, side: int) -> np.ndarray: ...

    def kept_arrivals(self, side: int) -> TableRows: ...

    def kept_fates(self, side: int) -> np.ndarray: ...

    def survivors(self, side: int) -> TableRows: ...


@dataclass
class ShardState:
    """A shard's state, read at the start of a batch and written at its end."""

    plan: ShardPlan
    store: ShardStore
    stored_segments: StoredTables
    stored_logs: StoredTables
    progress: StepProgress = field(default_factory=StepProgress)
    segments: list[Segment] = field(default_factory=list)
    logs: list[tuple[TablePlace, int]] = field(default_factory=list)
    """The parts of the history log, oldest first, and how many entries each has."""
    batches: int = 0
    pacing: str = ""
    """What work took, and may take; see `shard_pacing.py`."""
    limit: int | None = None
    """Rows or bytes that the whole join may store, if changed since the start."""
    figures: dict[str, int] = field(default_factory=dict)
    filters: GivenUpFilters = field(init=False)
    """The filters of given-up keys, in joins that are not inner."""
    watermark_us: int | None = None
    learned: int | None = None
    """The checksum of what was learned; None where nothing is."""
    arrivals: ArrivalMarks = field(default_factory=ArrivalMarks)
    lost_us: int | None = None
    """The latest event time by which anything was given up; None if nothing ever was."""
    unsettled: Unsettled | None = None
    restart: Restart = field(default_factory=Restart)
    """What is different from the join that wrote the state."""
    has_settled: bool = False
    """Whether what a change at a restart left open has come to an end in this batch."""

    def __post_init__(self) -> None:
        self.filters = GivenUpFilters(self.stored_segments)

    @classmethod
    def read(
        cls,
        plan: ShardPlan,
        store: ShardStore,
        local: LocalCopy,
        weights: tuple[float, float] = (0.0, 0.0),
    ) -> "ShardState":
        """Read the state as the last batch left it, and fit it to the plan where that has changed.

        ``weights`` are for each side's stored rows if the policy weighs keys and the one before did
        not.
        """
        state = cls(
            plan, store, StoredTables(store.segments, local), StoredTables(store.histories, local)
        )
        state.figures = {"compacted": 0, "misdefined": 0, "copied": 0}
        blob = store.head.get()
        if blob is None:
            if store.segments.exists() or store.watermark.exists():
                raise damaged(f"the head of shard {local.shard}", "it is missing")
            local.keep_only(())
            return state
        head = ShardHead.read(blob[0], f"the head of shard {local.shard}")
        state._check_place(head.place)
        restart = check_restart(head.description, plan.description)
        state._take(head)
        # A budget that the program has changed is later than any limit published before.
        if plan.allowance is not None and head.limit is not None and not restart.touches("budget"):
            state.restore_limit(head.limit)
        take_up(state, head, restart, weights)
        local.keep_only(
            [segment.stored.name for segment in state.segments]
            + [stored.name for stored, _ in state.logs]
            + state.filters.names
        )
        return state

    def _check_place(self, place: ShardPlace | None) -> None:
        own = ShardPlace(self.plan.labels.index(self.label), self.label, len(self.plan.labels))
        if place is not None and place[:2] != own[:2]:
            raise damaged(f"the head of shard {self.label}", f"it is that of shard {place.label}")

    def _take(self, head: ShardHead) -> None:
        """Take over what a head says, and read the tables that it lists."""
        self.filters = GivenUpFilters(self.stored_segments, head.filters)
        self.progress = head.progress._replace(given_up=self.filters.read())
        self.logs, self.batches, self.pacing = list(head.logs), head.batches, head.pacing
        self.watermark_us, self.learned = head.watermark_us, head.learned
        self.arrivals, self.lost_us, self.unsettled = head.arrivals, head.lost_us, head.unsettled
        for entry in head.segments:
            table = self.stored_segments.get(entry.stored)
            if table.num_rows != len(entry.alive):
                raise damaged(
                    f"table {entry.stored.name} of shard {self.label}",
                    f"it has {table.num_rows} rows and the head says {len(entry.alive)}",
                )
            self.segments.append(
                Segment(entry.stored, entry.side, table, entry.alive, entry.bytes, entry.fate)
            )

    @property
    def label(self) -> int:
        """The shard's label."""
        return self.stored_segments.local.shard

    def hear_watermark(self, now_us: int) -> int:
        """Store the watermark of this batch; returns that of the batch before."""
        heard = self.store.watermark.get()
        before = NO_WATERMARK if heard is None else int(heard[0])
        noted = before if self.watermark_us is None else self.watermark_us
        what = f"the watermark of shard {self.label}"
        if noted != before:
            raise damaged(what, f"it is {before} and the head says {noted}")
        if now_us < before:
            raise damaged(
                what, f"the batch has {now_us}, and the one before had {before}: it never falls"
            )
        self.store.watermark.update((now_us,))
        self.watermark_us = now_us
        return before

    def limit_to(self, amount: int) -> None:
        """Set the rows or bytes that the whole join may store from now on."""
        self.plan, self.limit = self.plan.within(amount), amount

    def restore_limit(self, amount: int) -> None:
        """Restore the last limit; use the original budget if it no longer suits a shard."""
        try:
            self.limit_to(amount)
        except SpecError:
            self.figures["misdefined"] += 1

    def held(self, side: int) -> TableRows:
        """A side's stored rows with their history."""
        shape = self.plan.shape
        time = None if shape.counted else shape.times[side]
        held = held_rows(self._of_side(side), self.plan.schemas[side], time)
        logs = (self.stored_logs.get(stored) for stored, _ in self.logs)
        return replace(held, rows=with_history(held.rows, logs, side))

    def write(
        self,
        step: FinishedStep,
        held: tuple[TableRows, TableRows],
        learned: LearnedStep | None = None,
    ) -> None:
        """Write the state after a step, with what it learned."""
        self.batches += 1
        for side in (0, 1):
            self._update_side(step, side, held[side])
        self._reclaim(step.stats.stored_bytes)
        if step.keeps_history:
            self._log_history(step, held)
        self.progress = step.after
        self._note(step.stats)
        self.filters.write(self.progress.given_up, self.batches)
        learned_bytes = 0
        if learned is not None:
            learned_bytes = self._write_learned(learned, step.stats)
        elif self.learned is not None:
            self.store.learned.clear()
            self.learned = None
        head_bytes = self._write_head()
        held_bytes = sum(segment.bytes for segment in self.segments)
        self.figures |= {
            "held_bytes": held_bytes,
            "dead_bytes": held_bytes - step.stats.stored_bytes,
            "segments": len(self.segments),
            "rebuilt": int(self.stored_segments.fetched or self.stored_logs.fetched),
            "written_bytes": head_bytes
            + learned_bytes
            + self.stored_segments.written_bytes
            + self.stored_logs.written_bytes,
        }

    def learned_before(self) -> LearnedState | None:
        """What was learned so far; None if the join learns nothing."""
        what = f"what shard {self.label} has learned"
        kept = self.store.learned.get()
        if self.learned is not None:
            check_learned(kept, self.learned, what)
        state = read_learned(self.plan, kept, what, self.restart)
        if state is not None and (self.lost_us is not None or self.unsettled is not None):
            state.monitor.has_given_up = True
        return state

    def _write_learned(self, learned: LearnedStep, stats: Stats) -> int:
        monitor = learned.state.monitor
        monitor.pairs += stats.pairs
        monitor.lost += stats.given_up
        state = learned.state
        if self.has_settled:
            state = unobserved(state)
        written, self.learned = write_learned(self.store.learned, state)
        return written

    def _note(self, stats: Stats) -> None:
        """Note what may be asked after a later restart, and what the last has left open."""
        windows, progress = self.plan.terms.windows, self.progress
        if progress.clock != NO_WATERMARK:
            self.arrivals.add(progress.clock >> 1, progress.seen)
            if stats.given_up:
                self.lost_us = progress.clock >> 1
        gone, before = 0, self.unsettled
        if before is not None:
            gone = before.gone_rows(windows, progress, self.arrivals)
            # Rows at or before the watermark are late: none of them is joined any more.
            earliest = progress.clock >> 1 if self.watermark_us is None else self.watermark_us
            self.unsettled = before.after(windows, place_of(windows, earliest, progress.seen))
        self.has_settled = before is not None and self.unsettled is None
        self.figures |= {"gone_rows": gone, "shards_unsettled": int(before is not None)}

    def _of_side(self, side: int) -> list[Segment]:
        return [segment for segment in self.segments if segment.side == side]

    def _update_side(self, step: FinishedStep, side: int, held: TableRows) -> None:
        alive = step.alive(side)
        mine = self._of_side(side)
        others = [segment for segment in self.segments if segment.side != side]
        if mine:
            mine = mark_dead(mine, held, alive[: len(held.place)])
        kept = step.kept_arrivals(side)
        if len(kept):
            table = to_table(
                kept,
                with_weight=self.plan.terms.policy.weighs_keys,
                with_time=self.plan.shape.counted,
            )
            mine.append(self._keep(side, table))
        for segment in mine:
            if not segment.alive.any():
                self.stored_segments.remove(segment.stored)
        mine = [segment for segment in mine if segment.alive.any()]
        if self.plan.terms.how != How.INNER:
            mine = with_fates(mine, step.kept_fates(side))
        self.segments = others + mine

    def _keep(self, side: int, table: pa.Table) -> Segment:
        return new_segment(self.stored_segments.put(new_name(self.batches), table), side, table)

    def _reclaim(self, live_bytes: int) -> None:
        """Rewrite segments when dead rows exceed their limit or there are too many segments."""
        most_dead = self.plan.most_dead_bytes
        if most_dead is None:
            most_dead = max(live_bytes, SMALLEST_DEAD_BYTES)
        dead = sum(segment.dead_bytes for segment in self.segments)
        for side in (0, 1):
            mine = self._of_side(side)
            share = sum(segment.dead_bytes for segment in mine) / max(dead, 1)
            runs = runs_to_rewrite(mine, int(most_dead * share))
            for first, end in reversed(runs):
                fresh = self._keep(side, live_rows(mine[first:end]))
                fresh = replace(fresh, fate=live_fates(mine[first:end]))
                for old in mine[first:end]:
                    self.stored_segments.remove(old.stored)
                mine[first:end] = [fresh]
                self.figures["compacted"] += end - first
            self.segments = [s for s in self.segments if s.side != side] + mine

    def _log_history(self, step: FinishedStep, held: tuple[TableRows, TableRows]) -> None:
        """Log the rows that matched in this batch; rewrite the log when it outgrows the rows."""
        now = [step.survivors(side).rows for side in (0, 1)]
        changed = [
            changed_since(held[side].rows.where(step.alive(side)[: len(held[side])]), now[side])
            for side in (0, 1)
        ]
        live = sum(len(rows.time) for rows in now)
        entries = sum(count for _, count in self.logs) + sum(int(c.sum()) for c in changed)
        if entries > max(live, SMALLEST_LOG):
            for stored, _ in self.logs:
                self.stored_logs.remove(stored)
            self.logs = []
            changed = [has_history(rows) for rows in now]
        table = history_table(now, changed)
        if table.num_rows:
            stored = self.stored_logs.put(new_name(self.batches), table)
            self.logs.append((stored, table.num_rows))

    def _write_head(self) -> int:
        own = self.plan.labels.index(self.label)
        blob = ShardHead(
            description=self.plan.description,
            place=ShardPlace(own, self.label, len(self.plan.labels)),
            progress=self.progress,
            segments=[
                SegmentEntry(each.stored, each.side, each.alive, each.bytes, each.fate)
                for each in self.segments
            ],
            filters=self.filters.stored,
            logs=self.logs,
            batches=self.batches,
            watermark_us=self.watermark_us,
            pacing=self.pacing,
            limit=self.limit,
            learned=self.learned,
            arrivals=self.arrivals,
            lost_us=self.lost_us,
            unsettled=self.unsettled,
        ).to_blob()
        self.store.head.update((blob,))
        return len(blob)
