"""Fits a shard's state to a join that has changed since it was written (docs/guides/restarts.md).

Everything happens in the first batch after a restart, before its rows are joined, and is written
with that batch: a query killed in it finds the state as it was.
"""

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from headgate.kernel.given_up import needs_filter
from headgate.kernel.layout import Fate
from headgate.kernel.step_progress import NO_WATERMARK, StepProgress
from headgate.policies.kinds.residence_score import Residing
from headgate.spark.join.join_description import Facts
from headgate.spark.join.restart_rules import Restart
from headgate.spark.state.blobs import OLDEST
from headgate.spark.state.learned_state import begins_anew
from headgate.spark.state.local_copy import new_name
from headgate.spark.state.segments import (
    SEQUENCE,
    TIME,
    WEIGHT,
    Segment,
    bookkeeping,
    new_segment,
    payload,
)
from headgate.spark.state.shard_head import ShardHead
from headgate.spark.state.unsettled import Marks, Unsettled, place_of
from headgate.spec import How, SpecError

if TYPE_CHECKING:
    from headgate.spark.state.shard_state import ShardState

SIDES = ("left", "right")


def take_up(
    state: "ShardState", head: ShardHead, restart: Restart, weights: tuple[float, float]
) -> None:
    """Fit the state that a head describes to the plan of the join that takes it up.

    ``weights`` are for the rows of each side that have none and need one.
    """
    state.restart = restart
    if head.format == OLDEST and head.progress.clock != NO_WATERMARK:
        # It does not say whether anything was given up.
        state.lost_us = head.progress.clock >> 1
    watches_anew = state.plan.room is not None and head.batches > 0
    watches_anew &= begins_anew(restart) or not state.store.learned.exists()
    if state.plan.room is None and state.store.learned.exists():
        state.store.learned.clear()
        state.learned = None
    if not (restart.changed or watches_anew):
        return
    _fit_segments(state, weights)
    if restart.touches("how"):
        _fit_fates(state, How(restart.before["how"]))
    if restart.touches("policy", "samples"):
        _drop_history(state)
    before = state.progress
    state.progress = _fitted_progress(before, restart)
    gone = _gone(state, restart)
    if state.plan.terms.how != How.INNER:
        state.progress = state.progress._replace(given_up=_filters(state, restart, gone))
    unknown: Marks = (None, None)
    if watches_anew or restart.touches("how"):
        unknown = place_of(state.plan.terms.windows, before.clock >> 1, before.seen)
    if before.clock != NO_WATERMARK and (gone, unknown) != ((None, None), (None, None)):
        state.unsettled = (state.unsettled or Unsettled()).with_more(Unsettled(gone, unknown))


def _fit_segments(state: "ShardState", weights: tuple[float, float]) -> None:
    """Rewrite the tables of stored rows whose columns are not those of the plan."""
    weighed, counted = state.plan.terms.policy.weighs_keys, state.plan.shape.counted
    for place, segment in enumerate(state.segments):
        side = segment.side
        table = fitted(segment.table, state.plan.schemas[side], SIDES[side])
        table = _with_bookkeeping(table, segment.table, counted, weights[side] if weighed else None)
        if table is None:
            continue
        stored = state.stored_segments.put(new_name(state.batches), table)
        state.stored_segments.remove(segment.stored)
        fresh = new_segment(stored, side, table)
        state.segments[place] = replace(fresh, alive=segment.alive, fate=segment.fate)


def fitted(table: pa.Table, schema: pa.Schema, side: str) -> pa.Table:
    """The payload of a segment with the columns of a schema: null where there was none before."""
    rows = payload(table)
    if rows.schema == schema:
        return rows
    columns = []
    for field in schema:
        place = rows.schema.get_field_index(field.name)
        if place < 0:
            columns.append(pa.chunked_array([pa.nulls(rows.num_rows, field.type)]))
            continue
        column = rows.column(place)
        if column.null_count and not field.nullable:
            raise SpecError(
                f'column "{field.name}" of the {side} side is null in stored rows, and the query '
                f"now says that it never is: make it nullable, or start from a new checkpoint "
                f"location"
            )
        columns.append(column.cast(field.type))
    return pa.table(columns, schema=schema)


