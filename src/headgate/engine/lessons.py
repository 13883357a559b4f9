"""Learning on Arrow tables: keys of watched rows and of counted keys are kept as values.

Codes mean something within a step only, so what a monitor keeps from step to step it keeps by key.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from headgate.columns.codes import encode_together
from headgate.columns.sizes import BOOKKEEPING_BYTES, row_bytes
from headgate.engine.held import Held, key_bytes
from headgate.engine.learning import LearningStep, OpenRows, new_monitor
from headgate.engine.shape import Shape
from headgate.engine.step import Progress, Step, Terms
from headgate.monitor import Evidence, Monitor, Room
from headgate.monitor.monitor import COUNTS_BYTES, WATCHED_BYTES
from headgate.policies import Learned, Policy
from headgate.spec import Window


@dataclass(frozen=True)
class Lessons:
    """What one step hands to the next beside the rows and the progress.

    Parameters
    ----------
    monitor
        The models so far. A step changes it, so read it anew for every step.
    open_rows, open_keys
        The watched rows whose window is open, and their keys.
    tracked
        The keys the monitor counts, in its order.
    """

    monitor: Monitor
    open_rows: OpenRows
    open_keys: pa.Table
    tracked: pa.Table

    @classmethod
    def none_yet(cls, windows: tuple[Window, Window], room: Room, keys: pa.Schema) -> "Lessons":
        """Nothing learned so far."""
        none = keys.empty_table()
        return cls(new_monitor(windows, room), OpenRows.none(), none, none)


@dataclass(frozen=True)
class LessonsLearned:
    """What a step learned.

    Parameters
    ----------
    lessons
        For the next step.
    evidence
        Of this step alone.
    policy
        The policy that was followed.
    bytes
        What the monitor takes now.
    is_learning
        Whether the policy was chosen by what was learned.
    """

    lessons: Lessons
    evidence: Evidence
    policy: Policy
    bytes: int
    is_learning: bool


class LearnsFromTables:
    """A `LearningStep` on Arrow tables."""

    def __init__(
        self,
        terms: Terms,
        shape: Shape,
        stored: tuple[Held, Held],
        arriving: tuple[Held, Held],
        progress: Progress,
        watermark: int,
        keep_late: bool,
        lessons: Lessons,
    ) -> None:
        held = (*stored, *arriving)
        schema = lessons.tracked.schema
        keys = [_keys(shape, rows, place % 2, schema) for place, rows in enumerate(held)]
        # Rows to come and rows watched so far are where keys worth keeping are found again.
        self._found = [*keys[2:], lessons.open_keys, lessons.tracked]
        codes, count = encode_together(
            [table.columns for table in (*keys, lessons.open_keys, lessons.tracked)]
        )
        self._found_codes, self._count = codes[2:], count
        batches = [rows.batch(code) for rows, code in zip(held, codes, strict=False)]
        kept = (lessons.open_keys, lessons.tracked)
        self._key_bytes = max(
            key_bytes(shape, arriving),
            *(int(row_bytes(keys).max(initial=0)) - BOOKKEEPING_BYTES for keys in kept),
        )
        self._is_learning = isinstance(terms.policy, Learned)
        self._learning = LearningStep(
            terms,
            (batches[0], batches[1]),
            (batches[2], batches[3]),
            count,
            progress,
            watermark,
            keep_late,
            lessons.monitor,
            lessons.open_rows._replace(code=codes[4]),
            codes[5],
            self._key_bytes,
        )

    @property
    def step(self) -> Step:
        """The step itself."""
        return self._learning.step

    def finish(self) -> LessonsLearned:
        """After the last pair: what was learned."""
        open_rows, tracked, evidence = self._learning.finish()
        monitor = self._learning.monitor
        lessons = Lessons(monitor, open_rows, self._values(open_rows.code), self._values(tracked))
        size = len(open_rows.time) * (self._key_bytes + WATCHED_BYTES) + len(tracked) * (
            self._key_bytes + COUNTS_BYTES
        )
        return LessonsLearned(lessons, evidence, self._learning.policy, size, self._is_learning)

    def _values(self, codes: np.ndarray) -> pa.Table:
        """The keys behind some codes."""
        row = np.zeros(self._count + 1, np.int64)
        first = 0
        for table, known in zip(self._found, self._found_codes, strict=True):
            row[known] = first + np.arange(len(known))
            first += table.num_rows
        return pa.concat_tables(self._found).take(pa.array(row[codes])).combine_chunks()


def key_schema(shape: Shape, left: pa.Schema) -> pa.Schema:
    """The columns of a key, by their names and types on the left side."""
    return pa.schema([(name, left.field(name).type) for name in shape.keys.left])


def _keys(shape: Shape, held: Held, side: int, schema: pa.Schema) -> pa.Table:
    names: Sequence[str] = (shape.keys.left, shape.keys.right)[side]
    return held.only(held.table.select(list(names))).rename_columns(schema.names).cast(schema)
