"""A curve score with every trouble a curve can make: many turns, level stretches, ties, frames."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import pyarrow as pa

from headgate.policies.kinds.curve_score import Curves, CurveScore, Frames, ObservedStretch
from headgate.policies.policy import Arrivals
from headgate.spec import RowWindow, SpecError, Window

FRAMES, OFFSETS = 3, 6


@dataclass(frozen=True)
class Bumpy(CurveScore):
    """Curves drawn at random; the origin follows the last value, or the time."""

    seed: int = 0
    classes: int = 1
    follows_time: bool = False

    name: ClassVar[str] = "bumpy"

    def check(self, windows: tuple[Window, Window]) -> None:
        if self.classes > 1 and any(isinstance(window, RowWindow) for window in windows):
            raise SpecError("classes of age need windows in time")

    def weigh(self, columns: Sequence[pa.ChunkedArray], side: int) -> np.ndarray:
        return columns[0].fill_null(0).to_numpy().astype(np.float64)

    def frames(self, arrivals: Arrivals) -> Frames:
        origin = arrivals.time // 4 if self.follows_time else arrivals.weight.astype(np.int64)
        return Frames(origin, (arrivals.time % FRAMES).astype(np.int32))

    def curves(self, side: int, window: Window) -> Curves:
        rng = np.random.default_rng([self.seed, side])
        drawn = rng.integers(0, 3, (FRAMES, self.classes, OFFSETS)).astype(np.float64)
        return Curves(drawn, lowest=-2, grain=self.seed % 2, class_us=3)


@dataclass(frozen=True)
class Observing(Bumpy):
    """Takes other curves after every step, by what became of the rows."""

    name: ClassVar[str] = "observing"
    observes: ClassVar[bool] = True
    memory: str = ""

    def recalling(self, memory: str) -> "Observing":
        return replace(self, memory=memory, seed=self.seed + len(memory))

    def remember(self, seen: ObservedStretch) -> str:
        told = [column.tolist() for column in (*seen.arrivals, *seen.departures)]
        return json.dumps({"before": self.memory[-9:], "told": told})