def _with_bookkeeping(
    rows: pa.Table, before: pa.Table, counted: bool, weight: float | None
) -> pa.Table | None:
    """The rows with the columns beside them; None where that is the table as it was."""
    beside = bookkeeping(before)
    table = rows.append_column(SEQUENCE, beside[SEQUENCE])
    if counted:
        table = table.append_column(TIME, beside[TIME])
    if weight is not None:
        usual = pa.chunked_array([np.full(rows.num_rows, weight)])
        table = table.append_column(WEIGHT, beside.get(WEIGHT, usual))
    return None if table.schema == before.schema else table


def _fit_fates(state: "ShardState", before: How) -> None:
    """What is known of the partners of stored rows, where the join is of another kind now.

    An inner join does not note who has met a partner. Where rows of a side without one did not come
    out, it was not noted whether they might have met a row that was given up.
    """
    now = state.plan.terms.how
    for place, segment in enumerate(state.segments):
        fate: np.ndarray | None = None
        if now != How.INNER:
            fate = _fates(state, segment, before)
        state.segments[place] = replace(segment, fate=fate)


def _fates(state: "ShardState", segment: Segment, before: How) -> np.ndarray:
    count, doubtful = len(segment.alive), np.uint8(Fate.DOUBTFUL)
    if before == How.INNER or segment.fate is None:
        return np.full(count, doubtful)
    is_new = state.plan.terms.how.outer[segment.side] and not before.outer[segment.side]
    if is_new and state.lost_us is not None:
        alone = segment.fate & np.uint8(Fate.MATCHED) == 0
        return np.where(alone, segment.fate | doubtful, segment.fate).astype(np.uint8)
    return segment.fate


def _drop_history(state: "ShardState") -> None:
    """Remove the log of what rows brought, where the policy does not go by it."""
    policy = state.plan.terms.policy
    if policy.keeps_history or policy.learns:
        return
    for stored, _ in state.logs:
        state.stored_logs.remove(stored)
    state.logs = []


def _fitted_progress(progress: StepProgress, restart: Restart) -> StepProgress:
    """The progress without what only the policy, the windows or the goal before gave a meaning."""
    if restart.windows or restart.touches("policy", "seed", "samples"):
        fresh = StepProgress()
        progress = progress._replace(frames=fresh.frames, memory=fresh.memory, residence=Residing())
    if restart.touches("policy", "samples"):
        progress = progress._replace(thresholds=((), ()))
    if restart.touches("goal", "importance"):
        # What the program says now is later than what was published before.
        progress = progress._replace(definitions=())
    return progress


def _gone(state: "ShardState", restart: Restart) -> Marks:
    """By side, the place before which rows have left that a longer window would hold.

    A row is kept past its window while a row out of order could still meet it: until the watermark
    has passed, too.
    """
    heard, progress = state.store.watermark.get(), state.progress
    latest = progress.clock >> 1
    if heard is not None:
        latest = min(latest, int(heard[0]))
    here = place_of(state.plan.terms.windows, latest, progress.seen)
    found: list[int | None] = []
    for side, name in enumerate(SIDES):
        mark, place = None, here[side]
        if restart.touches(f"{name} window") and place is not None:
            was, now = (_span(facts[f"{name} window"]) for facts in (restart.before, restart.now))
            mark = place - was if now > was else None
        found.append(mark)
    return found[0], found[1]


def _span(window: Facts) -> int:
    ((_, span),) = window.items()
    return int(span)


def _filters(state: "ShardState", restart: Restart, gone: Marks) -> tuple[bytes, bytes]:
    """The filters of given-up keys, with rows that are gone for other reasons entered for every
    key: a row that could have met one of them is doubtful."""
    how, before = state.plan.terms.how, How(restart.before.get("how", state.plan.terms.how))
    found = []
    for side, kept in enumerate(state.progress.given_up):
        marks = [gone[side]]
        if needs_filter(how, side) and not needs_filter(before, side) and state.lost_us is not None:
            marks.append(
                place_of(state.plan.terms.windows, state.lost_us, state.progress.seen)[side]
            )
        if not needs_filter(how, side):
            found.append(b"")
        elif any(mark is not None for mark in marks):
            slots = np.frombuffer(kept, np.int64) if kept else np.full(1, -(1 << 63), np.int64)
            found.append(
                np.maximum(slots, max(mark for mark in marks if mark is not None)).tobytes()
            )
        else:
            found.append(kept)
    return found[0], found[1]
