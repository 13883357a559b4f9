"""Stores a shard's learned models in the state store."""

import json
import zlib
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from headgate.columns.hashing import hash_keys
from headgate.engine.learned_step import LearnedState
from headgate.engine.table_learner import nothing_learned
from headgate.learning import Evidence, Monitor
from headgate.learning.key_counts import marks_of, padded
from headgate.learning.rival_round import RivalRows
from headgate.learning.standing import Standing
from headgate.learning.watched_rows import WatchedRows
from headgate.models.class_ages import AGES
from headgate.policies.learned import KEEP_HISTORY
from headgate.spark.join.restart_rules import Restart
from headgate.spark.join.shard_plan import ShardPlan
from headgate.spark.state.blobs import damaged, from_checked_blob, to_blob
from headgate.spec import How

VALUE = (
    "facts string, left binary, right binary, tracked binary, left_tried binary, right_tried binary"
)
Kept = tuple[Any, ...]
"""The value of the state variable: facts as text, then five blobs, of which some may be None."""
_ROW_COLUMNS = WatchedRows._fields[:-5]  # codes, values and sources are valid only within a batch
_BY_ROW = {"traits": np.float32, "by_age": np.uint16}
"""Columns that have several numbers a row."""


def read_learned(
    plan: ShardPlan, kept: Kept | None, what: str, restart: Restart
) -> LearnedState | None:
    """Read what earlier batches learned; None if the join learns nothing.

    ``what`` names it where it is damaged. After a restart that changed what pairs are, all of it
    begins anew; with another policy, what the one before did does.
    """
    try:
        return _read_learned(plan, kept, what, restart)
    except _NOT_LEARNED as error:
        raise damaged(what, f"it is nothing that was learned ({error!r:.100})") from error


_NOT_LEARNED = (
    *(LookupError, TypeError, ValueError, AttributeError, ArithmeticError, RecursionError),
    pa.ArrowException,
)
"""What is raised while something is read that no version has written."""


def _read_learned(
    plan: ShardPlan, kept: Kept | None, what: str, restart: Restart
) -> LearnedState | None:
    if plan.room is None:
        return None
    state = nothing_learned(plan.terms.windows, plan.room, plan.shape, plan.schemas)
    if kept is None:
        return state
    monitor = state.monitor
    if begins_anew(restart):
        monitor.lost = json.loads(kept[0])["lost"]
        return state
    blobs = [None if blob is None else from_checked_blob(blob, what) for blob in kept[1:]]
    left_blob, right_blob, counts, *tried = blobs
    monitor.recall_facts(kept[0])
    tracked = _recall_counts(monitor, counts)
    (left, beside_left), (right, beside_right) = (
        _parted(blob, known)
        for blob, known in zip((left_blob, right_blob), state.watched_columns, strict=True)
    )
    if restart.touches("features"):
        monitor.columns = state.monitor.anew().columns  # other columns tell: they are learned anew
    watched = _watched_rows((beside_left, beside_right), monitor, restart.touches("features"))
    state = replace(state, watched=watched, watched_columns=(left, right), tracked=tracked)
    if restart.touches("policy"):
        monitor.follow_anew()
        return state
    # Earlier versions kept empty trials of nobody until memory ran full.
    if tried[0] is None or not monitor.standing.names:
        return state
    if not plan.room.tried.holds(1, 1):
        # The budget has since become too small for trying policies.
        monitor.standing, monitor.tried = Standing(), 0.0
        return state
    names, how = monitor.standing.names, plan.terms.how
    (tried_left, rivals_left), (tried_right, rivals_right) = (
        _parted(blob, known) for blob, known in zip(tried, (left, right), strict=True)
    )
    return replace(
        state,
        rivals=(rival_rows(rivals_left, names, how), rival_rows(rivals_right, names, how)),
        rival_columns=(tried_left, tried_right),
    )


def begins_anew(restart: Restart) -> bool:
    """Whether what was learned, and the evidence on recall, is of no use after a restart."""
    return restart.windows or restart.touches("how", "goal", "seed", "samples", "key types")


def unobserved(state: LearnedState) -> LearnedState:
    """What was learned, with evidence on recall yet to come: from rows that come from now on."""
    state.monitor.passed, state.monitor.alone = (Evidence(), Evidence()), Evidence()
    state.monitor.pairs, state.monitor.made = 0, (0.0, 0.0)
    left, right = (table.slice(0, 0) for table in state.watched_columns)
    return replace(state, watched=WatchedRows.none(), watched_columns=(left, right))


def check_learned(kept: Kept | None, checksum: int, what: str) -> None:
    """Raise where what was learned is not what the head says."""
    if kept is None:
        raise damaged(what, "it is missing")
    found = _checksum(kept)
    if found != checksum:
        raise damaged(what, f"its checksum is {found} and should be {checksum}")


def _checksum(kept: Kept) -> int:
    found = zlib.crc32((kept[0] or "").encode())
    for blob in kept[1:]:
        found = zlib.crc32(b"\0" if blob is None else blob, found)
    return found


def write_learned(variable: Any, state: LearnedState) -> tuple[int, int]:
    """Store what was learned; returns the bytes written, and their checksum."""
    blobs = []
    for side, table in enumerate(state.watched_columns):
        rows = state.watched.of_side(side)
        more = {_hidden(name): pa.array(getattr(rows, name)) for name in _ROW_COLUMNS}
        for name in _BY_ROW if state.monitor.columns.learns else ():
            values = getattr(rows, name)
            flat = pa.array(values.ravel())
            more[_hidden(name)] = pa.FixedSizeListArray.from_arrays(flat, values.shape[1])
        blobs.append(to_blob(beside(table, more), compress=True, checked=True))
    blobs.append(to_blob(_counts_table(state), compress=True, checked=True))
    tried: list[bytes | None] = [None, None]
    if state.rivals is not None and state.rival_columns is not None:
        names = state.monitor.standing.names
        tried = [
            to_blob(rival_table(columns, rivals, names), compress=True, checked=True)
            for columns, rivals in zip(state.rival_columns, state.rivals, strict=True)
        ]
    kept = (state.monitor.facts(), *blobs, *tried)
    variable.update(kept)
    return sum(len(part) for part in kept if part is not None), _checksum(kept)


