"""What a shard has learned, in the state store."""

from typing import Any

import numpy as np
import pyarrow as pa

from headgate.engine.table_learner import Lessons
from headgate.learning.rivals import RivalRows
from headgate.learning.standing import Standing
from headgate.learning.watched_rows import OpenRows
from headgate.policies.learned import KEEP_HISTORY
from headgate.spark.join.shard_plan import ShardPlan
from headgate.spark.state.blobs import from_blob, to_blob

VALUE = (
    "facts string, left binary, right binary, tracked binary, left_tried binary, right_tried binary"
)
_ROW_COLUMNS = OpenRows._fields[:-3]  # codes, values and sources mean nothing in another batch


def read_lessons(plan: ShardPlan, variable: Any) -> Lessons | None:
    """The lessons of the batches so far; None where nothing is to be learned."""
    if plan.room is None:
        return None
    lessons = Lessons.none_yet(plan.terms.windows, plan.room, plan.shape, plan.schemas)
    kept = variable.get()
    if kept is None:
        return lessons
    facts, sides, tracked = kept[0], [from_blob(kept[1]), from_blob(kept[2])], from_blob(kept[3])
    lessons.monitor.recall_facts(facts)
    keys, counts = _parted(tracked, lessons.tracked)
    lessons.monitor.counts = np.stack([counts.column(name).to_numpy() for name in _COUNTS], axis=1)
    (left, *beside), (right, *beside_right) = (
        _parted(side, known) for side, known in zip(sides, lessons.open_columns, strict=True)
    )
    columns = [
        np.concatenate([part.column(_hidden(name)).to_numpy() for part in beside + beside_right])
        for name in _ROW_COLUMNS
    ]
    none = np.zeros(len(columns[0]), np.int64)
    open_rows = OpenRows._make([*columns, none.astype(np.int32), np.empty(0), none])
    if kept[4] is None:
        return Lessons(lessons.monitor, open_rows, (left, right), keys)
    if not plan.room.tried.holds(1, 1):
        # The budget has become too small for trying policies since.
        lessons.monitor.standing, lessons.monitor.tried = Standing(), 0.0
        return Lessons(lessons.monitor, open_rows, (left, right), keys)
    names = lessons.monitor.standing.names
    (tried_left, rivals_left), (tried_right, rivals_right) = (
        _parted(from_blob(blob), known) for blob, known in ((kept[4], left), (kept[5], right))
    )
    return Lessons(
        lessons.monitor,
        open_rows,
        (left, right),
        keys,
        (rival_rows(rivals_left, names), rival_rows(rivals_right, names)),
        (tried_left, tried_right),
    )


def write_lessons(variable: Any, lessons: Lessons) -> int:
    """Keep the lessons; returns the bytes written."""
    rows, tracked = lessons.open_rows, lessons.tracked
    blobs = []
    for side, table in enumerate(lessons.open_columns):
        for name in _ROW_COLUMNS:
            column = getattr(rows, name)[rows.side == side]
            table = table.append_column(_hidden(name), pa.array(column))
        blobs.append(to_blob(table, compress=True))
    for side, name in enumerate(_COUNTS):
        tracked = tracked.append_column(name, pa.array(lessons.monitor.counts[:, side]))
    blobs.append(to_blob(tracked, compress=True))
    tried: list[bytes | None] = [None, None]
    if lessons.rivals is not None and lessons.rival_columns is not None:
        names = lessons.monitor.standing.names
        tried = [
            to_blob(rival_table(columns, rivals, names), compress=True)
            for columns, rivals in zip(lessons.rival_columns, lessons.rivals, strict=True)
        ]
    facts = lessons.monitor.facts()
    variable.update((facts, *blobs, *tried))
    return len(facts) + sum(len(blob) for blob in (*blobs, *tried) if blob is not None)


def rival_table(columns: pa.Table, rows: RivalRows, names: tuple[str, ...]) -> pa.Table:
    """Rows that policies are tried on, with who stores them and what happened to them there."""
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
    """The same, read back from the columns that were put beside."""

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
    """The columns of the rows, and what was put beside them, whatever the rows' are called."""
    own = known.num_columns
    return table.select(range(own)), table.select(range(own, table.num_columns))


def _hidden(name: str) -> str:
    return f"__headgate_{name}"


_COUNTS = (_hidden("left"), _hidden("right"))
_RIVAL_COLUMNS, _RIVAL_HISTORY = ("time", "size", "sequence"), ("matches", "touched")
