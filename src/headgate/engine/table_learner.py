"""Learning on Arrow tables: keys of watched rows and of counted keys are kept as values.

Codes mean something within a step only, so what a monitor keeps from step to step it keeps by key.
"""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from headgate.columns.compaction import compacted
from headgate.columns.plain_form import no_rows
from headgate.engine.definitions import Definitions
from headgate.engine.shape import Shape
from headgate.engine.table_rows import Held, code_tables, judged, key_bytes, matched
from headgate.kernel.progress import Progress
from headgate.kernel.step import Step
from headgate.kernel.terms import Terms
from headgate.learning import Evidence, Monitor, Room
from headgate.learning.learner import LearningStep, new_monitor
from headgate.learning.monitor import COUNTS_BYTES, TRIED_BYTES, WATCHED_BYTES
from headgate.learning.rivals import BothRows
from headgate.learning.watched_rows import OpenRows
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
    rivals, rival_columns
        Of each side, the rows that other policies are tried on, and the columns that decide what
        they match; None where none are.
    """

    monitor: Monitor
    open_rows: OpenRows
    open_columns: tuple[pa.Table, pa.Table]
    tracked: pa.Table
    rivals: BothRows | None = None
    rival_columns: tuple[pa.Table, pa.Table] | None = None

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
            matched(shape, no_rows(schemas[0]), 0),
            matched(shape, no_rows(schemas[1]), 1),
        )
        tracked = _keys_of(shape, no_rows(schemas[0]), 0)
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
    switched
        Whether it is another than before.
    """

    lessons: Lessons
    evidence: Evidence
    policy: Policy
    bytes: int
    is_learning: bool
    switched: bool = False


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
        self._were_tried = lessons.rival_columns or (tables[2].slice(0, 0), tables[3].slice(0, 0))
        tables += self._were_tried
        codes, values, self._count = code_tables(shape, tables, [lessons.tracked])
        rivals = lessons.rivals
        if rivals is not None:
            rivals = (
                rivals[0]._replace(code=codes[6], value=values[6]),
                rivals[1]._replace(code=codes[7], value=values[7]),
            )
        batches = [
            rows.batch(code, value) for rows, code, value in zip(held, codes, values, strict=False)
        ]
        batches = judged(batches, held, definitions)
        self._came, self._were_open = tables[2:4], lessons.open_columns
        self._shape = shape
        self._tracked, self._tracked_codes = lessons.tracked, codes[8]
        self._came_codes = codes[2:4]
        self._key_bytes = key_bytes(shape, tables[2:], [lessons.tracked])
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
            codes[8],
            self._key_bytes,
            rivals,
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
        open_rows, tracked, evidence, rivals = self._learning.finish()
        left, right = (
            self._taken(self._were_open, side, open_rows.source[open_rows.side == side])
            for side in (0, 1)
        )
        tried = None
        if rivals is not None:
            tried = (
                self._taken(self._were_tried, 0, rivals[0].source),
                self._taken(self._were_tried, 1, rivals[1].source),
            )
        lessons = Lessons(
            self._learning.monitor, open_rows, (left, right), self._keys(tracked), rivals, tried
        )
        rows_tried = sum(len(side.time) for side in rivals or ())
        size = (
            len(open_rows.time) * (self._key_bytes + WATCHED_BYTES)
            + len(tracked) * (self._key_bytes + COUNTS_BYTES)
            + rows_tried * (self._key_bytes + TRIED_BYTES)
        )
        return LessonsLearned(
            lessons,
            evidence,
            self._learning.policy,
            size,
            self._is_learning,
            self._learning.switched,
        )

    def _taken(self, before: tuple[pa.Table, pa.Table], side: int, source: np.ndarray) -> pa.Table:
        """Rows of a side out of those kept before and those that came."""
        both = pa.concat_tables([before[side], self._came[side]])
        return compacted(both, source)

    def _keys(self, codes: np.ndarray) -> pa.Table:
        """The keys behind some codes: counted before, or come in this step."""
        if not len(codes):
            return no_rows(self._tracked.schema)
        tables = [self._tracked] + [
            _keys_of(self._shape, came, side) for side, came in enumerate(self._came)
        ]
        row = np.zeros(self._count + 1, np.int64)
        first = 0
        for known in (self._tracked_codes, *self._came_codes):
            row[known] = first + np.arange(len(known))
            first += len(known)
        return compacted(pa.concat_tables(tables), row[codes])


def _keys_of(shape: Shape, table: pa.Table, side: int) -> pa.Table:
    """The keys of a side's rows, in the types in which they are compared."""
    names = list((shape.keys.left, shape.keys.right)[side])
    keys = table.select(names).rename_columns(list(shape.keys.left))
    for place, column in enumerate(shape.key_columns(table, side)):
        keys = keys.set_column(place, shape.keys.left[place], column)
    return keys
