"""Learning in a miniature: how often keys come, where only some rows of heavy keys are there."""

from dataclasses import replace

import numpy as np

from headgate.columns.codes import NULL
from headgate.engine.batch import NO_WATERMARK, Batch, Progress, Terms
from headgate.engine.learning import LearningStep
from headgate.engine.open_rows import Followed
from headgate.engine.replay import LEARNING_ROWS_AT_ONCE, Replay
from headgate.monitor import Monitor, Part, Room
from headgate.simulating.trace import Trace

FEWEST_ROWS = 128
"""Rows in a step of a miniature: fewer would not tell anything, and steps have a cost."""


def scaled_room(room: Room, trace: Trace) -> Room:
    """The room of a monitor in a miniature.

    As many rows are watched as in the join, since how much they tell depends on how many they are.
    Keys that are counted are drawn like all others, but the heavy ones are all there.
    """
    if trace.draw.is_whole:
        return room
    heavy = int(np.count_nonzero(trace.is_thinned))
    whole = room.most_keys(trace.key_bytes)
    wanted = min(whole, round(heavy + trace.draw.share * max(whole - heavy, 0)))
    part = wanted / max(whole, 1)

    def scaled(given: int | None) -> int | None:
        return None if given is None else int(-(-given * part // 1))

    return replace(room, keys=Part(scaled(room.keys.rows), scaled(room.keys.bytes)))


class DrawnReplay(Replay):
    """A replay of a trace, whose monitor counts a row for all that it stands for."""

    def __init__(self, terms: Terms, trace: Trace, rows: tuple[Batch, Batch], monitor: Monitor):
        each = sum(trace.within.rows) / max(trace.count, 1)
        # Where not all the time is looked at, the join has learned long before.
        learned = trace.stretches is not None
        super().__init__(
            terms,
            *rows,
            trace.codes,
            monitor,
            trace.key_bytes,
            learning_rows=FEWEST_ROWS
            if learned
            else max(int(LEARNING_ROWS_AT_ONCE / max(each, 1.0)), FEWEST_ROWS),
        )
        self._stands_for = trace.stands_for

    def _learning_step(
        self,
        terms: Terms,
        kept: tuple[Batch, Batch],
        arriving: tuple[Batch, Batch],
        progress: Progress,
    ) -> LearningStep | None:
        assert self._monitor is not None
        step = DrawnStep(
            terms,
            kept,
            arriving,
            self._codes,
            progress,
            NO_WATERMARK,
            False,
            self._monitor,
            self._open,
            self._tracked,
            self._key_bytes,
            self._rivals,
        )
        step.stands_for = self._stands_for
        return step


class DrawnStep(LearningStep):
    """A step that counts the rows of heavy keys for all that they stand for."""

    stands_for: np.ndarray
    """By side and code."""

    def _learn(self, sides: list[Followed]) -> None:
        # Models are judged by what rows met here, where heavy keys meet fewer.
        known = self._worth.by_code
        if known is not None:
            here = known.copy()
            here[:-1] /= self.stands_for.T
            self._worth = replace(self._worth, by_code=here)
        super()._learn(sides)

    def _count_keys(self, most: int) -> np.ndarray:
        counts = np.zeros((self._codes, 2))
        counts[self._tracked] = self.monitor.counts
        for side, batch in enumerate(self._arriving):
            code = batch.code[batch.code != NULL]
            counts[:, side] += np.bincount(code, self.stands_for[side][code] - 1.0, self._codes)
        self._tracked = np.flatnonzero(counts.sum(axis=1))
        self.monitor.counts = counts[self._tracked]
        return super()._count_keys(most)  # and each for itself
