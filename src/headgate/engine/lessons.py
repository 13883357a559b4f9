"""Learning on Arrow tables: keys of watched rows and of counted keys are kept as values.

Codes mean something within a step only, so what a monitor keeps from step to step it keeps by key.
"""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from headgate.engine.batch import Progress, Terms
from headgate.engine.held import Held, code_tables, judged, key_bytes, matched
from headgate.engine.importance import Definitions
from headgate.engine.learning import LearningStep, new_monitor
from headgate.engine.open_rows import OpenRows
from headgate.engine.shape import Shape
from headgate.engine.step import Step
from headgate.monitor import Evidence, Monitor, Room
from headgate.monitor.monitor import COUNTS_BYTES, WATCHED_BYTES
from headgate.policies import Policy
from headgate.spec import Window


@dataclass(frozen=True)
class Lessons:
    """What one step hands to the next beside the rows and the progress.

    Parameters
    ----------
    monitor
        The models so far. A step changes it, so read it anew for every step.
    open_rows
        The watched rows whose window is open, left ones first.
    open_columns
        Of each side's open rows, the columns that decide what matches.
    tracked
        The keys the monitor counts, in its order.
    """

    monitor: Monitor
    open_rows: OpenRows
    open_columns: tuple[pa.Table, pa.Table]
    tracked: pa.Table

    @classmethod
    def none_yet(
        cls,
        windows: tuple[Window, Window],
        room: Room,
        shape: Shape,
        schemas: tuple[pa.Schema, pa.Schema],
    ) -> "Lessons":
        """Nothing learned so far."""
        none = (
            matched(shape, schemas[0].empty_table(), 0),
            matched(shape, schemas[1].empty_table(), 1),
        )
        tracked = schemas[0].empty_table().select(list(shape.keys.left))
        return cls(new_monitor(windows, room), OpenRows.none(), none, tracked)


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
        definitions: Definitions | None = None,
    ) -> None:
        held = (*stored, *arriving)
        tables = [
            *(rows.only(matched(shape, rows.table, place % 2)) for place, rows in enumerate(held)),
            *lessons.open_columns,
        ]
        codes, values, self._count = code_tables(shape, tables, [lessons.tracked])
        batches = [
            rows.batch(code, value) for rows, code, value in zip(held, codes, values, strict=False)
        ]
        batches = judged(batches, held, definitions)
        self._came, self._were_open = tables[2:4], lessons.open_columns
        self._key_names = (list(shape.keys.left), list(shape.keys.right))
        self._tracked, self._tracked_codes = lessons.tracked, codes[6]
        self._came_codes = codes[2:4]
        self._key_bytes = key_bytes(shape, tables[2:6])
        self._is_learning = terms.policy.learns
        self._learning = LearningStep(
            terms,
            (batches[0], batches[1]),
            (batches[2], batches[3]),
            self._count,
            progress,
            watermark,
            keep_late,
            lessons.monitor,
            lessons.open_rows._replace(
                code=np.concatenate(codes[4:6]), value=np.concatenate(values[4:6])
            ),
            codes[6],
            self._key_bytes,
        )

    @property
    def step(self) -> Step:
        """The step itself."""
        return self._learning.step

    @property
    def weights(self) -> tuple[np.ndarray, np.ndarray]:
        """What the policy goes by, for each arrival of a side."""
        return self._learning.weights

    def finish(self) -> LessonsLearned:
        """After the last pair: what was learned."""
        open_rows, tracked, evidence = self._learning.finish()
        columns = [
            pa.concat_tables([self._were_open[side], self._came[side]])
            .take(pa.array(open_rows.source[open_rows.side == side]))
            .combine_chunks()
            for side in (0, 1)
        ]
        lessons = Lessons(
            self._learning.monitor, open_rows, (columns[0], columns[1]), self._keys(tracked)
        )
        size = len(open_rows.time) * (self._key_bytes + WATCHED_BYTES) + len(tracked) * (
            self._key_bytes + COUNTS_BYTES
        )
        return LessonsLearned(lessons, evidence, self._learning.policy, size, self._is_learning)

    def _keys(self, codes: np.ndarray) -> pa.Table:
        """The keys behind some codes: counted before, or come in this step."""
        if not len(codes):
            return self._tracked.slice(0, 0)
        schema = self._tracked.schema
        tables = [self._tracked] + [
            came.select(names).rename_columns(schema.names).cast(schema)
            for came, names in zip(self._came, self._key_names, strict=True)
        ]
        row = np.zeros(self._count + 1, np.int64)
        first = 0
        for known in (self._tracked_codes, *self._came_codes):
            row[known] = first + np.arange(len(known))
            first += len(known)
        return pa.concat_tables(tables).take(pa.array(row[codes])).combine_chunks()
