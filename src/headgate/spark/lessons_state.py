"""What a shard has learned, in the state store."""

from typing import Any

import numpy as np
import pyarrow as pa

from headgate.engine.learning import OpenRows
from headgate.engine.lessons import Lessons, key_schema
from headgate.spark.blobs import from_blob, to_blob
from headgate.spark.plan import ShardPlan

VALUE = "facts string, watched binary, tracked binary"
_ROW_COLUMNS = OpenRows._fields[:-1]  # codes mean nothing in another batch


def read_lessons(plan: ShardPlan, variable: Any) -> Lessons | None:
    """The lessons of the batches so far; None where nothing is to be learned."""
    if plan.room is None:
        return None
    keys = key_schema(plan.shape, plan.schemas[0])
    lessons = Lessons.none_yet(plan.terms.windows, plan.room, keys)
    kept = variable.get()
    if kept is None:
        return lessons
    facts, watched, tracked = kept[0], from_blob(kept[1]), from_blob(kept[2])
    lessons.monitor.recall_facts(facts)
    lessons.monitor.counts = np.stack(
        [tracked.column(name).to_numpy() for name in _count_names(keys)], axis=1
    )
    columns = [watched.column(_hidden(name)).to_numpy().copy() for name in _ROW_COLUMNS]
    rows = OpenRows._make([*columns, np.zeros(watched.num_rows, np.int32)])
    return Lessons(lessons.monitor, rows, watched.select(keys.names), tracked.select(keys.names))


def write_lessons(variable: Any, lessons: Lessons) -> int:
    """Keep the lessons; returns the bytes written."""
    watched, tracked = lessons.open_keys, lessons.tracked
    for name in _ROW_COLUMNS:
        watched = watched.append_column(_hidden(name), pa.array(getattr(lessons.open_rows, name)))
    for side, name in enumerate(_count_names(tracked.schema)):
        tracked = tracked.append_column(name, pa.array(lessons.monitor.counts[:, side]))
    blobs = (to_blob(watched, compress=True), to_blob(tracked, compress=True))
    facts = lessons.monitor.facts()
    variable.update((facts, *blobs))
    return len(facts) + len(blobs[0]) + len(blobs[1])


def _hidden(name: str) -> str:
    return f"__headgate_{name}"


def _count_names(keys: pa.Schema) -> tuple[str, str]:
    return _hidden("left"), _hidden("right")
