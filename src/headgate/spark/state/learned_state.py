"""Stores a shard's learned models in the state store."""

from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from headgate.columns.hashing import hash_keys
from headgate.engine.learned_step import LearnedState
from headgate.engine.table_learner import nothing_learned
from headgate.learning import Monitor
from headgate.learning.key_counts import marks_of, padded
from headgate.learning.rivals import RivalRows
from headgate.learning.standing import Standing
from headgate.learning.watched_rows import WatchedRows
from headgate.policies.learned import KEEP_HISTORY
from headgate.spark.join.shard_plan import ShardPlan
from headgate.spark.state.blobs import from_blob, to_blob

VALUE = (
    "facts string, left binary, right binary, tracked binary, left_tried binary, right_tried binary"
)
_ROW_COLUMNS = WatchedRows._fields[:-3]  # codes, values and sources are valid only within a batch


def read_learned(plan: ShardPlan, variable: Any) -> LearnedState | None:
    """Read what earlier batches learned; None if the join learns nothing."""
    if plan.room is None:
        return None
    state = nothing_learned(plan.terms.windows, plan.room, plan.shape, plan.schemas)
    kept = variable.get()
    if kept is None:
        return state
    monitor = state.monitor
    monitor.recall_facts(kept[0])
    tracked = _recall_counts(monitor, from_blob(kept[3]))
    (left, beside_left), (right, beside_right) = (
        _parted(from_blob(blob), known)
        for blob, known in zip(kept[1:3], state.watched_columns, strict=True)
    )
    watched = _watched_rows((beside_left, beside_right))
    state = replace(state, watched=watched, watched_columns=(left, right), tracked=tracked)
    # Earlier versions kept empty trials of nobody until memory ran full.
    if kept[4] is None or not monitor.standing.names:
        return state
    if not plan.room.tried.holds(1, 1):
        # The budget has since become too small for trying policies.
        monitor.standing, monitor.tried = Standing(), 0.0
        return state
    names = monitor.standing.names
    (tried_left, rivals_left), (tried_right, rivals_right) = (
        _parted(from_blob(blob), known) for blob, known in ((kept[4], left), (kept[5], right))
    )
    return replace(
        state,
        rivals=(rival_rows(rivals_left, names), rival_rows(rivals_right, names)),
        rival_columns=(tried_left, tried_right),
    )


def write_learned(variable: Any, state: LearnedState) -> int:
    """Store what was learned; return the bytes written."""
    blobs = []
    for side, table in enumerate(state.watched_columns):
        rows = state.watched.of_side(side)
        for name in _ROW_COLUMNS:
            table = table.append_column(_hidden(name), pa.array(getattr(rows, name)))
        blobs.append(to_blob(table, compress=True))
    blobs.append(to_blob(_counts_table(state), compress=True))
    tried: list[bytes | None] = [None, None]
    if state.rivals is not None and state.rival_columns is not None:
        names = state.monitor.standing.names
        tried = [
            to_blob(rival_table(columns, rivals, names), compress=True)
            for columns, rivals in zip(state.rival_columns, state.rivals, strict=True)
        ]
    facts = state.monitor.facts()
    variable.update((facts, *blobs, *tried))
    return len(facts) + sum(len(blob) for blob in (*blobs, *tried) if blob is not None)


def _counts_table(state: LearnedState) -> pa.Table:
    """Marks of the keys that are counted, and their counts of the epochs before and of this one."""
    table = pa.table({_MARK: state.tracked})
    for columns, counts in ((_COUNTS, state.monitor.counts), (_FRESH, state.monitor.fresh)):
        whole = padded(counts, len(state.tracked)).astype(np.float32)
        for side, name in enumerate(columns):
            table = table.append_column(name, pa.array(whole[:, side]))
    return table


