"""Reads and writes a shard's durable state.

The state store holds a *head* (the join's progress, the list of segments, which of their rows are
live), the *segments* themselves, and a *history* log for policies that score by history. A batch
reads the head, takes segments from their local copies, and writes its new segment, the changes of
the history, and the head. Everything is Arrow IPC behind a version number.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import numpy as np
import pyarrow as pa

from headgate.deferred_processor import Variables
from headgate.engine.learned_step import LearnedState, LearnedStep
from headgate.engine.stats import Stats
from headgate.engine.table_rows import TableRows
from headgate.kernel.progress import Progress
from headgate.kernel.rows import Rows
from headgate.policies.kinds.residence_score import Residing
from headgate.spark.join.shard_plan import ShardPlan, check_same_join
from headgate.spark.state.blobs import from_blob, to_blob
from headgate.spark.state.learned_state import VALUE as LEARNED
from headgate.spark.state.learned_state import read_learned, write_learned
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
from headgate.spark.state.settled_state import (
    GivenUpFilters,
    pack_fates,
    unpack_fates,
    with_fates,
)
from headgate.spark.state.stored_tables import KEY, VALUE, Stored, StoredTables
from headgate.spec import How, SpecError

SMALLEST_LOG = 10_000
"""History entries always allowed to accumulate before the log is rewritten."""
SMALLEST_DEAD_BYTES = 1_000_000
"""Bytes of dead rows not worth reclaiming when only rows are limited."""

_DIRECTORY = pa.schema(
    [
        ("name", pa.string()),
        ("parts", pa.int32()),
        ("side", pa.int8()),
        ("rows", pa.int64()),
        ("bytes", pa.int64()),
        ("alive", pa.binary()),
        ("checksum", pa.int64()),
        ("fates", pa.binary()),
    ]
)


class FinishedStep(Protocol):
    """What the state needs to know of a batch: the step it took, or `FinishedBatch` of several."""

    @property
    def stats(self) -> Stats: ...

    @property
    def after(self) -> Progress: ...

    @property
    def keeps_history(self) -> bool: ...

    def alive(self, side: int) -> np.ndarray: ...

    def kept_arrivals(self, side: int) -> TableRows: ...

    def survivors(self, side: int) -> TableRows: ...


VARIABLES: Variables = (
    ("head", "blob binary"),
    ("watermark", "micros long"),
    ("segments", KEY, VALUE),
    ("histories", KEY, VALUE),
    ("lessons", LEARNED),
)
"""State variables as checkpoints have them."""


@dataclass
class ShardStore:
    """The state variables of a shard, as Spark hands them out."""

    head: Any
    watermark: Any
    segments: Any
    histories: Any
    learned: Any

    @classmethod
    def of(cls, states: Mapping[str, Any]) -> "ShardStore":
        """The variables among the declared ones."""
        return cls(
            head=states["head"],
            watermark=states["watermark"],
            segments=states["segments"],
            histories=states["histories"],
            learned=states["lessons"],
        )


@dataclass
class ShardState:
    """A shard's state, read at the start of a batch and written at its end."""

    plan: ShardPlan
    store: ShardStore
    stored_segments: StoredTables
    stored_logs: StoredTables
    progress: Progress = field(default_factory=Progress)
    segments: list[Segment] = field(default_factory=list)
    logs: list[tuple[Stored, int]] = field(default_factory=list)
    """The parts of the history log, oldest first, and how many entries each has."""
    batches: int = 0
    pacing: str = ""
    """What work took, and may take; see `shard_pacing.py`."""
    limit: int | None = None
    """Rows or bytes that the whole join may store, if changed since the start."""
    figures: dict[str, int] = field(default_factory=dict)
    filters: GivenUpFilters = field(init=False)
    """The filters of given-up keys, in joins that are not inner."""

    def __post_init__(self) -> None:
        self.filters = GivenUpFilters(self.stored_segments, None)

    @classmethod
    def read(cls, plan: ShardPlan, store: ShardStore, local: LocalCopy) -> "ShardState":
        """Read the state as the last batch left it."""
        state = cls(
            plan, store, StoredTables(store.segments, local), StoredTables(store.histories, local)
        )
        state.figures = {"compacted": 0, "misdefined": 0, "copied": 0}
        head = store.head.get()
        if head is None:
            local.keep_only(())
            return state
        directory = from_blob(head[0])
        facts = json.loads(directory.schema.metadata[b"facts"])
        check_same_join(facts["description"], plan.description)
        thresholds = [tuple(tuple(entry) for entry in pool) for pool in facts["bars"]]
        left, right = (tuple(frame) for frame in facts["frames"])
        # Heads of inner joins, and those that an earlier version wrote, have no filters.
        state.filters = GivenUpFilters(state.stored_segments, facts.get("given_up"))
        state.progress = Progress(
            clock=facts["clock"],
            seen=tuple(facts["seen"]),
            thresholds=(thresholds[0], thresholds[1]),
            frames=(left, right),
            memory=facts["memory"],
            residence=Residing.of(facts["residence"]),
            definitions=tuple((at, definition) for at, definition in facts["definitions"]),
            given_up=state.filters.read(),
        )
        state.logs = [(Stored(*stored), count) for stored, count in facts["logs"]]
        state.batches = facts["batches"]
        state.pacing = facts["pacing"]
        if plan.allowance is not None and facts["limit"] is not None:
            state.restore_limit(facts["limit"])
        for entry in directory.to_pylist():
            bits = np.frombuffer(entry["alive"], np.uint8)
            alive = np.unpackbits(bits, count=entry["rows"]).astype(bool)
            # Heads that an earlier version wrote have no checksums.
            stored = Stored(entry["name"], entry["parts"], entry.get("checksum"))
            table = state.stored_segments.get(stored)
            fate = unpack_fates(entry.get("fates"), entry["rows"])
            state.segments.append(
                Segment(stored, entry["side"], table, alive, entry["bytes"], fate)
            )
        local.keep_only(
            [segment.stored.name for segment in state.segments]
            + [stored.name for stored, _ in state.logs]
            + state.filters.names
        )
        return state

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
        rows, recent = held.rows, _recent(held.rows)
        # Within a batch rows may arrive in any order, so sequences need not ascend.
        order = np.argsort(rows.sequence, kind="stable") if self.logs else np.empty(0, np.int64)
        for stored, _ in self.logs:
            log = self.stored_logs.get(stored)
            mine = log.column("side").to_numpy() == side
            sequence = log.column("sequence").to_numpy()[mine]
            found = np.searchsorted(rows.sequence, sequence, sorter=order)
            at_hand = found < len(order)
            at = np.zeros(len(found), np.int64)
            at[at_hand] = order[found[at_hand]]
            at_hand[at_hand] = rows.sequence[at[at_hand]] == sequence[at_hand]
            rows.matches[at[at_hand]] = log.column("matches").to_numpy()[mine][at_hand]
            rows.touched[at[at_hand]] = log.column("touched").to_numpy()[mine][at_hand]
            recent[at[at_hand]] = log.column("recent").to_numpy()[mine][at_hand]
        return replace(held, rows=rows._replace(recent=recent))

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
        self.filters.write(self.progress.given_up, self.batches)
        learned_bytes = 0
        if learned is not None:
            learned_bytes = self._write_learned(learned, step.stats)
        head_bytes = self.write_head()
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
        return read_learned(self.plan, self.store.learned)

    def _write_learned(self, learned: LearnedStep, stats: Stats) -> int:
        monitor = learned.state.monitor
        monitor.pairs += stats.pairs
        monitor.lost += stats.given_up
        return write_learned(self.store.learned, learned.state)

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
            mine = with_fates(mine, step.survivors(side).rows.fates)
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
            _changed(held[side].rows.where(step.alive(side)[: len(held[side])]), now[side])
            for side in (0, 1)
        ]
        live = sum(len(rows.time) for rows in now)
        entries = sum(count for _, count in self.logs) + sum(int(c.sum()) for c in changed)
        if entries > max(live, SMALLEST_LOG):
            for stored, _ in self.logs:
                self.stored_logs.remove(stored)
            self.logs = []
            changed = [has_history(rows) for rows in now]
        table = _history_table(now, changed)
        if table.num_rows:
            stored = self.stored_logs.put(new_name(self.batches), table)
            self.logs.append((stored, table.num_rows))

    def write_head(self) -> int:
        """Write the list of segments and the progress; return the bytes written."""
        facts = {
            "description": self.plan.description,
            "clock": self.progress.clock,
            "seen": list(self.progress.seen),
            "bars": self.progress.thresholds,
            "frames": self.progress.frames,
            "memory": self.progress.memory,
            "residence": self.progress.residence,
            "definitions": self.progress.definitions,
            "logs": self.logs,
            "batches": self.batches,
            "pacing": self.pacing,
            "limit": self.limit,
            "given_up": self.filters.stored,
        }
        directory = pa.table(
            {
                "name": [segment.stored.name for segment in self.segments],
                "parts": [segment.stored.parts for segment in self.segments],
                "side": [segment.side for segment in self.segments],
                "rows": [len(segment.alive) for segment in self.segments],
                "bytes": [segment.bytes for segment in self.segments],
                "alive": [np.packbits(segment.alive).tobytes() for segment in self.segments],
                "checksum": [segment.stored.checksum for segment in self.segments],
                "fates": [pack_fates(segment.fate) for segment in self.segments],
            },
            schema=_DIRECTORY.with_metadata({"facts": json.dumps(facts)}),
        )
        blob = to_blob(directory)
        self.store.head.update((blob,))
        return len(blob)


