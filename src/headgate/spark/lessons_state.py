"""What a shard has learned, in the state store."""

from typing import Any

import numpy as np
import pyarrow as pa

from headgate.engine.lessons import Lessons
from headgate.engine.open_rows import OpenRows
from headgate.spark.blobs import from_blob, to_blob
from headgate.spark.plan import ShardPlan

VALUE = "facts string, left binary, right binary, tracked binary"
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
    lessons.monitor.counts = np.stack([tracked.column(name).to_numpy() for name in _COUNTS], axis=1)
    columns = [
        np.concatenate([side.column(_hidden(name)).to_numpy() for side in sides])
        for name in _ROW_COLUMNS
    ]
    none = np.zeros(len(columns[0]), np.int64)
    left, right = (
        side.select(lessons.open_columns[place].column_names) for place, side in enumerate(sides)
    )
    return Lessons(
        lessons.monitor,
        OpenRows._make([*columns, none.astype(np.int32), np.empty(0), none]),
        (left, right),
        tracked.select(lessons.tracked.column_names),
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
    facts = lessons.monitor.facts()
    variable.update((facts, *blobs))
    return len(facts) + sum(map(len, blobs))


def _hidden(name: str) -> str:
    return f"__headgate_{name}"


_COUNTS = (_hidden("left"), _hidden("right"))
