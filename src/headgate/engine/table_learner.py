"""A learner on Arrow tables: gives its rows and keys codes in every step."""

import numpy as np
import pyarrow as pa

from headgate.columns.compaction import compacted
from headgate.columns.plain_form import no_rows
from headgate.engine.key_columns import Coded, hashes_by_code, key_bytes, matched
from headgate.engine.learned_step import LearnedState, LearnedStep
from headgate.engine.shape import Shape
from headgate.learning import Room
from headgate.learning.key_counts import CELLS_A_BYTE, COUNT_BYTES
from headgate.learning.keys_seen import SEEN_BYTES
from headgate.learning.learned_rows import LearnedRows
from headgate.learning.learner import Learner, new_monitor
from headgate.learning.room import WATCHED_BYTES
from headgate.learning.watch_limits import KEYED_BYTES
from headgate.learning.watched_rows import WatchedRows
from headgate.spec import Window

STORED, CAME, WATCHED, TRIED = 0, 2, 4, 6
"""Where tables stand that are coded together, left and right of each."""


def nothing_learned(
    windows: tuple[Window, Window],
    room: Room,
    shape: Shape,
    schemas: tuple[pa.Schema, pa.Schema],
) -> LearnedState:
    """The initial state of a join that learns."""
    none = (
        matched(shape, no_rows(schemas[0]), 0),
        matched(shape, no_rows(schemas[1]), 1),
    )
    tracked = np.empty(0, np.uint64)
    monitor = new_monitor(windows, room, are_numbers=shape.are_numbers)
    return LearnedState(monitor, WatchedRows.none(), none, tracked)


class TableLearner:
    """A `Learner` whose rows and keys are given codes in every step.

    Parameters
    ----------
    shape
        Columns.
    state
        What the last step left.
    """

    def __init__(self, shape: Shape, state: LearnedState) -> None:
        self._shape, self._state = shape, state
        self.learner = Learner(
            state.monitor, LearnedRows(state.watched, state.tracked), self._least_key()
        )

    def _least_key(self) -> int:
        """The most that a key has taken so far; before the first, what every key takes."""
        nulls = [
            pa.table([pa.nulls(1, field.type) for field in table.schema], schema=table.schema)
            for table in self._state.watched_columns
        ]
        return max(self._state.monitor.key_bytes, key_bytes(self._shape, nulls))

    def tables(self, came: tuple[pa.Table, pa.Table]) -> list[pa.Table]:
        """What decides the matches of watched rows, and of those that policies are tried on."""
        tried = self._state.rival_columns or (came[0].slice(0, 0), came[1].slice(0, 0))
        return [*self._state.watched_columns, *tried]

    def take_up(self, tables: list[pa.Table], coded: Coded) -> None:
        """Give the learner its rows and keys by their codes in the next step."""
        codes, values, state = coded.codes, coded.values, self._state
        self._tables = tables
        rivals = state.rivals
        if rivals is not None:
            rivals = (
                rivals[0]._replace(code=codes[TRIED], value=values[TRIED]),
                rivals[1]._replace(code=codes[TRIED + 1], value=values[TRIED + 1]),
            )
        watched = state.watched._replace(
            code=np.concatenate(codes[WATCHED:TRIED]), value=np.concatenate(values[WATCHED:TRIED])
        )
        self.learner.rows = LearnedRows(watched, state.tracked, rivals)
        if state.monitor.room.keys.holds(1, 1) and not state.monitor.is_resting:
            self.learner.hashes = hashes_by_code(self._shape, tables, codes, coded.distinct)
        size = key_bytes(self._shape, tables[CAME:])
        self.learner.key_bytes = max(size, self.learner.key_bytes)

    def keep(self, is_learning: bool) -> LearnedStep:
        """After the step: what was learned, by key; and whether the policy goes by it."""
        learner = self.learner
        assert learner.policy is not None
        (watched, tracked, rivals), size = learner.rows, learner.key_bytes
        left, right = (self._taken(WATCHED, s, watched.of_side(s).source) for s in (0, 1))
        tried, columns = None, learner.monitor.columns
        if rivals is not None:
            tried = (
                self._taken(TRIED, 0, rivals[0].source),
                self._taken(TRIED, 1, rivals[1].source),
            )
        self._state = LearnedState(learner.monitor, watched, (left, right), tracked, rivals, tried)
        taken = (
            len(watched.time) * (size + WATCHED_BYTES + KEYED_BYTES * learner.result.by_key)
            + (len(watched.time) + len(columns.examples.time)) * columns.row_bytes
            + len(learner.monitor.followed_keys.seen.rows.key) * SEEN_BYTES
            + len(tracked) * COUNT_BYTES
            + len(learner.monitor.sketch.cells) // CELLS_A_BYTE
            + len(learner.monitor.tail.cells) // CELLS_A_BYTE
            + learner.monitor.room.class_bytes * learner.monitor.densities.knows
            + sum(len(side.time) for side in rivals or ())
            * (size + learner.monitor.room.tried_bytes)
        )
        return LearnedStep(
            self._state,
            evidence=learner.step_evidence,
            alone=learner.step_alone,
            clusters=learner.step_clusters,
            total=learner.evidence,
            total_alone=learner.monitor.alone,
            total_clusters=learner.clusters,
            result=learner.result,
            policy=learner.policy,
            bytes=taken,
            is_learning=is_learning,
            switched=learner.switched,
        )

    def _taken(self, kept: int, side: int, source: np.ndarray) -> pa.Table:
        """Rows of a side out of those kept before and those that came."""
        both = pa.concat_tables([self._tables[kept + side], self._tables[CAME + side]])
        return compacted(both, source)