def _recall_counts(monitor: Monitor, table: pa.Table) -> np.ndarray:
    """Restore the counts of keys: those of epochs before, and those of the open one.

    Returns the marks of the keys.
    """
    has_fresh = _FRESH[0] in table.column_names
    known, fresh = (
        np.stack([table.column(name).to_numpy() for name in names], axis=1).astype(np.float64)
        for names in (_COUNTS, _FRESH if has_fresh else _COUNTS)
    )
    # Keys that were counted before have a count; the others came first in the open epoch.
    monitor.counts = known[: int(np.count_nonzero(known.any(axis=1)))]
    monitor.fresh = fresh if has_fresh else np.zeros_like(known)
    if table.column_names[0] == _MARK:
        marks: np.ndarray = table.column(_MARK).to_numpy()
        return marks
    # Earlier versions kept the keys themselves, before their counts.
    keys = table.columns[: table.num_columns - (4 if has_fresh else 2)]
    return marks_of(hash_keys(keys)[0]) if keys else np.zeros(len(known), np.uint64)


def _watched_rows(sides: tuple[pa.Table, pa.Table]) -> WatchedRows:
    """Rebuild watched rows from the bookkeeping columns beside their own."""
    columns = {
        name: np.concatenate([side.column(_hidden(name)).to_numpy() for side in sides])
        for name in _ROW_COLUMNS
        if _hidden(name) in sides[0].column_names
    }
    # An earlier version learned from step to step, and wrote no epochs.
    columns.setdefault("before", columns["met"])
    none = np.zeros(len(columns["time"]), np.int64)
    columns.setdefault("fate", none.astype(np.uint8))
    # Nor did earlier ones follow keys.
    columns.setdefault("cluster", none.astype(np.uint64))
    columns.setdefault("by_key", np.zeros(len(none)))
    columns.setdefault("within", np.ones(len(none)))
    return WatchedRows(**columns, code=none.astype(np.int32), value=np.empty(0), source=none)


def rival_table(columns: pa.Table, rows: RivalRows, names: tuple[str, ...]) -> pa.Table:
    """Rows that policies are tried on, with the policies that store each and its history there."""
    table = columns
    held = (rows.held << np.arange(len(rows.held))[:, None]).sum(axis=0)
    for name in _RIVAL_COLUMNS:
        table = table.append_column(_hidden(name), pa.array(getattr(rows, name)))
    table = table.append_column(_hidden("held"), pa.array(held, pa.int64()))
    for place in _with_history(names):
        for name in _RIVAL_HISTORY:
            history = pa.array(getattr(rows, name)[place])
            table = table.append_column(_hidden(f"{name}_{place}"), history)
    return table


def rival_rows(table: pa.Table, names: tuple[str, ...]) -> RivalRows:
    """Rebuild these rows from the bookkeeping columns of `rival_table`."""

    def column(name: str) -> np.ndarray:
        values: np.ndarray = table.column(_hidden(name)).to_numpy()
        return values

    rows = RivalRows.none(len(names))
    count = table.num_rows
    held = (column("held") >> np.arange(len(names))[:, None]) & 1
    matches = np.zeros((len(names), count), np.int32)
    touched = np.tile(column("time"), (len(names), 1))
    for place in _with_history(names):
        matches[place], touched[place] = (column(f"{name}_{place}") for name in _RIVAL_HISTORY)
    return rows._replace(
        **{name: column(name) for name in _RIVAL_COLUMNS},
        code=np.zeros(count, np.int32),
        held=held.astype(np.bool_),
        matches=matches,
        touched=touched,
    )


def _with_history(names: tuple[str, ...]) -> list[int]:
    return [place for place, name in enumerate(names) if name in KEEP_HISTORY]


def _parted(table: pa.Table, known: pa.Table) -> tuple[pa.Table, pa.Table]:
    """Split a table into row columns and bookkeeping columns, whatever the names of the former."""
    own = known.num_columns
    return table.select(range(own)), table.select(range(own, table.num_columns))


def _hidden(name: str) -> str:
    return f"__headgate_{name}"


_MARK = _hidden("mark")
_COUNTS = (_hidden("left"), _hidden("right"))
_FRESH = (_hidden("fresh_left"), _hidden("fresh_right"))
_RIVAL_COLUMNS, _RIVAL_HISTORY = ("time", "size", "sequence"), ("matches", "touched")