def beside(table: pa.Table, more: dict[str, pa.Array]) -> pa.Table:
    """A table with more columns behind its own, all added at once."""
    fields = [*table.schema, *(pa.field(name, column.type) for name, column in more.items())]
    return pa.Table.from_arrays([*table.columns, *more.values()], schema=pa.schema(fields))


def _counts_table(state: LearnedState) -> pa.Table:
    """Marks of the keys that are counted, and their counts of the epochs before and of this one."""
    columns = {_MARK: state.tracked}
    for names, counts in ((_COUNTS, state.monitor.counts), (_FRESH, state.monitor.fresh)):
        whole = padded(counts, len(state.tracked)).astype(np.float32)
        columns |= {name: whole[:, side] for side, name in enumerate(names)}
    return pa.table(columns)


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


def _watched_rows(
    sides: tuple[pa.Table, pa.Table], monitor: Monitor, other_features: bool
) -> WatchedRows:
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
    # Nor count meetings by class of row.
    columns.setdefault("partners", np.minimum(columns["met"], 1e9).astype(np.int32))
    columns.setdefault("last", columns["time"])
    by_row = _by_row(sides, len(none), monitor.columns.traits, other_features)
    return WatchedRows(
        **columns, code=none.astype(np.int32), value=np.empty(0), source=none, **by_row
    )


def _by_row(
    sides: tuple[pa.Table, pa.Table], rows: int, traits: int, other_features: bool
) -> dict[str, np.ndarray]:
    """The traits of watched rows, and what they met by age.

    Where other columns tell than before, rows have none, and tell nothing.
    """
    widths = {"traits": traits, "by_age": AGES}
    found = {name: np.zeros((rows, widths[name]), kind) for name, kind in _BY_ROW.items()}
    found["traits"][:] = np.nan
    if other_features or not traits:
        return found
    for name, kind in _BY_ROW.items():
        columns = [side.column(_hidden(name)) for side in sides if side.num_rows]
        if columns:
            flat = [np.asarray(each.combine_chunks().flatten(), kind) for each in columns]
            found[name] = np.concatenate(flat).reshape(rows, widths[name])
    return found


def rival_table(columns: pa.Table, rows: RivalRows, names: tuple[str, ...]) -> pa.Table:
    """Rows that policies are tried on, with the policies that store each and its history there."""
    held = (rows.held << np.arange(len(rows.held))[:, None]).sum(axis=0)
    important = rows.importance.size > 0
    own = (*_RIVAL_COLUMNS, *([_IMPORTANCE] if important else []))
    more = {_hidden(name): pa.array(getattr(rows, name)) for name in own}
    more[_hidden("held")] = pa.array(held, pa.int64())
    for place in _with_history(names):
        for name in (*_RIVAL_HISTORY, *([_RECENT] if important else [])):
            # What a policy knew of rows that it has given up depends on where the step began.
            own = getattr(rows, name)[place]
            more[_hidden(f"{name}_{place}")] = pa.array(
                np.where(rows.held[place], own, own.dtype.type(0))
            )
    if rows.met.size:
        met = ((rows.met & rows.held) << np.arange(len(names))[:, None]).sum(axis=0)
        more[_hidden(_MET)] = pa.array(met, pa.int16())
    return beside(columns, more)


def rival_rows(table: pa.Table, names: tuple[str, ...], how: How) -> RivalRows:
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
    if _hidden(_IMPORTANCE) in table.column_names:
        recent = np.zeros((len(names), count))
        for place in _with_history(names):
            recent[place] = column(f"{_RECENT}_{place}")
        rows = rows._replace(importance=column(_IMPORTANCE), recent=recent)
    met = matches[:, :0] > 0
    if how != How.INNER:
        met = matches > 0  # earlier versions knew no more
    if _hidden(_MET) in table.column_names:
        met = (column(_MET) >> np.arange(len(names))[:, None]) & 1 > 0
    return rows._replace(
        **{name: column(name) for name in _RIVAL_COLUMNS},
        met=met,
        code=np.zeros(count, np.int32),
        held=held.astype(np.bool_),
        matches=matches,
        touched=touched,
    )


def _with_history(names: tuple[str, ...]) -> list[int]:
    return [place for place, name in enumerate(names) if name in KEEP_HISTORY]


def _parted(table: pa.Table, known: pa.Table) -> tuple[pa.Table, pa.Table]:
    """Split a table into row columns and bookkeeping columns, whatever the names of the former.

    A restart may have made the types of row columns wider.
    """
    own = known.num_columns
    rows = table.select(range(own))
    if rows.schema != known.schema:
        rows = rows.cast(known.schema)
    return rows, table.select(range(own, table.num_columns))


def _hidden(name: str) -> str:
    return f"__headgate_{name}"


_MARK = _hidden("mark")
_COUNTS = (_hidden("left"), _hidden("right"))
_FRESH = (_hidden("fresh_left"), _hidden("fresh_right"))
_IMPORTANCE, _RECENT, _MET = "importance", "recent", "met"
_RIVAL_COLUMNS, _RIVAL_HISTORY = ("time", "size", "sequence"), ("matches", "touched")