def has_history(rows: Rows) -> np.ndarray:
    """Which rows have changed since they arrived."""
    changed: np.ndarray = (rows.matches > 0) | (rows.touched != rows.time) | (_recent(rows) > 0)
    return changed


def _changed(before: Rows, now: Rows) -> np.ndarray:
    """Which stored rows differ from the state, which holds the rows stored before."""
    count = len(before.time)
    differs = has_history(now)
    differs[:count] = (
        (now.matches[:count] != before.matches)
        | (now.touched[:count] != before.touched)
        | (_recent(now)[:count] != _recent(before))
    )
    return differs


def _history_table(rows: list[Rows], which: list[np.ndarray]) -> pa.Table:
    return pa.table(
        {
            "side": np.repeat(np.array([0, 1], np.int8), [int(w.sum()) for w in which]),
            "sequence": np.concatenate([r.sequence[w] for r, w in zip(rows, which, strict=True)]),
            "matches": np.concatenate([r.matches[w] for r, w in zip(rows, which, strict=True)]),
            "touched": np.concatenate([r.touched[w] for r, w in zip(rows, which, strict=True)]),
            "recent": np.concatenate([_recent(r)[w] for r, w in zip(rows, which, strict=True)]),
        }
    )


def _recent(rows: Rows) -> np.ndarray:
    return np.zeros(len(rows.time)) if rows.recent is None else rows.recent
